/** Plans and outcomes as a page. */
import { isError, oneLine } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import type { Outcome } from '../../plan/plan.ts'
import { shortHeadline, summaryLine } from '../headline.ts'
import { impactLines } from '../impact-text.ts'
import { blockingRefusals, type Report, type ReportOptions, summarize, summarizeOutcomes, type ZoneView, zoneViews } from '../report.ts'
import {
  ACTIONS,
  actionLabels,
  cachedAnswersText,
  hasSection,
  readBackText,
  recordFigures,
  renderedStates,
  renderedText,
  unappliedReasons,
  zoneState,
  zoneTitleAlone,
} from '../summary.ts'
import { changeLines } from './change-lines.ts'
import { diagnosticMessages, type Figure, type Message, type Page, type PageZone, type PlainZone, timeText } from './page.ts'

export function planPage(report: Report, options: ReportOptions): Page {
  const { plan, outcomes } = report
  const views = zoneViews(report)
  const shown = views
    .filter((view) => options.verbose || hasSection(view) || view.diagnostics.some(({ severity }) => severity !== 'notice'))
    .sort((a, b) => Number(isFailed(b)) - Number(isFailed(a)))
  const others = views.filter((view) => !shown.includes(view))
  const isDone = outcomes !== null
  const errors = shown.flatMap(({ diagnostics }) => diagnostics.filter(isError))
  const inGeneral = [...plan.diagnostics, ...errors, ...others.flatMap(({ diagnostics }) => diagnostics)]
  const unapplied = unappliedReasons(views).map(
    ({ isFailure, text }): Message => ({ severity: isFailure ? 'error' : 'warning', title: '', text }),
  )
  const states = renderedStates(others).map(
    ({ state, text }): Message => ({
      severity: state === 'differs' ? 'warning' : 'notice',
      title: '',
      text,
    }),
  )
  const label = actionLabels(isDone)
  return {
    kind: isDone ? 'Apply' : 'Plan',
    title: summaryLine(report),
    headline: shortHeadline(report),
    made: [
      plan.tool,
      timeText(plan.created),
      ...(plan.base === undefined ? [] : [`less the plan of ${plan.base.revision}`]),
      ...(plan.snapshot === undefined ? [] : [`from a snapshot of ${timeText(plan.snapshot.created)}`]),
    ],
    links: options.origin?.links ?? [],
    lead: impactLines(views),
    figures: figuresOf(report, label),
    messages: [...unapplied, ...diagnosticMessages(options.diagnostics === false ? [] : inGeneral, options), ...states],
    place: 'target',
    columns: ACTIONS.map((action) => ({ action, label: label[action] })),
    noun: 'changes',
    legend: `− existing record, + desired record; the changed part is marked; the bar has deletions left of the axis, creations and updates right of it`,
    choices: choicesOf(views, label),
    zones: shown.map((view) => pageZone(view, options)),
    rest: { title: `${counted(others.length, 'zone')} without changes`, zones: others.map(plainZone) },
  }
}

function figuresOf(report: Report, label: Readonly<Record<(typeof ACTIONS)[number], string>>): Figure[] {
  const summary = summarize(report)
  const done = report.outcomes === null ? null : summarizeOutcomes(zoneViews(report))
  const problems: Figure[] = [
    { label: ['error', 'errors'], count: summary.errors, className: 'bad', show: 'error' },
    { label: ['refused zone', 'refused zones'], count: summary.refusedZones, className: 'bad', show: 'refused' },
    ...(done === null
      ? []
      : ([
          { label: 'failed', count: done.failed, className: 'bad', show: 'failed' },
          { label: 'unknown', count: done.unknown, className: 'bad', show: 'unknown' },
          { label: 'skipped', count: done.skipped, className: '', show: 'skipped' },
        ] as const)),
  ]
  return [
    ...problems.filter(({ count }) => count > 0),
    ...ACTIONS.map(
      (action): Figure => ({
        label: label[action],
        count: (done?.applied ?? summary)[action],
        className: action,
        ...(done === null ? { show: action } : {}),
      }),
    ),
    {
      label: done === null ? ['zone to change', 'zones to change'] : ['zone changed', 'zones changed'],
      count: done?.applied.zones ?? summary.changedZones,
      className: '',
    },
    { label: ['zone', 'zones'], count: summary.zones, className: '' },
  ]
}

function choicesOf(views: readonly ZoneView[], label: Readonly<Record<(typeof ACTIONS)[number], string>>): Page['choices'] {
  const states = new Set(views.flatMap(({ outcomes }) => (outcomes ?? []).map(({ state }) => state)))
  const unapplied: readonly Outcome['state'][] = ['failed', 'unknown', 'skipped']
  const planned = states.size === 0 ? label : { create: 'create', update: 'update', delete: 'delete' }
  return [
    ...ACTIONS.map((action) => [action, planned[action]] as const),
    ...unapplied.filter((state) => states.has(state)).map((state) => [state, state] as const),
    ...(['error', 'refused'] as const)
      .filter((problem) => views.some((view) => problemOf(view) === problem))
      .map((one) => [one, one] as const),
  ]
}

const isFailed = (view: ZoneView): boolean => labelsOf(view).some(({ severity }) => severity === 'error')

const problemOf = ({ plan, diagnostics }: ZoneView): PageZone['problem'] =>
  diagnostics.some(isError) ? 'error' : blockingRefusals(plan).length > 0 || plan.refused !== undefined ? 'refused' : null

const plainZone = ({ plan }: ZoneView): PlainZone => ({ title: zoneTitleAlone(plan), target: plan.target, owner: plan.owner ?? null })

function pageZone(view: ZoneView, options: ReportOptions): PageZone {
  const { plan, outcomes } = view
  const refusals = plan.refusals.map(
    ({ name, message, allowed }): Message =>
      allowed
        ? { severity: 'warning', title: `allowed ${name}:`, text: oneLine(message) }
        : { severity: 'error', title: `REFUSED ${name}:`, text: `${oneLine(message)}\nto allow it: --allow ${name}` },
  )
  return {
    ...plainZone(view),
    name: plan.zone,
    labels: labelsOf(view),
    problem: problemOf(view),
    counts: outcomes === null ? plan.calls : summarizeOutcomes([view]).applied,
    facts: [
      recordFigures(view),
      ...(outcomes === null && plan.changes.length > 0 ? [counted(plan.calls.total, 'request')] : []),
      cachedAnswersText(plan),
      renderedText(plan, options.verbose),
      readBackText(view, options.verbose),
    ].filter((fact) => fact !== null),
    messages: [...refusals, ...diagnosticMessages(options.diagnostics === false ? [] : view.diagnostics, options)],
    lines: changeLines(view),
  }
}

function labelsOf(view: ZoneView): PageZone['labels'] {
  const { plan, diagnostics, readBack } = view
  const state = zoneState(view)
  const unapplied = view.outcomes === null ? null : summarizeOutcomes([view])
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning').length
  return [
    ...(diagnostics.some(isError) ? [{ text: 'error', severity: 'error' as const }] : []),
    ...(blockingRefusals(plan).length > 0 ? [{ text: 'refused', severity: 'error' as const }] : []),
    ...(['failed', 'unknown'] as const).flatMap((one) =>
      unapplied !== null && unapplied[one] > 0 ? [{ text: `${unapplied[one]} ${one}`, severity: 'error' as const }] : [],
    ),
    ...(unapplied !== null && unapplied.skipped > 0 ? [{ text: `${unapplied.skipped} skipped`, severity: 'warning' as const }] : []),
    ...(readBack === 'different' ? [{ text: 'not as planned', severity: 'error' as const }] : []),
    ...(state === null ? [] : [{ text: state, severity: state === 'new zone' ? ('notice' as const) : ('warning' as const) }]),
    ...(warnings > 0 ? [{ text: counted(warnings, 'warning'), severity: 'warning' as const }] : []),
  ]
}
