/**
 * Parts of a comment in GitHub and GitLab flavours of Markdown, of limited size. Text from users and servers appears only in fenced blocks, whose fence is
 * longer than any run of backticks in them, or as `codeCell` and `neutral` write it. So it cannot end the block, be markup or mention a user.
 */
import { oneLine } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { shorten } from './row-layout.ts'

const MAX_MESSAGE_LENGTH = 1_000

export interface Budget {
  /** Spends so many characters if they are left. Returns whether they were. */
  spend(characters: number): boolean
  left(): number
}

export function createBudget(characters: number): Budget {
  let left = characters
  return {
    left: () => left,
    spend: (wanted) => {
      if (wanted > left) return false
      left -= wanted
      return true
    },
  }
}

/** A fenced block with as many lines as fit, and the number of those that do not; nothing without lines. `plural` is that of `noun` without a limit. */
export function limitedBlock(language: string, lines: readonly string[], budget: Budget, noun: string, plural?: string): string[] {
  if (lines.length === 0) return []
  const shown: string[] = []
  for (const line of lines) {
    const text = shorten(line, MAX_MESSAGE_LENGTH)
    if (!budget.spend(text.length + 1 + 2 * longestBackticks(text))) break
    shown.push(text)
  }
  const more = lines.length - shown.length
  const left = counted(more, `more ${noun}`, plural === undefined ? undefined : `more ${plural}`)
  return [...(shown.length === 0 ? [] : [`\n${fencedBlock(language, shown)}`]), ...(more > 0 ? [`\n**${left} not shown here.**\n`] : [])]
}

export function fencedBlock(language: string, lines: readonly string[]): string {
  const fence = '`'.repeat(Math.max(3, lines.reduce((longest, line) => Math.max(longest, longestBackticks(line)), 0) + 1))
  return `${fence}${language}\n${lines.map((line) => `${line}\n`).join('')}${fence}\n`
}

export const longestBackticks = (line: string): number =>
  line.includes('`') ? (line.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0) : 0

/** Characters that are markup, math or placeholders inside a line, in GitHub's or GitLab's flavour, and those that make an address or a mention of their neighbours. */
const MARKUP = /[$%&*<>@[\\\]_`|~]|:(?=\/\/)|(?<=[wW]{3})\./g

/** Addresses and mentions are found even if written as entities: an empty comment separates the character from what follows. */
const SEPARATED = '.:@'

/** The same, and what begins a reference: to an issue, merge request, alert or emoji; by the key of an issue, such as GL-1; to a commit. */
const MARKUP_OR_REFERENCE = /[!#$%&*<>@[\\\]^_`|~]|:(?=\/\/|[\w+-])|(?<=[wW]{3})\.|\b[A-Z]\w+(?=-\d)|[0-9a-f]{6}(?=[0-9a-f])/g

const escaped = (text: string, pattern: RegExp, isSeparated: (part: string) => boolean): string =>
  shorten(oneLine(text), MAX_MESSAGE_LENGTH).replace(
    pattern,
    (part) => `${part.length === 1 ? `&#${part.charCodeAt(0)};` : part}${isSeparated(part) ? '<!-- -->' : ''}`,
  )

/** Text of users and servers on one line, outside of code: it cannot be markup in Markdown or HTML, nor a mention or reference. */
export const neutral = (text: string): string => escaped(text, MARKUP_OR_REFERENCE, () => true)

/** Text of users and servers as code in a table or a line. Sites look for mentions and references only outside of code. */
export const codeCell = (text: string): string => `<code>${escaped(text, MARKUP, (part) => SEPARATED.includes(part))}</code>`

export const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`

/** A table with as many rows as fit, and the number of those that do not. Columns whose heads begin with `>` are aligned to the right. */
export function limitedTable(heads: readonly string[], rows: readonly (readonly string[])[], budget: Budget, noun: string): string[] {
  const head = tableRow(heads.map((one) => one.replace(/^>/, ''))) + tableRow(heads.map((one) => (one.startsWith('>') ? '---:' : '---')))
  if (rows.length === 0) return []
  const texts: string[] = []
  if (budget.spend(head.length)) {
    for (const cells of rows) {
      const text = tableRow(cells)
      if (!budget.spend(text.length)) break
      texts.push(text)
    }
  }
  const more = rows.length - texts.length
  return [
    ...(texts.length === 0 ? [] : [`\n${head}${texts.join('')}`]),
    ...(more > 0 ? [`\n**${counted(more, `more ${noun}`)} not shown here.**\n`] : []),
  ]
}
