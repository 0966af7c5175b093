/** What a run did, in figures: the document of notifications, and the source of metrics. It has no records, so a chat room may read it. */
import { type Diagnostic, formatDiagnostic } from '../base/diagnostic.ts'
import { compareText } from '../base/text.ts'
import type { Outcome, Plan, ZoneOutcome, ZonePlan } from '../plan/plan.ts'
import { changeFailures } from './summary.ts'
import type { Validation } from './validation.ts'
import { isVerified, type Verification, type ZoneVerification } from './verification.ts'

/** The requests to one target. */
export interface Traffic {
  /** Requests that were sent, repeated ones included. */
  requests: number
  /** Those among them that repeat a failed one. */
  retries: number
}

/** A run that has ended. */
export interface EndedRun {
  readonly id: string
  readonly command: string
  /** Program and version. */
  readonly tool: string
  readonly started: Date
  readonly ended: Date
  readonly exitStatus: number
  /** The page of the CI job; null if there is none. */
  readonly job: string | null
  /** Null if the run could not plan, or verified. */
  readonly plan: Plan | null
  /** Null if nothing was applied. */
  readonly outcomes: readonly ZoneOutcome[] | null
  readonly verification: Verification | null
  /** Those that the run printed; they may be among those of the plan. */
  readonly diagnostics: readonly Diagnostic[]
  /** By the name of the target. */
  readonly traffic: ReadonlyMap<string, Traffic>
  /** Removes the secrets of the run from a message. */
  readonly redact: (text: string) => string
}

export type RunResult = 'done' | 'pending' | 'refused' | 'partial' | 'failed' | 'interrupted'

export interface ChangeCounts {
  readonly create: number
  readonly update: number
  readonly delete: number
}

export type OutcomeCounts = Readonly<Record<Outcome['state'], number>>

/** A zone at a target. */
export interface ZoneFigures extends ChangeCounts, OutcomeCounts {
  readonly zone: string
  readonly target: string
  readonly owner: string | null
  /** Calls that the plan needs. */
  readonly calls: number
  /** The names of the safety limits that refuse the plan, and `moved` or `unread` for a zone that a saved plan left out. */
  readonly refusals: readonly string[]
  /** Differences that `verify` found: pending changes, answers and records of the rendered file. Null for other commands. */
  readonly differences: number | null
  readonly errors: number
}

export interface TargetFigures extends Traffic {
  readonly target: string
  readonly calls: number
  /** Changes that share a call with another one. */
  readonly callsSaved: number
}

interface RunError {
  readonly code: string
  readonly message: string
}

/** The document of `schemas/run.schema.json`. Its key order is fixed. */
export interface RunDocument {
  readonly format: 'zonewright-run'
  readonly version: 1
  readonly id: string
  readonly command: string
  readonly tool: string
  readonly started: string
  readonly ended: string
  readonly seconds: number
  readonly exitStatus: number
  readonly result: RunResult
  readonly job: string | null
  readonly summary: ChangeCounts &
    OutcomeCounts & {
      readonly zones: number
      readonly changedZones: number
      readonly refusals: number
      readonly differences: number | null
      readonly errors: number
      readonly warnings: number
    }
  readonly targets: readonly TargetFigures[]
  /** The zones with a change, refusal, difference or error, by name. */
  readonly zones: readonly ZoneFigures[]
  /** How many more zones the list would have if it were not cut. */
  readonly omittedZones: number
  readonly errors: readonly RunError[]
}

/** The most that a document lists, and characters of a message. */
const MAX_ZONES = 500
const MAX_ERRORS = 20
const MAX_MESSAGE = 1000

const RESULTS: Readonly<Record<number, RunResult>> = { 0: 'done', 1: 'failed', 2: 'pending', 3: 'refused', 4: 'partial' }

export function runDocument(run: EndedRun): RunDocument {
  const all = zonesOf(run).sort((a, b) => compareText(a.zone, b.zone) || compareText(a.target, b.target))
  const noted = all.filter(isNoted)
  const diagnostics = diagnosticsOf(run)
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const total = (key: keyof ChangeCounts | keyof OutcomeCounts): number => sum(all.map((zone) => zone[key]))
  return {
    format: 'zonewright-run',
    version: 1,
    id: run.id,
    command: run.command,
    tool: run.tool,
    started: run.started.toISOString(),
    ended: run.ended.toISOString(),
    seconds: Math.max(0, run.ended.getTime() - run.started.getTime()) / 1000,
    exitStatus: run.exitStatus,
    result: RESULTS[run.exitStatus] ?? 'interrupted',
    job: run.job,
    summary: {
      zones: all.length,
      changedZones: all.filter((zone) => zone.create + zone.update + zone.delete > 0).length,
      create: total('create'),
      update: total('update'),
      delete: total('delete'),
      applied: total('applied'),
      failed: total('failed'),
      skipped: total('skipped'),
      unknown: total('unknown'),
      refusals: sum(all.map(({ refusals }) => refusals.length)),
      differences: run.verification === null ? null : sum(all.map(({ differences }) => differences ?? 0)),
      errors: errors.length,
      warnings: diagnostics.filter(({ severity }) => severity === 'warning').length,
    },
    targets: targetsOf(all, run.traffic),
    zones: noted.slice(0, MAX_ZONES),
    omittedZones: Math.max(0, noted.length - MAX_ZONES),
    errors: errors.slice(0, MAX_ERRORS).map(({ code, message }) => ({ code, message: run.redact(message).slice(0, MAX_MESSAGE) })),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const isNoted = (zone: ZoneFigures): boolean =>
  zone.create + zone.update + zone.delete + zone.refusals.length + zone.errors + (zone.differences ?? 0) > 0

function zonesOf({ plan, outcomes, verification }: EndedRun): ZoneFigures[] {
  if (verification !== null) return verification.zones.map(verifiedZone)
  const byZone = new Map((outcomes ?? []).map((outcome) => [keyOf(outcome.plan), outcome]))
  return (plan?.zones ?? []).map((zone) => plannedZone(zone, byZone.get(keyOf(zone))))
}

const keyOf = ({ zone, target }: ZonePlan): string => `${zone} ${target}`

function plannedZone(plan: ZonePlan, outcome: ZoneOutcome | undefined): ZoneFigures {
  const { zone, target, owner = null, calls, refusals, refused, diagnostics } = plan
  const count = (state: Outcome['state']): number => (outcome?.outcomes ?? []).filter((one) => one.state === state).length
  const errors = [...diagnostics, ...(outcome?.diagnostics ?? [])].filter(({ severity }) => severity === 'error')
  return {
    zone,
    target,
    owner,
    create: calls.create,
    update: calls.update,
    delete: calls.delete,
    applied: count('applied'),
    failed: count('failed'),
    skipped: count('skipped'),
    unknown: count('unknown'),
    calls: calls.total,
    refusals: [...refusals.filter(({ allowed }) => !allowed).map(({ name }) => name), ...(refused === undefined ? [] : [refused])],
    differences: null,
    errors: new Set(errors.map(({ message }) => message)).size,
  }
}

const NO_CHANGES: ChangeCounts & OutcomeCounts = { create: 0, update: 0, delete: 0, applied: 0, failed: 0, skipped: 0, unknown: 0 }

function verifiedZone(verified: ZoneVerification): ZoneFigures {
  const { zone, target, owner = null, pending, renderedDifferences, nameServers, diagnostics } = verified
  const found =
    pending +
    renderedDifferences.length +
    sum(nameServers.map(({ differences, failure }) => differences.length + (failure === null ? 0 : 1)))
  return {
    zone,
    target,
    owner,
    ...NO_CHANGES,
    calls: 0,
    refusals: [],
    // A rendered file that is out of date lists no records.
    differences: isVerified(verified) ? 0 : Math.max(1, found),
    errors: diagnostics.filter(({ severity }) => severity === 'error').length,
  }
}

function targetsOf(zones: readonly ZoneFigures[], traffic: EndedRun['traffic']): TargetFigures[] {
  const names = [...new Set([...zones.map(({ target }) => target), ...traffic.keys()])].sort(compareText)
  return names.map((target) => {
    const own = zones.filter((zone) => zone.target === target)
    const calls = sum(own.map((zone) => zone.calls))
    const changes = sum(own.map((zone) => zone.create + zone.update + zone.delete))
    const { requests, retries } = traffic.get(target) ?? { requests: 0, retries: 0 }
    return { target, calls, callsSaved: Math.max(0, changes - calls), requests, retries }
  })
}

/** What a run reported that has diagnostics. */
export type Reported = Pick<EndedRun, 'plan' | 'outcomes' | 'verification' | 'diagnostics'> & { readonly validation?: Validation | null }

/** Each diagnostic once, with an error per reason why changes failed. */
export function diagnosticsOf({ plan, outcomes, verification, validation, diagnostics }: Reported): Diagnostic[] {
  const all = [
    ...diagnostics,
    ...(plan?.diagnostics ?? []),
    ...(plan?.zones ?? []).flatMap((zone) => zone.diagnostics),
    ...(outcomes ?? []).flatMap((outcome) => [...outcome.diagnostics, ...changeFailures(outcome)]),
    ...(verification?.diagnostics ?? []),
    ...(verification?.zones ?? []).flatMap((zone) => zone.diagnostics),
    ...(validation?.diagnostics ?? []),
  ]
  return [...new Map(all.map((one) => [formatDiagnostic(one), one])).values()]
}
