/** Tables of comma-separated values (RFC 4180). */

type Csv =
  | { readonly ok: true; readonly rows: readonly { readonly line: number; readonly cells: readonly string[] }[] }
  | { readonly ok: false; readonly line: number; readonly message: string }

/**
 * The rows that are not empty, each with the line where it begins. Spaces around values without quotation marks are removed. Its source is also evaluated in the
 * sandbox of programs, so it uses nothing outside itself.
 */
export function parseCsv(text: string): Csv {
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y
  const rows: { line: number; cells: string[] }[] = []
  let [cells, line, start]: [string[], number, number] = [[], 1, 1]
  for (let hasNext = false; hasNext || cell.lastIndex < text.length; ) {
    const [all, raw = '', end = ''] = cell.exec(text) ?? []
    if (all === undefined) return { ok: false, line, message: 'a quotation mark is inside a value, or has no partner' }
    cells.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw.trim())
    line += all.split('\n').length - 1
    hasNext = end === ','
    if (hasNext) continue
    if (cells.some((one) => one !== '')) rows.push({ line: start, cells })
    cells = []
    start = line
  }
  return { ok: true, rows }
}
