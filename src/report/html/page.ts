/**
 * One HTML page for every report that has zones: an index of the zones by owner, whose sections open on demand. Everything is in the page; its policy lets
 * it load nothing and run only its own script. The changes of a zone are lines of text that the script shows as a table.
 */
import { createHash } from 'node:crypto'
import { type Diagnostic, oneLine, type Severity } from '../../base/diagnostic.ts'
import { agreeing, counted, formatCount } from '../../base/english.ts'
import { escapeHtml, escapeHtmlText } from '../../base/text.ts'
import type { Action } from '../../plan/plan.ts'
import { groupDiagnostics } from '../group-diagnostics.ts'
import type { PageLink, ReportOptions } from '../report.ts'
import { groupByOwner, ownerTitle } from '../summary.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { pageStyle } from './page-style.ts'

export interface Page {
  /** Such as `Plan`. */
  readonly kind: string
  /** Of the window. */
  readonly title: string
  readonly headline: string
  /** What a reader must know before the figures. */
  readonly lead?: readonly string[]
  /** The program, and when it made the report. */
  readonly made: readonly string[]
  /** The commit and the pull request. */
  readonly links: readonly PageLink[]
  readonly figures: readonly Figure[]
  /** What belongs to no zone of the index. */
  readonly messages: readonly Message[]
  /** What the second column of the index is: `target`. */
  readonly place: string
  /** The columns of numbers. */
  readonly columns: readonly { readonly action: Action; readonly label: string }[]
  /** What a line of a zone is, in the plural: `changes`. */
  readonly noun: string
  /** The meaning of the signs. */
  readonly legend: string
  /** The choices of the filter by action: a value and its label. */
  readonly choices: readonly (readonly [value: string, label: string])[]
  readonly zones: readonly PageZone[]
  /** Zones about which there is nothing to say, and the sentence about them. */
  readonly rest: { readonly title: string; readonly zones: readonly PlainZone[] }
}

export interface Figure {
  /** What is counted; the second form if there is not one. */
  readonly label: string | readonly [singular: string, plural: string]
  readonly count: number
  readonly className: Action | 'bad' | ''
  /** The choice of the filter by action that finds what is counted. */
  readonly show?: string
}

export interface Message {
  readonly severity: Severity
  /** Such as `REFUSED deletes`. */
  readonly title: string
  readonly text: string
}

export interface PlainZone {
  readonly title: string
  readonly target: string
  readonly owner: string | null
}

export interface PageZone extends PlainZone {
  /** The name alone, for the filter and for links. */
  readonly name: string
  readonly labels: readonly { readonly text: string; readonly severity: Severity }[]
  /** A choice of the filter by action that the zone itself fulfils. */
  readonly problem: 'error' | 'refused' | null
  readonly counts: Readonly<Record<Action, number>>
  readonly facts: readonly string[]
  readonly messages: readonly Message[]
  /** As in `change-lines.ts`. */
  readonly lines: readonly string[]
}

/** The page as text that ends in a newline. */
export function renderPage(page: Page): string {
  const style = pageStyle(columnWidths(page.zones))
  const policy = `default-src 'none'; style-src ${sourceOf(style)}; script-src ${sourceOf(PAGE_SCRIPT)}; base-uri 'none'; form-action 'none'`
  const title = escapeHtml(`${page.title}`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<header>
<p class="made">${[page.kind, ...page.made]
    .map((text) => escapeHtml(oneLine(text)))
    .concat(page.links.map(link))
    .join(' · ')}</p>
<h1>${escapeHtml(page.headline)}</h1>
${leadList(page)}${figureList(page)}${messageList(page.messages)}</header>
<main>
${page.zones.length === 0 ? '' : `<div class="top">\n${filterForm(page)}${headRow(page)}</div>\n`}${index(page)}${plainZones(page.rest)}</main>
<footer>${page.zones.length === 0 ? '' : `<p>${escapeHtml(page.legend)}.</p><p class="keys" id="keys" hidden><kbd>/</kbd> search, <kbd>↑</kbd> <kbd>↓</kbd> zones, <kbd>Enter</kbd> opens, <kbd>o</kbd> opens all, <kbd>c</kbd> closes all, <kbd>Esc</kbd> clears the filter</p>`}</footer>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`
}

const link = ({ text, url }: PageLink): string => `<a href="${escapeHtml(url)}">${escapeHtml(oneLine(text))}</a>`

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** What is longer is broken into lines, or cut. */
const WIDEST = { name: 30, ttl: 14, type: 10, target: 22 } as const

function columnWidths(zones: readonly PageZone[]) {
  const widths = { name: 4, ttl: 5, type: 5, target: 6 }
  for (const { target, lines } of zones) {
    widths.target = Math.max(widths.target, target.length)
    for (const line of lines) {
      const [, name = '', ttl = '', type = ''] = line.split('\t', 4)
      widths.name = Math.max(widths.name, name.length)
      widths.ttl = Math.max(widths.ttl, ttl.length)
      widths.type = Math.max(widths.type, type.length)
    }
  }
  return {
    name: Math.min(widths.name, WIDEST.name),
    ttl: Math.min(widths.ttl, WIDEST.ttl),
    type: Math.min(widths.type, WIDEST.type),
    target: Math.min(widths.target, WIDEST.target) + 1,
  }
}

const leadList = ({ lead = [] }: Page): string =>
  lead.length === 0 ? '' : `<ul class="lead">\n${lead.map((line) => `<li>${escapeHtml(line)}</li>\n`).join('')}</ul>\n`

const figureList = ({ figures, choices, zones }: Page): string =>
  figures.length === 0
    ? ''
    : `<ul class="figures">${figures
        .map(({ label, count, className, show }) => {
          const isChoice = count > 0 && zones.length > 0 && choices.some(([value]) => value === show)
          const classes = [className, count === 0 ? 'zero' : ''].filter((one) => one !== '').join(' ')
          return `<li class="${classes}"${isChoice ? ` data-show="${show}"` : ''}><b>${formatCount(count)}</b><span>${escapeHtml(typeof label === 'string' ? label : agreeing(count, ...label))}</span></li>`
        })
        .join('')}</ul>\n`

const messageList = (messages: readonly Message[]): string =>
  messages.length === 0
    ? ''
    : `<ul class="messages">\n${messages
        .map(({ severity, title, text }) => `<li class="${severity}"><b>${escapeHtml(oneLine(title))}</b> ${escapeHtml(text)}</li>\n`)
        .join('')}</ul>\n`

const option = (value: string, label: string): string => `<option value="${escapeHtml(value)}">${escapeHtml(label)}</option>`

const select = (id: string, label: string, options: readonly (readonly [value: string, label: string])[]): string =>
  options.length === 0
    ? ''
    : `<label>${label}<select id="${id}">${option('', 'all')}${options.map(([value, text]) => option(value, text)).join('')}</select></label>`

/** The filter, which only the script shows. */
function filterForm({ zones, rest, choices, noun }: Page): string {
  const owners = groupByOwner([...zones, ...rest.zones], ({ owner }) => owner).map(({ owner }) => owner)
  const types = [...new Set(zones.flatMap(({ lines }) => lines.map((line) => line.split('\t', 4)[3] ?? '')))]
    .filter((type) => type !== '')
    .sort()
  const changes = zones.reduce((sum, { lines }) => sum + lines.filter((line) => !line.startsWith('~+')).length, 0)
  const total = counted(zones.length + rest.zones.length, 'zone')
  return `<form class="filter" id="filter" role="search" hidden data-noun="${noun}" data-zones="${total}" data-counts="${escapeHtml(changes === 0 ? total : `${total}, ${formatCount(changes)} ${noun}`)}">
<label>Search<input type="search" id="text" autocomplete="off" placeholder="name, data, message"></label>
<label>Zone<input type="search" id="zone" autocomplete="off" placeholder="part of the name"></label>
${
  owners.some((owner) => owner !== null)
    ? select(
        'owner',
        'Owner',
        owners.map((owner) => [ownerKey(owner), ownerTitle(owner)]),
      )
    : ''
}
${select(
  'type',
  'Type',
  types.map((type) => [type, type]),
)}
${select('action', 'Action', choices)}
<div><button type="button" id="open">Open all</button><button type="button" id="close">Close all</button></div>
<output id="shown" aria-live="polite"></output>
</form>
`
}

/** The owner as a value of the filter, in which nobody differs from every owner. */
const ownerKey = (owner: string | null): string => (owner === null ? 'none' : `owner ${oneLine(owner)}`)

/** The heads of the columns of the index. */
const headRow = ({ place, columns }: Page): string =>
  `<div class="head" aria-hidden="true"><i></i><span>zone</span><span>${place}</span><span></span>${columns.map(({ label }) => `<span>${escapeHtml(label)}</span>`).join('')}</div>\n`

function index(page: Page): string {
  const groups = groupByOwner(page.zones, ({ owner }) => owner)
  const hasOwners = groups.some(({ owner }) => owner !== null)
  const chart = chartOf(page.zones)
  return groups
    .map(({ owner, zones }) => {
      const sums = page.columns.flatMap(({ action, label }) => {
        const sum = zones.reduce((total, { counts }) => total + counts[action], 0)
        return sum === 0 ? [] : [`${formatCount(sum)} ${label}`]
      })
      const title = hasOwners
        ? `<h2>${escapeHtml(ownerTitle(owner))}<small>${escapeHtml([counted(zones.length, 'zone'), ...sums].join(', '))}</small></h2>\n`
        : ''
      const sections = zones.map((zone) => zoneSection(zone, page, chart))
      return `<section data-owner="${escapeHtml(ownerKey(owner))}">\n${title}${sections.join('')}</section>\n`
    })
    .join('')
}

function zoneSection(zone: PageZone, { columns }: Page, chart: Chart): string {
  const labels = zone.labels.map(({ text, severity }) => `<span class="label ${severity}">${escapeHtml(oneLine(text))}</span>`)
  const counts = columns.map(({ action, label }) => {
    const count = zone.counts[action]
    return `<span class="count ${count === 0 ? 'none' : action}" title="${escapeHtml(label)}">${count === 0 ? '·' : `${SIGNS[action]}${formatCount(count)}`}</span>`
  })
  const facts = zone.facts.length === 0 ? '' : `<p class="facts">${escapeHtml(zone.facts.join(' · '))}</p>\n`
  const lines = zone.lines.length === 0 ? '' : `<pre>\n${escapeHtmlText(zone.lines.join('\n'))}\n</pre>\n`
  return `<details data-zone="${escapeHtml(oneLine(zone.name))}"${zone.problem === null ? '' : ` data-problem="${zone.problem}"`}>
<summary><i></i><span class="zone">${escapeHtml(zone.title)}${labels.join('')}</span><span class="target">${escapeHtml(oneLine(zone.target))}</span>${columns.length === 0 ? '' : chart(zone)}${counts.join('')}</summary>
<div class="body">
${facts}${messageList(zone.messages)}${lines}</div>
</details>
`
}

const SIGNS: Readonly<Record<Action, string>> = { create: '+', update: '~', delete: '\u2212' }

type Chart = (zone: PageZone) => string

/** Units of the chart's width, and the least width of a bar. */
const CHART_WIDTH = 100
const LEAST_BAR = 2

/**
 * A bar per zone: deletions to the left of the axis as an outline, creations to the right of it in full height, updates after them in half. The length of
 * each side grows with the square root of its number, on one scale for all zones, so that one large zone does not hide the others.
 */
function chartOf(zones: readonly PageZone[]): Chart {
  const left = Math.max(0, ...zones.map(({ counts }) => Math.sqrt(counts.delete)))
  const right = Math.max(0, ...zones.map(({ counts }) => Math.sqrt(counts.create + counts.update)))
  const scale = (CHART_WIDTH - 3 * LEAST_BAR) / Math.max(1, left + right)
  const axis = left === 0 ? 0.5 : Math.max(LEAST_BAR, left * scale) + 0.5
  return ({ counts }) => {
    const added = counts.create + counts.update
    const unit = added === 0 ? 0 : (Math.sqrt(added) * scale) / added
    const created = counts.create === 0 ? 0 : Math.max(LEAST_BAR, counts.create * unit)
    const updated = counts.update === 0 ? 0 : Math.max(LEAST_BAR, counts.update * unit)
    const deleted = counts.delete === 0 ? 0 : Math.max(LEAST_BAR, Math.sqrt(counts.delete) * scale)
    const bar = (action: Action, x: number, width: number, y: number, height: number): string =>
      width === 0 ? '' : `<rect class="${action}" x="${round(x)}" y="${y}" width="${round(width)}" height="${height}"/>`
    return `<svg viewBox="0 0 ${CHART_WIDTH} 10" preserveAspectRatio="none" aria-hidden="true"><path d="M${round(axis)} 0V10"/>${bar('delete', axis - deleted, deleted, 2, 6)}${bar('create', axis, created, 1, 8)}${bar('update', axis + created, updated, 3, 4)}</svg>`
  }
}

const round = (x: number): number => Math.round(x * 10) / 10

function plainZones({ title, zones }: Page['rest']): string {
  if (zones.length === 0) return ''
  const items = zones.map(
    ({ title: name, target, owner }) =>
      `<li data-zone="${escapeHtml(name)}" data-owner="${escapeHtml(ownerKey(owner))}">${escapeHtml(name)} <span class="dim">${escapeHtml(oneLine(target))}</span></li>`,
  )
  return `<details class="plain" id="rest"><summary><i></i><span>${escapeHtml(title)}</span></summary>\n<ul class="names">${items.join('')}</ul></details>\n`
}

// Diagnostics and times in a page.

/** Diagnostics as messages of a page. */
export const diagnosticMessages = (diagnostics: readonly Diagnostic[], { verbose }: Pick<ReportOptions, 'verbose'>): Message[] =>
  [...groupDiagnostics(diagnostics, { all: verbose })]
    .sort((a, b) => RANK[a.severity] - RANK[b.severity])
    .map(({ severity, code, message, at, hint }) => ({
      severity,
      title: `${severity}[${code}]`,
      text: [
        `${at === undefined ? '' : `${oneLine(at.file)}:${at.line}:${at.column}: `}${oneLine(message)}`,
        ...(hint === undefined ? [] : [oneLine(hint)]),
      ].join('\n'),
    }))

const RANK = { error: 0, warning: 1, notice: 2 } as const

/** The program, when it made a report that does not say so itself, and what for. */
export const madeBy = ({ tool, origin }: ReportOptions): Pick<Page, 'made' | 'links'> => ({
  made: [...(tool === undefined ? [] : [tool]), ...(origin === undefined ? [] : [timeText(origin.time)])],
  links: origin?.links ?? [],
})

/** `2026-11-23 14:05 UTC` of a time in ISO 8601; any other text as it is. */
export const timeText = (time: string): string => oneLine(time).replace(/^([0-9-]{10})T([0-9]{2}:[0-9]{2}).*Z$/, '$1 $2 UTC')
