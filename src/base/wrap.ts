/** Lines of a terminal: the columns of a text, and line breaks between words. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with ESC
const STYLE = /\u001b\[([0-9;]*)m/g

/** Characters that take two columns (UAX #11), apart from rare ones. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu

/** The number of columns that a text takes: none for styles and combining characters, two for a wide character. */
export function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  return [...text.replace(STYLE, '').replace(/\p{M}/gu, '').replace(WIDE, '  ')].length
}

/**
 * Breaks lines of more than `width` columns between words. In a line with gaps of several spaces, as tables have, the next lines continue below the
 * text after the last gap of about the first half. Others continue with two more spaces than the line has, or with `hang` spaces if it has none. A longer word
 * stays whole, and a style ends with its line and continues on the next one, since pagers show each line by itself. Lines that match `kept` stay whole.
 */
export const wrapText = (text: string, width: number, hang = 2, kept: RegExp | null = null): string =>
  text
    .split('\n')
    .map((line) => (columnsOf(line) <= width || kept?.test(line) ? line : wrapLine(line, width, hang)))
    .join('\n')

function wrapLine(line: string, width: number, hang: number): string {
  const plain = line.replace(STYLE, '')
  const indent = ' '.repeat(indentOf(plain, width, hang))
  // A line does not end after a marker of one character.
  const earliest = plain.search(/[^ ]/) + 2
  let [wrapped, column, style] = ['', 0, '']
  for (const [, gap = '', word = ''] of line.matchAll(/( *)([^ ]+)/g)) {
    const columns = columnsOf(word)
    if (column < earliest || column + gap.length + columns <= width) {
      wrapped += gap + word
      column += gap.length + columns
    } else {
      wrapped += `${style === '' ? '' : '\u001b[0m'}\n${indent}${style}${word}`
      column = indent.length + columns
    }
    for (const [sgr, parameters = ''] of word.matchAll(STYLE)) style = /^(?:0|22|39|22;39)?$/.test(parameters) ? '' : sgr
  }
  return wrapped
}

function indentOf(line: string, width: number, hang: number): number {
  const start = line.search(/[^ ]/)
  const gaps = [...line.matchAll(/(?<=[^ ]) {2,}(?=[^ ])/g)].map((gap) => columnsOf(line.slice(0, gap.index + gap[0].length)))
  return gaps.findLast((end) => end <= width * 0.55) ?? (start === 0 ? hang : start + 2)
}
