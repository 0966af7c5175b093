/** Text from outside in Markdown, judged by the parser of GitHub's flavour (cmark-gfm). */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { codeCell, fencedBlock, neutral, tableRow } from '../../src/report/markdown-block.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { describeWithTools } from '../support/skip.ts'

const HOSTILE = [
  '![x](http://evil.example/p.png) [y](//evil.example) [z][1] [^1] <https://evil.example>',
  'www.evil.example http://evil.example ftp://evil.example a@evil.example mailto:a@evil.example xmpp:a@evil.example',
  '@team **b** __c__ *d* _e_ ~~f~~ ~g~ $h$ $`i`$ `j` ``k`` \\` \\',
  '</code></summary></details><script>alert(1)</script><img src=x> <!-- c --> &lt;b&gt; &#64;team &amp;',
  '| cell \\| \\\\| | # heading\n\n## heading\r## heading\n- item\n```\n</code>',
]

const python = findForeignClient('python-clients')

const RENDER = `
import cmarkgfm, json, sys
unsafe = cmarkgfm.Options.CMARK_OPT_UNSAFE | cmarkgfm.Options.CMARK_OPT_FOOTNOTES
print(json.dumps([cmarkgfm.github_flavored_markdown_to_html(text, unsafe) for text in json.load(sys.stdin)]))`

describeWithTools([python], 'cmark-gfm', () => {
  test('finds no markup in text from outside, in a line, a heading, a table, a summary and a block', () => {
    const texts = HOSTILE.map((text) => {
      const code = codeCell(text)
      const table = tableRow(['one', code]) + tableRow(['---', '---']) + tableRow([code, neutral(text)])
      const summary = `<details><summary>${code}: ${neutral(text)}</summary>\n\n${fencedBlock('diff', [text])}\n</details>`
      return `Said ${code} and ${neutral(text)}.\n\n#### ${code}\n\n${table}\n${summary}\n\n[1]: //evil.example\n[^1]: note\n`
    })
    const pages: string[] = JSON.parse(execFileSync(python, ['-c', RENDER], { input: JSON.stringify(texts), encoding: 'utf8' }))
    const ours = /<\/?(?:p|code|h4|table|thead|tbody|tr|th|td|details|summary|pre)>|<pre lang="diff">|<!-- -->/g
    for (const page of pages) {
      expect(page.replace(ours, '')).not.toMatch(/[<>]/)
      expect(page.match(/<t[hd]>/g)).toHaveLength(4)
    }
  })
})
