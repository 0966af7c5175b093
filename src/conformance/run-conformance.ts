/**
 * Runs the conformance suite against one zone of a provider. Each step is planned, applied, read again and planned to empty, with the same
 * functions as `zonewright apply`. What the provider does not support follows from its capabilities and is skipped, with the reason.
 */
import { type Diagnostic, isError } from '../base/diagnostic.ts'
import { checkZone } from '../checks/rules/rules.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { compareRecords, contentKey, type DefinedRecord, isApexNs, type ResourceRecord } from '../dns/record.ts'
import { type DesiredZone, REFUSAL_NAMES, type ZoneSettings } from '../dns/zone.ts'
import { zoneFileDefinition } from '../load/zone-file-definition.ts'
import { fitToTarget } from '../plan/fit-to-target.ts'
import { mayApply, type ZoneJob } from '../plan/planned-zone.ts'
import { DEFAULT_THRESHOLDS } from '../plan/safety-limits.ts'
import type { Provider } from '../providers/provider.ts'
import { applyZones } from '../run/apply/apply-zones.ts'
import { type PlannedJob, planZones } from '../run/plan/plan-zones.ts'
import { BASIC_GROUPS, NAME_GROUPS, SIZE_GROUPS, TEXT_GROUPS } from './groups/basic.ts'
import { TYPE_GROUPS } from './groups/types.ts'
import { UNMANAGED_GROUPS } from './groups/unmanaged.ts'
import type { ConformanceGroup, ConformanceStep } from './step.ts'

/** A zone for the suite. Every record of it is deleted. */
export interface ConformanceTarget {
  readonly provider: Provider
  readonly zone: DomainName
  /** The settings of the zone, if the provider manages settings. */
  readonly settings?: ZoneSettings | undefined
  /** Compares the zone with the expected records by other means than the provider, such as `dig`; returns the differences. */
  readonly judge?: ((expected: ExpectedZone) => Promise<readonly string[]>) | undefined
}

/** The content of the zone after a step. */
export interface ExpectedZone {
  /** As the provider stores them, without apex NS records unless the group is about them. */
  readonly records: readonly ResourceRecord[]
  /** The records of the step as zone-file text, relative to the zone, with `$TTL`. */
  readonly text: string
}

export interface ConformanceOptions {
  /** Steps with more records are left out. */
  readonly maxSize?: number | undefined
  /** Only groups for which this returns true. */
  readonly only?: ((group: ConformanceGroup) => boolean) | undefined
  readonly suite?: readonly ConformanceGroup[] | undefined
}

export interface StepResult {
  readonly group: ConformanceGroup
  readonly step: string
  readonly state: 'passed' | 'failed' | 'skipped'
  /** Why the step failed or was skipped; null if it passed. */
  readonly reason: string | null
  /** Calls that changed the zone. */
  readonly calls: number
}

/** Runs the groups one after the other and yields a result per step, as it ends. A failed step ends its group. */
export async function* runConformance(target: ConformanceTarget, options: ConformanceOptions = {}): AsyncGenerator<StepResult> {
  const { suite = CONFORMANCE_SUITE, only = () => true, maxSize = Number.POSITIVE_INFINITY } = options
  const apexNs = await readApexNs(target)
  let hasRun = false
  for (const group of suite.filter(only)) {
    const skip = (step: string, reason: string): StepResult => ({ group, step, state: 'skipped', reason, calls: 0 })
    if (group.needs !== undefined && !group.needs.isMet(target.provider.capabilities)) {
      const reason = `the provider does not have ${group.needs.what}`
      if (group.steps.length === 0) yield skip('(all)', reason)
      for (const { name } of group.steps) yield skip(name, reason)
      continue
    }
    hasRun = true
    const before = await emptyZone(target, apexNs)
    let ended = before === null ? null : 'the zone was not emptied'
    if (before !== null) yield { group, step: '(empty the zone)', state: 'failed', reason: before, calls: 0 }
    for (const step of group.steps) {
      const obstacle = ended ?? (step.size !== undefined && step.size > maxSize ? `more than ${maxSize} records` : null)
      const result = obstacle === null ? await runStep(target, group, step) : skip(step.name, obstacle)
      if (result.state === 'failed') ended = `"${step.name}" failed`
      else if (obstacle === null && result.state === 'skipped' && dependsOnAll(group)) ended = `"${step.name}" was skipped`
      yield result
    }
  }
  if (hasRun) await emptyZone(target, apexNs)
}

/** Whether each step of the group relies on the records of the one before it. */
const dependsOnAll = ({ steps }: ConformanceGroup): boolean => steps.some(({ unchanged, stays }) => unchanged || stays !== undefined)

async function runStep(target: ConformanceTarget, group: ConformanceGroup, step: ConformanceStep): Promise<StepResult> {
  const { provider } = target
  const name = step.name
  const zone = desiredZone(target, group, step)
  const invalid = [...zone.diagnostics, ...checkZone(zone.desired)].filter(isError)
  if (step.refused !== undefined) {
    const isRefused = invalid.some(({ code }) => code === step.refused)
    const reason = isRefused ? null : `validation does not refuse it with ${step.refused}`
    return { group, step: name, state: isRefused ? 'passed' : 'failed', reason, calls: 0 }
  }
  if (invalid.length > 0) return { group, step: name, state: 'failed', reason: messages(invalid), calls: 0 }
  const fitted = fitToTarget(zone.desired, provider.name, provider.capabilities)
  const unsupported = fitted.diagnostics.filter(isError)
  if (unsupported.length > 0) return { group, step: name, state: 'skipped', reason: messages(unsupported), calls: 0 }

  const expected = [...fitted.records, ...fittedStays(target, group, step)]
  const applied = await applyDesired(target, zone.desired, step.unchanged ?? false)
  const failure = applied.failure ?? (await checkContent(target, group, { records: expected, text: textOf(step) }))
  return { group, step: name, state: failure === null ? 'passed' : 'failed', reason: failure, calls: applied.calls }
}

interface AppliedStep {
  /** Null if the zone is as desired. */
  readonly failure: string | null
  readonly calls: number
}

/** Plans, applies, and plans again, which must be empty. */
async function applyDesired(target: ConformanceTarget, desired: DesiredZone, mustBeEmpty: boolean): Promise<AppliedStep> {
  const job = jobOf(target, desired)
  const first = await planOne(target, job)
  if (typeof first === 'string') return { failure: first, calls: 0 }
  const calls = first.plan.calls.total
  if (calls === 0) return { failure: null, calls }
  if (mustBeEmpty) return { failure: `the plan has ${changesText(first)} instead of none`, calls: 0 }
  const [outcome] = await applyZones([first], { providers: providersOf(target) })
  const wrong = (outcome?.outcomes ?? []).flatMap((one) =>
    one.state === 'applied' ? [] : [`${one.state}: ${'error' in one ? one.error : one.because}`],
  )
  if (wrong.length > 0) return { failure: [...new Set(wrong)].slice(0, 3).join('; '), calls }
  if (outcome?.readBack !== 'equal') return { failure: `read back ${outcome?.readBack}: ${messages(outcome?.diagnostics ?? [])}`, calls }
  const second = await planOne(target, job)
  if (typeof second === 'string') return { failure: second, calls }
  if (second.plan.changes.length > 0) return { failure: `a second plan has ${changesText(second)}`, calls }
  return { failure: null, calls }
}

/** Reads the zone through the provider, and by other means if there are any. */
async function checkContent(target: ConformanceTarget, group: ConformanceGroup, expected: ExpectedZone): Promise<string | null> {
  const found = await readRecords(target)
  const ours = (records: readonly ResourceRecord[]): string[] =>
    records
      .filter((record) => group.managesApexNs || !isApexNs(record, target.zone))
      .toSorted(compareRecords)
      .map(contentKey)
  const [is, should] = [ours(found), ours(expected.records)]
  const missing = should.filter(absentFrom(is))
  const extra = is.filter(absentFrom(should))
  if (missing.length + extra.length > 0 || is.length !== should.length)
    return `the provider returns other records: missing ${excerpts(missing)}, unexpected ${excerpts(extra)}`
  const differences = (await target.judge?.(expected)) ?? []
  return differences.length === 0 ? null : `another reader finds: ${excerpts(differences)}`
}

function absentFrom(lines: readonly string[]): (line: string) => boolean {
  const known = new Set(lines)
  return (line) => !known.has(line)
}

const excerpts = (lines: readonly string[]): string =>
  lines.length === 0 ? 'none' : `${lines.slice(0, 3).join(' | ')}${lines.length > 3 ? ` and ${lines.length - 3} more` : ''}`

const messages = (diagnostics: readonly Diagnostic[]): string =>
  [...new Set(diagnostics.map(({ code, message }) => `${code}: ${message}`))].slice(0, 3).join('; ')

const changesText = ({ plan }: PlannedJob): string =>
  excerpts(
    plan.changes.map(({ action, name, type, existing, desired }) => `${action} ${name} ${type} ${dataOf(existing)} -> ${dataOf(desired)}`),
  )

const dataOf = (value: unknown): string => JSON.stringify(value) ?? 'nothing'

/** The records of a step as zone-file text. */
const textOf = ({ records, stays = '', hasZoneTtl = false }: ConformanceStep): string =>
  `${hasZoneTtl ? '' : '$TTL 300\n'}${records}\n${stays}\n`

interface ParsedStep {
  readonly desired: DesiredZone
  readonly diagnostics: readonly Diagnostic[]
}

function desiredZone(
  target: ConformanceTarget,
  group: Pick<ConformanceGroup, 'name' | 'managesApexNs'>,
  step: ConformanceStep,
): ParsedStep {
  const { zone, diagnostics } = zoneFileDefinition(textOf({ ...step, stays: '' }), target.zone, { file: group.name })
  if (zone === null) throw new Error(messages(diagnostics))
  const { unmanaged = [] } = step
  return { desired: { ...withSettings(target, zone), unmanaged, apexNs: group.managesApexNs ? 'manage' : 'keep' }, diagnostics }
}

/** The zone with the settings of the target, if the provider has settings. */
const withSettings = ({ settings = {}, provider }: ConformanceTarget, zone: DesiredZone): DesiredZone =>
  provider.capabilities.settings.size === 0 ? zone : { ...zone, settings: { ...zone.settings, ...settings } }

/** The records of earlier steps that stay, as the provider stores them. */
function fittedStays(target: ConformanceTarget, group: ConformanceGroup, { stays = '' }: ConformanceStep): readonly DefinedRecord[] {
  if (stays === '') return []
  const { desired } = desiredZone(target, group, { name: '', records: stays })
  return fitToTarget(desired, target.provider.name, target.provider.capabilities).records
}

const providersOf = ({ provider }: ConformanceTarget): ReadonlyMap<string, Provider> => new Map([[provider.name, provider]])

const jobOf = ({ provider }: ConformanceTarget, desired: DesiredZone): ZoneJob => ({
  desired,
  target: provider.name,
  policy: 'sync',
  thresholds: DEFAULT_THRESHOLDS,
  allow: new Set(REFUSAL_NAMES),
})

/** The plan of a zone, or why there is none. */
async function planOne(target: ConformanceTarget, job: ZoneJob): Promise<PlannedJob | string> {
  const run = { providers: providersOf(target), now: new Date(0), tool: 'conformance' }
  const { zones, diagnostics } = await planZones([job], run)
  const [planned] = zones
  if (planned === undefined) return messages(diagnostics)
  return mayApply(planned.plan) ? planned : messages(planned.plan.diagnostics.filter(isError))
}

async function readRecords({ provider, zone }: ConformanceTarget): Promise<readonly ResourceRecord[]> {
  const reference = (await provider.findZones([zone])).get(zone)
  return reference === undefined ? [] : (await provider.readZone(reference)).records
}

async function readApexNs(target: ConformanceTarget): Promise<readonly ResourceRecord[]> {
  return (await readRecords(target)).filter((record) => isApexNs(record, target.zone))
}

/** Deletes every record except the apex NS records that the zone had before the suite. Returns what went wrong; null if nothing. */
async function emptyZone(target: ConformanceTarget, apexNs: readonly ResourceRecord[]): Promise<string | null> {
  const at = { file: 'conformance', line: 1, column: 1 }
  const records = apexNs.map((record) => ({ ...record, at }))
  const { desired } = desiredZone(target, { name: 'empty' }, { name: '', records: '' })
  const { failure } = await applyDesired(target, { ...desired, records, apexNs: 'manage' }, false)
  return failure
}

// All groups of the conformance suite.

/** All groups: those of the list in its order, then the others. */
export const CONFORMANCE_SUITE: readonly ConformanceGroup[] = [
  ...BASIC_GROUPS,
  ...TEXT_GROUPS,
  ...NAME_GROUPS,
  ...TYPE_GROUPS,
  ...UNMANAGED_GROUPS,
  ...SIZE_GROUPS,
].toSorted((a, b) => (a.number ?? Number.POSITIVE_INFINITY) - (b.number ?? Number.POSITIVE_INFINITY))
