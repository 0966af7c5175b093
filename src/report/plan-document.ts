/** The versioned document of `schemas/plan.schema.json`, which is also the format of saved plans. Its key order is fixed. */
import { type Diagnostic, relatedAndCalls, type SourcePosition } from '../base/diagnostic.ts'
import { jsonText } from '../base/text.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { SerialNumber } from '../dns/serial-number.ts'
import { plainSelector } from '../dns/unmanaged.ts'
import { type UnmanagedSelector, ZONE_SETTINGS, type ZoneSettings } from '../dns/zone.ts'
import type {
  CachedAnswers,
  CallCount,
  Change,
  DefaultTtl,
  DeletionUsage,
  Impact,
  NameAndType,
  Outcome,
  Plan,
  PlanBase,
  PlanFence,
  PlanSnapshot,
  QuarantinedRrset,
  RenderedState,
  ZoneOutcome,
  ZoneRefusal,
} from '../plan/plan.ts'
import { type OutcomeSummary, type Report, type Summary, summarize, summarizeOutcomes, type ZoneView, zoneViews } from './report.ts'

export const PLAN_FORMAT = 'zonewright-plan'
export const PLAN_VERSION = 2

/** A plan, with the outcome of each change if it was applied. */
export interface PlanDocument {
  readonly format: typeof PLAN_FORMAT
  readonly version: typeof PLAN_VERSION
  readonly created: string
  readonly tool: string
  readonly snapshot?: PlanSnapshot
  readonly base?: PlanBase
  readonly keepsGoing?: true
  readonly zones: readonly PlannedZoneDocument[]
  readonly diagnostics: readonly DiagnosticDocument[]
  readonly summary: Summary & Partial<OutcomeFigures>
}

/** How many changes were applied, in all and by action, and what became of the others. */
interface OutcomeFigures extends Pick<OutcomeSummary, 'failed' | 'skipped' | 'unknown'> {
  readonly applied: number
  readonly created: number
  readonly updated: number
  readonly deleted: number
}

export interface PlannedZoneDocument {
  readonly zone: string
  readonly target: string
  readonly owner?: string | null
  readonly exists: boolean
  readonly fingerprint: string
  readonly unmanaged?: readonly UnmanagedSelector[]
  readonly records: {
    readonly existing: number
    readonly desired: number
    readonly unchanged: number
    readonly unmanaged: number
    readonly limit: number | null
  }
  readonly defaultTtl?: DefaultTtl
  readonly serial?: SerialNumber
  readonly cachedAnswers?: CachedAnswers
  readonly impact?: Impact
  readonly changes: readonly ChangeDocument[]
  readonly calls: { readonly create: number; readonly update: number; readonly delete: number; readonly total: number }
  readonly refusals: readonly { readonly name: string; readonly message: string; readonly allowed: boolean }[]
  readonly usage?: DeletionUsage
  readonly quarantine?: readonly QuarantinedRrset[]
  readonly rendered: RenderedState
  readonly diagnostics: readonly DiagnosticDocument[]
  /** The changes that were applied by action, and the calls that carried them. */
  readonly applied?: CallCount
  readonly readBack?: ZoneOutcome['readBack']
  readonly fence?: PlanFence | null
  readonly refused?: ZoneRefusal
}

export interface ChangeDocument {
  readonly action: Change['action']
  readonly subject: Change['subject']
  readonly name: string
  readonly type: string | null
  readonly id: number | string | null
  readonly existing: ResourceRecord | ZoneSettings | null
  readonly desired: ResourceRecord | ZoneSettings | null
  readonly fields: readonly string[]
  readonly call: number
  readonly after: readonly number[]
  readonly owner?: string
  readonly split?: string
  readonly outcome?: Outcome
}

/** An error, warning or notice. Its code is explained in `docs/diagnostics.md`. */
export interface DiagnosticDocument {
  readonly severity: Diagnostic['severity']
  readonly code: Diagnostic['code']
  readonly message: string
  readonly file: string | null
  readonly line: number | null
  readonly column: number | null
  readonly hint?: string
  readonly related?: readonly (SourcePosition & { readonly message: string })[]
}

/** The document of a plan, with the outcome of each change if there are outcomes. */
export function planDocument(plan: Plan, outcomes: readonly ZoneOutcome[] | null = null): PlanDocument {
  const views = zoneViews({ plan, outcomes })
  const summary = summarize({ plan, outcomes })
  return {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    created: plan.created,
    tool: plan.tool,
    ...(plan.snapshot === undefined ? {} : { snapshot: snapshotDocument(plan.snapshot) }),
    ...(plan.base === undefined ? {} : { base: baseDocument(plan.base) }),
    ...(plan.keepsGoing === undefined ? {} : { keepsGoing: plan.keepsGoing }),
    zones: views.map(zoneDocument),
    diagnostics: plan.diagnostics.map(diagnosticDocument),
    summary: outcomes === null ? summary : { ...summary, ...outcomeFigures(views) },
  }
}

export const renderJson = ({ plan, outcomes }: Report): string => jsonText(planDocument(plan, outcomes))

function zoneDocument({ plan, outcomes, readBack, diagnostics }: ZoneView): PlannedZoneDocument {
  const { records, calls } = plan
  return {
    zone: plan.zone,
    target: plan.target,
    ...(plan.owner === undefined ? {} : { owner: plan.owner }),
    exists: plan.exists,
    fingerprint: plan.fingerprint,
    ...(plan.unmanaged === undefined ? {} : { unmanaged: plan.unmanaged.map(plainSelector) }),
    records: {
      existing: records.existing,
      desired: records.desired,
      unchanged: records.unchanged,
      unmanaged: records.unmanaged,
      limit: records.limit,
    },
    ...(plan.defaultTtl === undefined ? {} : { defaultTtl: { existing: plan.defaultTtl.existing, desired: plan.defaultTtl.desired } }),
    ...(plan.serial === undefined ? {} : { serial: plan.serial }),
    ...(plan.cachedAnswers === undefined ? {} : { cachedAnswers: cachedAnswersDocument(plan.cachedAnswers) }),
    ...(plan.impact === undefined ? {} : { impact: impactDocument(plan.impact) }),
    changes: plan.changes.map((change, index) => changeDocument(change, outcomes?.[index])),
    calls: { create: calls.create, update: calls.update, delete: calls.delete, total: calls.total },
    refusals: plan.refusals.map(({ name, message, allowed }) => ({ name, message, allowed })),
    ...(plan.usage === undefined ? {} : { usage: usageDocument(plan.usage) }),
    ...(plan.quarantine === undefined ? {} : { quarantine: plan.quarantine.map(quarantineDocument) }),
    rendered: plan.rendered,
    diagnostics: diagnostics.map(diagnosticDocument),
    ...(outcomes === null ? {} : { applied: appliedCalls(summarizeOutcomes([{ plan, outcomes, readBack, diagnostics }]).applied) }),
    ...(readBack === null ? {} : { readBack }),
    ...(plan.fence === undefined ? {} : { fence: plan.fence && { store: plan.fence.store, number: plan.fence.number } }),
    ...(plan.refused === undefined ? {} : { refused: plan.refused }),
  }
}

const usageDocument = ({ source, inUse, from, to, problem, deletions }: DeletionUsage): DeletionUsage => ({
  source,
  inUse,
  from,
  to,
  ...(problem === undefined ? {} : { problem }),
  deletions: deletions.map(({ name, type, state, count, lastAsked, allowed }) => ({ name, type, state, count, lastAsked, allowed })),
})

const baseDocument = ({ revision, commit, leftOut }: PlanBase): PlanBase => ({ revision, commit, leftOut })

const snapshotDocument = ({ created, checksum, verified }: PlanSnapshot): PlanSnapshot => ({ created, checksum, verified })

const appliedCalls = ({ create, update, delete: deleted, calls }: OutcomeSummary['applied']): CallCount => ({
  create,
  update,
  delete: deleted,
  total: calls,
})

const quarantineDocument = ({ name, type, data, isWhole, source, since, reads, rule, until }: QuarantinedRrset): QuarantinedRrset => ({
  name,
  type,
  data,
  isWhole,
  source,
  since,
  reads,
  rule: { reads: rule.reads, seconds: rule.seconds },
  until,
})

const cachedAnswersDocument = ({ seconds, name, type }: CachedAnswers): CachedAnswers => ({ seconds, name, type })

const impactDocument = ({ stopsAnswering, mail, nameservers, changesAll }: Impact): Impact => {
  const nameAndType = ({ name, type }: NameAndType): NameAndType => ({ name, type })
  return {
    stopsAnswering: stopsAnswering.map(({ name, types, isGone }) => ({ name, types: [...types], isGone })),
    mail: mail.map(nameAndType),
    nameservers: nameservers.map(nameAndType),
    changesAll,
  }
}

function changeDocument(change: Change, outcome: Outcome | undefined): ChangeDocument {
  const form =
    change.subject === 'domain'
      ? { existing: settingsDocument(change.existing), desired: settingsDocument(change.desired) }
      : { existing: recordDocument(change.existing), desired: recordDocument(change.desired) }
  return {
    action: change.action,
    subject: change.subject,
    name: change.name,
    type: change.type,
    id: change.id,
    ...form,
    fields: [...change.fields],
    call: change.call,
    after: [...change.after],
    ...(change.subject === 'record' && change.owner !== undefined ? { owner: change.owner } : {}),
    ...(change.subject === 'record' && change.split !== undefined ? { split: change.split } : {}),
    ...(outcome === undefined ? {} : { outcome: outcomeDocument(outcome) }),
  }
}

const recordDocument = (record: ResourceRecord | null): ResourceRecord | null =>
  record && {
    name: record.name,
    type: record.type,
    ttl: record.ttl,
    data: record.data,
    ...(record.source === undefined ? {} : { source: record.source }),
    ...(record.settings === undefined ? {} : { settings: { ...record.settings } }),
  }

const settingsDocument = (settings: ZoneSettings | null): ZoneSettings | null =>
  settings && Object.fromEntries(ZONE_SETTINGS.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]])))

function outcomeDocument(outcome: Outcome): Outcome {
  switch (outcome.state) {
    case 'applied':
      return outcome.id === undefined ? { state: 'applied' } : { state: 'applied', id: outcome.id }
    case 'skipped':
      return { state: 'skipped', because: outcome.because }
    default:
      return { state: outcome.state, error: outcome.error }
  }
}

/** A diagnostic as it appears in every document. */
export function diagnosticDocument(diagnostic: Diagnostic): DiagnosticDocument {
  const { severity, code, message, at, hint } = diagnostic
  const related = relatedAndCalls(diagnostic).map(({ message: text, at: { file, line, column } }) => ({
    message: text,
    file,
    line,
    column,
  }))
  return {
    severity,
    code,
    message,
    file: at?.file ?? null,
    line: at?.line ?? null,
    column: at?.column ?? null,
    ...(hint === undefined ? {} : { hint }),
    ...(related.length === 0 ? {} : { related }),
  }
}

function outcomeFigures(views: readonly ZoneView[]): OutcomeFigures {
  const { applied, failed, skipped, unknown } = summarizeOutcomes(views)
  return { applied: applied.total, created: applied.create, updated: applied.update, deleted: applied.delete, failed, skipped, unknown }
}
