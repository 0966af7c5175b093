/** The documentation of a diagnostic as text for a terminal: headings, paragraphs, lists, tables and fenced blocks of our own pages. */
import { wrapText } from '../base/wrap.ts'
import type { Palette } from './palette.ts'

/** Renders an entry in Markdown; paragraphs are wrapped at `width` columns. Code is coloured, or keeps its backticks without colours. */
export function renderExplanation(markdown: string, width: number, palette: Palette): string {
  const inline = (text: string): string =>
    text.replace(/`([^`]+)`/g, (quoted, code: string) => (palette.notice(code) === code ? quoted : palette.notice(code)))
  const parts = markdown
    .split(/^(```[\s\S]*?^```)$/m)
    .map((part) => (part.startsWith('```') ? example(part, palette) : prose(part, width, palette, inline)))
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** A fenced block, indented, below what it shows: `fails` or `mended`, and its file. */
function example(fenced: string, palette: Palette): string {
  const [info = '', ...lines] = fenced.slice(3).split('\n')
  const [, kind, file] = /^\w* ?(\w+)?(?: file=(\S+))?/.exec(info) ?? []
  const label = kind === undefined ? [] : [palette.dim(`  ${kind}${file === undefined ? '' : `, ${file}`}:`)]
  return [...label, ...lines.slice(0, -1).map((line) => `    ${line}`.trimEnd())].join('\n')
}

function prose(text: string, width: number, palette: Palette, inline: (text: string) => string): string {
  const blocks = text
    .trim()
    .split(/\n{2,}|\n(?=- |\|)/)
    .map((block) =>
      block.replace(/\[([^\]]+)\]\((https?:[^)]+)?[^)]*\)/g, (_, label: string, url?: string) => (url ? `${label} (${url})` : label)),
    )
  return blocks
    .map((block, at) => {
      const isRow = /^[-|]/.test(block) && blocks[at - 1]?.[0] === block[0]
      const after = at === 0 ? '' : isRow ? '\n' : '\n\n'
      if (/^#+ /.test(block)) return after + palette.bold(block.replace(/^#+ /, ''))
      const text = inline(block.startsWith('|') ? block : block.replace(/\s+/g, ' '))
      return after + (block.startsWith('|') ? text : wrapText(text, width, block.startsWith('- ') ? 2 : 0))
    })
    .join('')
}
