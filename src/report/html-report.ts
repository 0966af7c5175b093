/** The report as one HTML page without scripts, images or requests. */
import { type Diagnostic, formatDiagnostic, oneLine } from '../dns/diagnostic.ts'
import { type Cell, type ChangeRow, changeRows, type RecordRow } from './change-rows.ts'
import { escapeHtml } from './escape.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { type Report, type ReportOptions, type ZoneView, zoneViews } from './report.ts'
import { callFigures, hasSection, renderedStates, summaryLine, zoneFacts, zoneTitle } from './summary.ts'

const STYLE = `
:root{color-scheme:light dark;--added:#1a7f37;--removed:#b42318;--changed:#9a6700;--dim:#667085;--line:#8884}
@media(prefers-color-scheme:dark){:root{--added:#4ac26b;--removed:#ff7b72;--changed:#d4a72c;--dim:#98a2b3}}
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.35rem}details{border:1px solid var(--line);border-radius:6px;margin:.75rem 0;padding:.5rem .75rem}
summary{cursor:pointer}summary b{font-family:ui-monospace,monospace}
table{border-collapse:collapse;width:100%;font:13px/1.5 ui-monospace,monospace;margin:.5rem 0}
th{text-align:left;color:var(--dim);font-weight:normal}td,th{padding:.1rem .75rem .1rem 0;vertical-align:top}
td{border-top:1px solid var(--line);overflow-wrap:anywhere}td.ttl{text-align:right;white-space:nowrap}
.a,ins{color:var(--added)}.r,del{color:var(--removed)}.c{color:var(--changed)}.dim,footer{color:var(--dim)}ins,del{text-decoration:none}
.error{color:var(--removed);font-weight:bold}.warning{color:var(--changed)}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.25rem 0}
`

export function renderHtml(report: Report, options: ReportOptions): string {
  const { plan } = report
  const parts = [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">\n`,
    '<meta name="viewport" content="width=device-width">\n',
    `<title>${escapeHtml(summaryLine(report))}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<h1>${escapeHtml(summaryLine(report))}</h1>\n`,
  ]
  const views = zoneViews(report)
  const sections = options.verbose ? views : views.filter(hasSection)
  const others = options.verbose ? [] : views.filter((view) => !hasSection(view))
  if (options.diagnostics !== false)
    parts.push(diagnosticList([...plan.diagnostics, ...others.flatMap(({ diagnostics }) => diagnostics)], options))
  for (const { state, text } of renderedStates(others))
    parts.push(`<p class="${state === 'differs' ? 'warning' : 'dim'}">${escapeHtml(text)}</p>\n`)
  for (const view of sections) parts.push(zoneSection(view, options))
  parts.push(`<footer>${escapeHtml(oneLine(plan.tool))}, ${escapeHtml(oneLine(plan.created))}</footer>\n</body>\n</html>\n`)
  return parts.join('')
}

function zoneSection(view: ZoneView, options: ReportOptions): string {
  const { plan } = view
  const calls = plan.changes.length === 0 ? 'no changes' : callFigures(plan)
  const figures = escapeHtml([calls, ...zoneFacts(view, options.verbose)].join('; '))
  const refusals = plan.refusals.map(({ name, message, allowed }) =>
    allowed
      ? `<p class="warning">allowed ${name}: ${escapeHtml(oneLine(message))}</p>\n`
      : `<p class="error">REFUSED ${name}: ${escapeHtml(oneLine(message))}<br>to allow it: <code>--allow ${name}</code></p>\n`,
  )
  return `<details open><summary><b>${escapeHtml(zoneTitle(plan))}</b> <span class="dim">${figures}</span></summary>\n${refusals.join('')}${
    options.diagnostics === false ? '' : diagnosticList(view.diagnostics, options)
  }${plan.changes.length === 0 ? '' : changeTable(view)}</details>\n`
}

const HEAD = '<table>\n<tr><th></th><th>name</th><th>TTL</th><th>type</th><th>data</th></tr>\n'

const changeTable = (view: ZoneView): string => `${HEAD}${changeRows(view).map(tableRow).join('')}</table>\n`

const CLASSES = { '+': 'a', '-': 'r', '~': 'c' } as const

function tableRow(row: ChangeRow): string {
  const marker = `<td class="${CLASSES[row.marker]}">${row.marker}</td>`
  const notes = row.notes.map(
    (note) => `<div class="${row.state === 'failed' || row.state === 'unknown' ? 'error' : 'dim'}">${escapeHtml(note)}</div>`,
  )
  const cells = row.subject === 'record' ? recordCells(row, notes.join('')) : domainCells(row.settings, notes.join(''))
  return `<tr>${marker}${cells}</tr>\n`
}

const recordCells = (row: RecordRow, notes: string): string =>
  `<td>${escapeHtml(row.name)}</td><td class="ttl">${escapeHtml(row.ttl)}</td><td>${escapeHtml(row.type)}</td><td class="${CLASSES[row.marker]}">${escapeHtml(row.data)}${notes}</td>`

const domainCells = (settings: readonly { readonly key: string; readonly value: Cell }[], notes: string): string =>
  `<td colspan="3">zone</td><td>${settings.map(({ key, value }) => `<div>${escapeHtml(key)} ${cellHtml(value)}</div>`).join('')}${notes}</td>`

const cellHtml = (cell: Cell): string =>
  cell.length === 1 ? escapeHtml(cell[0]) : `<del>${escapeHtml(cell[0])}</del> → <ins>${escapeHtml(cell[1])}</ins>`

const diagnosticList = (diagnostics: readonly Diagnostic[], { verbose }: ReportOptions): string =>
  groupDiagnostics(diagnostics, { all: verbose })
    .map((diagnostic) => `<pre class="${diagnostic.severity}">${escapeHtml(formatDiagnostic(diagnostic))}</pre>\n`)
    .join('')
