/**
 * Reports as a comment on a pull request or as the summary of a job: what matters comes first (errors, refusals, what was not applied, deletions), then
 * counts, then the zones. Of limited size; of many zones, changes that are the same are shown once.
 */
import { formatDiagnostic, isError, oneLine } from '../base/diagnostic.ts'
import { counted, formatCount } from '../base/english.ts'
import { groupBy } from '../base/group-by.ts'
import type { Action } from '../plan/plan.ts'
import { type ChangeRow, changeRows, type Marker } from './change-rows.ts'
import { countDiagnostics } from './diagnostics-report.ts'
import { groupDiagnostics } from './group-diagnostics.ts'
import { summaryLine } from './headline.ts'
import { impactLines } from './impact-text.ts'
import {
  type Budget,
  codeCell,
  createBudget,
  fencedBlock,
  limitedBlock,
  limitedTable,
  longestBackticks,
  neutral,
} from './markdown-block.ts'
import { paletteOf } from './palette.ts'
import type { Renderers } from './renderers.ts'
import { blockingRefusals, type Report, type ReportOptions, summarizeOutcomes, type ZoneView, zoneViews } from './report.ts'
import { layoutRows } from './row-layout.ts'
import {
  ACTIONS,
  actionLabels,
  changeFigures,
  deletions,
  groupByOwner,
  hasSection,
  ownerTitle,
  renderedStates,
  unappliedReasons,
  zoneFacts,
  zoneTitle,
  zoneTitleAlone,
} from './summary.ts'
import { countOf, type Validation, validatedText } from './validation.ts'
import { failedChecks, isVerified, type Verification, verificationSummary, type ZoneVerification } from './verification.ts'

/** GitHub takes 65,536 characters in a comment. */
const MAX_REPORT_LENGTH = 60_000
/** Maximum lengths of what comes before the zones, in characters. Errors and deletions leave room for the rest. */
const MAX_PREFACE_LENGTH = 10_000
const MAX_IMPACT_LENGTH = 5_000
const MAX_ERRORS_LENGTH = 10_000
const MAX_DELETIONS_LENGTH = 5_000
const MAX_VALUE_LENGTH = 500
/** For the lines about what is omitted. */
const OMITTED_LINE_LENGTH = 300
/** The two fences of a block. */
const FENCES_LENGTH = 64
/** Maximum number of zones with a section each. */
const MAX_SECTIONS = 20
/** Maximum number of changes whose sections are open. */
const MAX_OPEN = 30
/** Changes that are the same in more zones have a block of their own. */
const FEW_ZONES = 3

export const markdownReports: Renderers = {
  plan: renderMarkdown,
  verification: (verification, options) =>
    verificationMarkdown(verification, options, createBudget((options.maxLength ?? MAX_REPORT_LENGTH) - OMITTED_LINE_LENGTH)),
  validation: (validation, options) => validationMarkdown(validation, options, createBudget(MAX_REPORT_LENGTH - OMITTED_LINE_LENGTH)),
}

function renderMarkdown(report: Report, options: ReportOptions): string {
  const views = zoneViews(report)
  const sections = options.verbose ? views : views.filter(hasSection)
  const preface = createBudget(MAX_PREFACE_LENGTH)
  const diagnostics = options.diagnostics === false ? [] : [...report.plan.diagnostics, ...views.flatMap((view) => view.diagnostics)]
  const grouped = groupDiagnostics(diagnostics, { all: options.verbose })
  const [removed, others] = [true, false].map((wanted) =>
    grouped.filter((one) => !isError(one) && (one.code === 'zone-removed') === wanted),
  )
  const deleted = deletions(views)
  const states = options.verbose ? [] : renderedStates(views.filter((view) => !hasSection(view))).map(({ text }) => text)
  const parts = [
    `### ${summaryLine(report)}\n`,
    ...limitedBlock('text', [...(removed ?? []).flatMap(withHint), ...impactLines(views)], createBudget(MAX_IMPACT_LENGTH), 'line'),
    ...limitedBlock('text', grouped.filter(isError).map(formatDiagnostic), createBudget(MAX_ERRORS_LENGTH), 'error'),
    ...limitedBlock('diff', views.flatMap(blockedLines), preface, 'refusal'),
    ...limitedBlock(
      'diff',
      unappliedReasons(views).map(({ text }) => `- ${text}`),
      preface,
      'line',
    ),
    ...limitedBlock('diff', views.flatMap(allowedLines), preface, 'lifted refusal'),
    ...(deleted.lines.length === 0 ? [] : [`\n**${deleted.title}**\n`]),
    ...limitedBlock('diff', deleted.lines, createBudget(MAX_DELETIONS_LENGTH), 'deletion'),
    ...ownerTable(report, views, preface),
    ...limitedBlock('text', (others ?? []).map(formatDiagnostic), preface, 'diagnostic'),
    ...limitedBlock('text', states, preface, 'line'),
  ]
  const maxLength = options.maxLength ?? MAX_REPORT_LENGTH
  const budget = createBudget(maxLength - OMITTED_LINE_LENGTH - parts.reduce((sum, part) => sum + part.length, 0))
  const isLong = sections.length > MAX_SECTIONS && !options.verbose
  return [...parts, ...(isLong ? manyZones : zoneSections)(sections, options, budget)].join('')
}

const blockedLines = ({ plan }: ZoneView): string[] =>
  blockingRefusals(plan).map(({ name, message }) => `- REFUSED ${name}: ${oneLine(message)} (to allow it: --allow ${name})`)

const allowedLines = ({ plan }: ZoneView): string[] =>
  plan.refusals.flatMap(({ name, message, allowed }) => (allowed ? [`! allowed ${name}: ${oneLine(message)}`] : []))

const countsOf = (view: ZoneView): Readonly<Record<Action, number>> =>
  view.outcomes === null ? view.plan.calls : summarizeOutcomes([view]).applied

const countCells = (views: readonly ZoneView[]): string[] =>
  ACTIONS.map((action) => {
    const count = views.reduce((sum, view) => sum + countsOf(view)[action], 0)
    return count === 0 ? '' : formatCount(count)
  })

const countHeads = ({ outcomes }: Report): string[] => ACTIONS.map((action) => `>${actionLabels(outcomes !== null)[action]}`)

/** The counts of each owner; nothing if no zone has one. */
function ownerTable(report: Report, views: readonly ZoneView[], budget: Budget): string[] {
  const groups = groupByOwner(views.filter(hasSection), ({ plan }) => plan.owner)
  if (groups.every(({ owner }) => owner === null)) return []
  const rows = groups.map(({ owner, zones }) => [
    owner === null ? 'no owner' : codeCell(owner),
    formatCount(zones.length),
    ...countCells(zones),
  ])
  return limitedTable(['owner', '>zones', ...countHeads(report)], rows, budget, 'owner')
}

/** The changes of many zones: first those that are the same in more than a few, then zone by zone; deletions before others. */
function manyZones(sections: readonly ZoneView[], { maxLength = MAX_REPORT_LENGTH }: ReportOptions, budget: Budget): string[] {
  const rank = (one: EqualChanges): number => (one.views.length > FEW_ZONES ? 0 : 2) + (deletes(one) ? 0 : 1)
  const all = equalChanges(sections).sort((a, b) => rank(a) - rank(b) || b.views.length - a.views.length)
  const targets = new Set(sections.map(({ plan }) => plan.target))
  const title = ({ plan }: ZoneView): string => (targets.size > 1 ? zoneTitle(plan) : zoneTitleAlone(plan))
  const parts: string[] = []
  const lines: string[] = []
  const omitted = { changes: 0, zones: new Set<ZoneView>() }
  budget.spend(FENCES_LENGTH)
  for (const { views, rows } of all) {
    const changes = new Set(rows.map(({ change }) => change)).size
    const isGroup = views.length > FEW_ZONES
    const owners = new Set(views.flatMap(({ plan }) => plan.owner ?? []))
    const head = isGroup
      ? `\n**The same ${changes === 1 ? 'change' : `${formatCount(changes)} changes`} in ${counted(views.length, 'zone')}:**\n\n`
      : `@@ ${[...views.map(title), ...[...owners].map((owner) => `owner ${oneLine(owner)}`)].join(', ')} @@`
    const fits = budget.spend(head.length + 2 * longestBackticks(head) + (isGroup ? FENCES_LENGTH : 1))
    const fitting = fits ? fitRows(rows, budget, maxLength) : { lines: [], shown: 0 }
    if (fitting.lines.length > 0 && isGroup) parts.push(head, fencedBlock('diff', fitting.lines), ...zoneList(views.map(title), budget))
    else if (fitting.lines.length > 0) lines.push(head, ...fitting.lines)
    if (fitting.shown === changes) continue
    omitted.changes += (changes - fitting.shown) * views.length
    for (const view of views) omitted.zones.add(view)
  }
  return [...parts, ...(lines.length === 0 ? [] : [`\n${fencedBlock('diff', lines)}`]), ...omittedLine(omitted.changes, omitted.zones.size)]
}

/** The zones of a group, in at most half of the room. */
function zoneList(titles: readonly string[], budget: Budget): string[] {
  const head = `\n<details><summary>The ${counted(titles.length, 'zone')}</summary>\n`
  const text = [
    head,
    ...limitedBlock('text', titles, createBudget(budget.left() / 2 - OMITTED_LINE_LENGTH), 'zone'),
    '\n</details>\n',
  ].join('')
  return budget.spend(text.length) ? [text] : []
}

const omittedLine = (changes: number, zones: number): string[] =>
  zones === 0 ? [] : [`\n**${counted(changes, 'more change')} in ${counted(zones, 'zone')} not shown here.**\n`]

function zoneSections(sections: readonly ZoneView[], options: ReportOptions, budget: Budget): string[] {
  const parts: string[] = []
  const omitted = { changes: 0, zones: 0 }
  const isOpen = sections.reduce((sum, { plan }) => sum + plan.changes.length, 0) <= MAX_OPEN
  const groups = groupByOwner(sections, ({ plan }) => plan.owner)
  for (const { owner, zones } of groups) {
    const heading = groups.length === 1 && owner === null ? '' : `\n#### ${owner === null ? ownerTitle(null) : codeCell(owner)}\n`
    if (budget.spend(heading.length)) parts.push(heading)
    for (const view of zones) {
      const left = budget.left()
      const section = zoneSection(view, options, budget, isOpen)
      const isComplete = section.shown === view.plan.changes.length && section.text !== ''
      const isLeftOut = !isComplete && options.maxLength !== undefined
      if (isLeftOut) budget.spend(budget.left() - left)
      const { text, shown } = isLeftOut ? { text: '', shown: 0 } : section
      parts.push(text)
      if (isComplete) continue
      omitted.changes += view.plan.changes.length - shown
      omitted.zones += 1
    }
  }
  return [...parts, ...omittedLine(omitted.changes, omitted.zones)]
}

function zoneSection(view: ZoneView, options: ReportOptions, budget: Budget, isOpen: boolean): { text: string; shown: number } {
  const { plan } = view
  const facts = [changeFigures(view), ...zoneFacts(view, options.verbose)].join('; ')
  const head = `\n<details${isOpen ? ' open' : ''}><summary>${codeCell(zoneTitle(plan))}: ${neutral(facts)}</summary>\n`
  const tail = '\n</details>\n'
  const overhead = head.length + tail.length + (plan.changes.length === 0 ? 0 : FENCES_LENGTH)
  if (!budget.spend(overhead)) return { text: '', shown: 0 }
  if (plan.changes.length === 0) return { text: head + tail, shown: 0 }
  const { lines, shown } = fitRows(changeRows(view), budget, options.maxLength ?? MAX_REPORT_LENGTH)
  return { text: `${head}\n${fencedBlock('diff', lines)}${tail}`, shown }
}

/** The lines of as many rows as fit, and how many changes they show completely. Only as many are laid out as could fit. */
function fitRows(rows: readonly ChangeRow[], budget: Budget, maxLength: number): { lines: string[]; shown: number } {
  const laidOut = layoutRows(rows.slice(0, maxLength / 8), {
    palette: paletteOf(false),
    width: null,
    longestValue: MAX_VALUE_LENGTH,
    calls: false,
    prefix,
  })
  const lines: string[] = []
  let count = 0
  for (const row of laidOut) {
    // A run of backticks in a line lengthens both fences by no more than the line is long.
    const size = row.reduce((sum, line) => sum + line.length + 1 + 2 * longestBackticks(line), 0)
    if (!budget.spend(size)) break
    lines.push(...row)
    count += 1
  }
  const cut = new Set(rows.slice(count).map(({ change }) => change))
  return { lines, shown: new Set(rows.flatMap(({ change }) => (cut.has(change) ? [] : [change]))).size }
}

/** The first column is that of a diff, in which `!` marks a changed line. */
const prefix = (marker: Marker): string => `${marker === '~' ? '!' : marker} `

/** Rows that are the same in each of the zones. */
interface EqualChanges {
  readonly views: readonly ZoneView[]
  readonly rows: readonly ChangeRow[]
}

/** The changes of the zones by RRset, those of the same zones together, in the order of the zones. */
function equalChanges(views: readonly ZoneView[]): EqualChanges[] {
  const rrsets = views.flatMap((view, index) => {
    const ofName = groupBy(changeRows(view), (row) => (row.subject === 'record' ? `${row.name} ${row.type}` : ''))
    return [...ofName.values()].map((rows) => ({ view, index, rows, key: JSON.stringify(rows.map(shownPart)) }))
  })
  const equal = [...groupBy(rrsets, ({ key }) => key).values()]
  return [...groupBy(equal, (some) => some.map(({ index }) => index).join()).values()].map((groups) => ({
    views: groups[0]?.map(({ view }) => view) ?? [],
    rows: groups.flatMap(([first, ...more]) => (first === undefined ? [] : more.length === 0 ? first.rows : first.rows.map(withoutPlaces))),
  }))
}

/** What a reader sees of a row that several zones have. */
const shownPart = ({ change, id, ...shown }: ChangeRow): object => ({ ...shown, sameCall: null, places: null })

const withoutPlaces = (row: ChangeRow): ChangeRow => (row.subject === 'record' ? { ...row, places: [] } : row)

/** Whether the rows delete a record, or the zone. */
const deletes = ({ rows }: EqualChanges): boolean =>
  rows.some((row) => row.marker === '-' && (row.subject === 'domain' || row.sameCall === null))

// Verifications and validations in Markdown.

/** Errors first, then a line per zone that is not as defined, then what differs. */
function verificationMarkdown(verification: Verification, { verbose }: ReportOptions, budget: Budget): string {
  const { zones, diagnostics } = verification
  const all = groupDiagnostics([...diagnostics, ...zones.flatMap((zone) => zone.diagnostics)], { all: verbose })
  const summary = verificationSummary(verification)
  budget.spend(summary.length)
  const groups = groupByOwner(
    zones.filter((zone) => verbose || !isVerified(zone)),
    ({ owner }) => owner,
  )
  const hasOwners = groups.some(({ owner }) => owner !== null)
  const rows = groups.flatMap(({ owner, zones: some }) =>
    some.map((zone) => [
      codeCell(zoneTitle(zone)),
      ...(hasOwners ? [owner === null ? '' : codeCell(owner)] : []),
      codeCell(failedChecks(zone).join(', ') || (zone.diagnostics.some(isError) ? 'error' : 'as defined')),
    ]),
  )
  return [
    `### ${summary}\n`,
    ...limitedBlock('text', all.filter(isError).map(formatDiagnostic), budget, 'error'),
    ...limitedTable(['zone', ...(hasOwners ? ['owner'] : []), 'not as defined'], rows, budget, 'zone'),
    ...limitedBlock('diff', zones.flatMap(differenceLines), budget, 'line'),
    ...limitedBlock('text', all.filter((one) => !isError(one)).map(formatDiagnostic), budget, 'diagnostic'),
  ].join('')
}

const differenceLines = (zone: ZoneVerification): string[] =>
  zone.nameServers.flatMap(({ server, differences }) =>
    differences.flatMap(({ name, type, expected, answered, note }) => {
      const missing = expected.filter((line) => !answered.includes(line))
      const instead = answered.filter((line) => !expected.includes(line))
      const subject = `${oneLine(name)} ${oneLine(type)}`
      return [
        `! ${subject} at ${oneLine(server)}${note === undefined ? '' : `: ${oneLine(note)}`}`,
        ...missing.map((line) => `- ${subject} ${oneLine(line)}`),
        ...instead.map((line) => `+ ${subject} ${oneLine(line)}`),
      ]
    }),
  )

/** Errors first, then counts by owner, then warnings and notices. */
function validationMarkdown({ diagnostics, figures, zones }: Validation, { verbose }: ReportOptions, budget: Budget): string {
  const all = groupDiagnostics(diagnostics, { all: verbose })
  const groups = groupByOwner(zones, ({ owner }) => owner)
  const rows = groups.map(({ owner, zones: some }) => {
    const found = some.flatMap((zone) => zone.diagnostics)
    return [owner === null ? 'no owner' : codeCell(owner), some.length, countOf(found, 'error'), countOf(found, 'warning')].map(String)
  })
  return [
    `### ${validatedText(figures)}: ${countDiagnostics(diagnostics) ?? 'no problems'}\n`,
    ...limitedBlock('text', all.filter(isError).flatMap(withHint), budget, 'line'),
    ...(groups.every(({ owner }) => owner === null)
      ? []
      : limitedTable(['owner', '>zones', '>errors', '>warnings'], rows, budget, 'owner')),
    ...limitedBlock('text', all.filter((one) => !isError(one)).flatMap(withHint), budget, 'line'),
  ].join('')
}

/** A diagnostic, and its hint on a line of its own. */
const withHint = (diagnostic: Parameters<typeof formatDiagnostic>[0]): string[] => [
  formatDiagnostic(diagnostic),
  ...(diagnostic.hint === undefined ? [] : [`  ${oneLine(diagnostic.hint)}`]),
]
