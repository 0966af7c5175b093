/** Text from outside in Markdown, judged by the parser of GitHub's flavour (cmark-gfm). */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { codeCell, fencedBlock, neutral, tableRow } from '../../src/report/markdown-block.ts'
import { loadFormat, renderPlan } from '../../src/report/render-report.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { describeWithTools } from '../support/skip.ts'
import { changeOf, planOf, zoneOf } from './plan-of.ts'

await loadFormat('markdown')

const HOSTILE = [
  '![x](http://evil.example/p.png) [y](//evil.example) [z][1] [^1] <https://evil.example>',
  'www.evil.example http://evil.example ftp://evil.example a@evil.example mailto:a@evil.example xmpp:a@evil.example',
  '@team **b** __c__ *d* _e_ ~~f~~ ~g~ $h$ $`i`$ `j` ``k`` \\` \\',
  '</code></summary></details><script>alert(1)</script><img src=x> <!-- c --> &lt;b&gt; &#64;team &amp;',
  '| cell \\| \\\\| | # heading\n\n## heading\r## heading\n- item\n```\n</code>',
]

/** GitLab's references and those of GitHub, with emojis and placeholders (https://docs.gitlab.com/user/markdown/#gitlab-specific-references). */
const REFERENCES = [
  ...['@group', '#1', 'a/b#1', '!1', 'a/b!1', '$1', '&1', '~label', '~"a label"', '%m', '%"a milestone"', '^alert#1', ':tada:', ':+1:'],
  ...['[vulnerability:1]', '[feature_flag:1]', '[cadence:1]', '*iteration:1', 'GL-1', 'GH-1', 'JIRA-1', 'deadbeefcafe', '%{project_name}'],
]
HOSTILE.push(REFERENCES.join(' '), REFERENCES.join(''))

const REFERENCE = /[@#!$&~%^[*](?=["\w{])|:[\w+-]+:|\b[A-Z]+-\d|\b[0-9a-f]{7}/

/** The texts of a page outside of code, as sites search them for references: each between two tags or comments, decoded. */
const textsOf = (page: string): string[] =>
  page
    .replace(/<(code|pre)\b.*?<\/\1>/gs, '<>')
    .split(/<[^>]*>/)
    .map((text) =>
      text
        .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
        .replace(/&quot;/g, '"')
        .replace(/&lt;/g, '<')
        .replace(/&gt;/g, '>')
        .replace(/&amp;/g, '&'),
    )

const python = findForeignClient('python-clients')

const RENDER = `
import cmarkgfm, json, sys
unsafe = cmarkgfm.Options.CMARK_OPT_UNSAFE | cmarkgfm.Options.CMARK_OPT_FOOTNOTES
print(json.dumps([cmarkgfm.github_flavored_markdown_to_html(text, unsafe) for text in json.load(sys.stdin)]))`

/** Expects pages of these texts to have no other tag than ours, and no reference. */
function expectNeutral(texts: readonly string[]): string[] {
  const pages: string[] = JSON.parse(execFileSync(python, ['-c', RENDER], { input: JSON.stringify(texts), encoding: 'utf8' }))
  const ours =
    /<\/?(?:p|strong|code|h[34]|table|thead|tbody|tr|th|td|details|summary|pre)>|<(?:pre lang="\w+"|details open|th align="right"|td align="right")>|<!-- -->/g
  for (const page of pages) {
    expect(page.replace(ours, '')).not.toMatch(/[<>]/)
    for (const text of textsOf(page)) expect(text).not.toMatch(REFERENCE)
  }
  return pages
}

describeWithTools([python], 'cmark-gfm', () => {
  test('finds no markup in text from outside, in a line, a heading, a table, a summary and a block', () => {
    const texts = HOSTILE.map((text) => {
      const code = codeCell(text)
      const table = tableRow(['one', code]) + tableRow(['---', '---']) + tableRow([code, neutral(text)])
      const summary = `<details><summary>${code}: ${neutral(text)}</summary>\n\n${fencedBlock('diff', [text])}\n</details>`
      return `Said ${code} and ${neutral(text)}.\n\n#### ${code}\n\n${table}\n${summary}\n\n[1]: //evil.example\n[^1]: note\n`
    })
    for (const page of expectNeutral(texts)) expect(page.match(/<t[hd]>/g)).toHaveLength(4)
  })

  test('finds none in the report of a plan, where owners, names, values and messages are hostile', () => {
    const texts = HOSTILE.map((text) => {
      const change = changeOf(null, 'www.example.com. 300 TXT "x"')
      const of = { target: text, diagnostics: [{ severity: 'error', code: 'usage', message: text } as const] }
      const zones = ['a.example.', 'b.example.'].map((zone, index) =>
        zoneOf([change], { ...of, zone: zone as DomainName, owner: index === 0 ? text : `x${text}` }),
      )
      return renderPlan(planOf(zones, of.diagnostics), 'markdown', { color: false, width: null, verbose: true })
    })
    for (const page of expectNeutral(texts)) expect(page).toContain('<h4>')
  })
})
