/**
 * Parses a plan file. The file may have been changed by accident or on purpose, so everything is checked: its size, its seal, its schema, its values by the
 * parsers of the model, and its consistency. Derivable values (counts, fields and names of changes, existing
 * sides, fingerprints) are derived and compared with the file.
 */
import { validate } from '../../../generated/plan-schema.js'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { PLAN_KEY } from '../../config/resolve-secret.ts'
import { parseDomainName } from '../../dns/domain-name.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import { totalCalls } from '../../plan/changesets.ts'
import { type Change, fingerprint, type QuarantinedRrset, type Refusal } from '../../plan/plan.ts'
import { countCalls, untouchedSelectors } from '../../plan/plan-difference.ts'
import { type PlannedZone, planOf } from '../../plan/planned-zone.ts'
import { stronglyConnectedComponents } from '../../plan/topological-order.ts'
import { type DiagnosticDocument, PLAN_FORMAT, PLAN_VERSION, planDocument } from '../../report/plan-document.ts'
import { existingRecords, parseSavedChange } from './parse-saved-change.ts'
import { checksumOf, firstDifference, readJsonObject, remakeHint, sameSeal, schemaProblem, signatureOf } from './plan-json.ts'
import type { SavedPlan, SavedPlanDocument, SavedState, SavedTarget, SavedZoneDocument } from './saved-plan.ts'

/** The deepest value is an address in the settings of a zone change; the rest is reserved for later versions. */
export const PLAN_BOUNDS = { depth: 16, values: 8_000_000 } as const

export interface ParsedSavedPlan {
  /** Null if the diagnostics have an error. */
  readonly saved: SavedPlan | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Parses the text of a plan file, which messages call `file`. With a key, refuses a plan that was not signed with it. */
export function parseSavedPlan(text: string, file: string, key: string | null): ParsedSavedPlan {
  const refuse = (code: DiagnosticCode, problem: string, hint?: string): ParsedSavedPlan => ({
    saved: null,
    diagnostics: [{ severity: 'error', code, message: `${file} ${problem}`, hint }],
  })
  const document = readJsonObject(text, PLAN_BOUNDS, 'plan')
  if (!document.ok) return refuse('plan-file-invalid', document.message, REMAKE)
  const { value } = document
  if (value['format'] !== PLAN_FORMAT) return refuse('plan-file-invalid', `is not a plan: its "format" is not "${PLAN_FORMAT}"`, REMAKE)
  const version = value['version']
  if (typeof version === 'number' && version !== PLAN_VERSION) {
    const hint = version > PLAN_VERSION ? NEWER : OLDER
    return refuse('plan-file-version', `has version ${version} of the format of plans; this program reads version ${PLAN_VERSION}`, hint)
  }
  if (typeof value['checksum'] !== 'string') return refuse('plan-file-invalid', 'is only a report of a plan and cannot be applied', REMAKE)

  if (!sameSeal(value['checksum'], checksumOf(value)))
    return refuse('plan-file-changed', 'was changed after it was saved: its checksum does not match', REMAKE)
  const signature = value['signature']
  const forged = signatureProblem(value, key)
  if (forged !== null) return refuse('plan-file-signature', forged, `plan again with the same ${PLAN_KEY}`)

  if (!validate(value))
    return refuse(
      'plan-file-invalid',
      `does not have the format of plans: ${schemaProblem(validate.errors ?? [])}`,
      remakeHint(value, REMAKE),
    )
  const parsed = parseDocument(value as unknown as SavedPlanDocument)
  if (!parsed.ok) return refuse('plan-file-invalid', `is not a plan that this program made: ${parsed.message}`, REMAKE)
  return { saved: parsed.value, diagnostics: signature !== undefined && key === null ? [unchecked(file)] : [] }
}

const REMAKE = 'create it again with "zonewright plan --out"'
const OLDER = 'an earlier version of the program made it: plan again with this one'
const NEWER = 'apply it with the version of the program that made it, or plan again with this one'

const unchecked = (file: string): Diagnostic => ({
  severity: 'notice',
  code: 'plan-file-signature',
  message: `${file} is signed, and the signature was not checked: ${PLAN_KEY} is not set`,
})

function signatureProblem(document: Readonly<Record<string, unknown>>, key: string | null): string | null {
  if (key === null) return null
  const { signature } = document
  if (signature === undefined) return `is not signed, but ${PLAN_KEY} requires a signature`
  return typeof signature === 'string' && sameSeal(signature, signatureOf(document, key))
    ? null
    : `was signed with another key than the one in ${PLAN_KEY}, or changed since`
}

function parseDocument(document: SavedPlanDocument): Result<SavedPlan> {
  const { created, tool, snapshot, checksum, signature, targets, ...rest } = document
  if (targets === undefined) return failure('"targets" is missing')
  if (!isTime(created)) return failure('"created" is not a time')
  const bound = targetsProblem(document)
  if (bound !== null) return failure(bound)
  const zones: PlannedZone[] = []
  const seen = new Set<string>()
  for (const [index, zone] of document.zones.entries()) {
    const parsed = parseSavedZone(zone)
    if (!parsed.ok) return failure(`zones[${index}]${parsed.message}`)
    const key = `${zone.zone} ${zone.target}`
    if (seen.has(key)) return failure(`zones[${index}] is a duplicate of ${zone.zone} at ${zone.target}`)
    seen.add(key)
    zones.push(parsed.value)
  }
  const diagnostics = document.diagnostics.map(parseSavedDiagnostic)
  const saved = { created, tool, snapshot, zones, diagnostics, targets, signed: signature !== undefined }
  const printed = planDocument(planOf(saved))
  const stated = {
    ...rest,
    created,
    tool,
    ...(snapshot === undefined ? {} : { snapshot }),
    zones: document.zones.map(({ state, ...zone }) => zone),
  }
  // The round trip drops undefined members, which the file cannot have.
  const difference = firstDifference(JSON.parse(JSON.stringify(printed)), stated)
  if (difference !== null) return failure(`it contradicts itself at ${difference}`)
  return ok(saved)
}

/** Whether a text is a time in the form of documents. */
export const isTime = (text: string): boolean => {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}

function targetsProblem({ targets, zones }: SavedPlanDocument): string | null {
  const names = new Set(targets.map(({ name }: SavedTarget) => name))
  if (names.size < targets.length) return 'a target is listed twice'
  const unbound = zones.find(({ target }) => !names.has(target))
  return unbound === undefined ? null : `zones are planned for the target ${JSON.stringify(unbound.target)}, which "targets" does not have`
}

/** Parses a zone of a document that follows the schema. A failure begins with the path in the zone, such as `.changes[2]`. */
function parseSavedZone(document: SavedZoneDocument): Result<PlannedZone> {
  const name = parseDomainName(document.zone)
  if (!name.ok || name.value !== document.zone) return failure(`.zone ${JSON.stringify(document.zone)} is not a canonical name`)
  const zone = name.value
  const { target, owner, exists, records, defaultTtl, serial, cachedAnswers, impact, refusals, usage, quarantine, rendered, fence } =
    document
  const cachedName = cachedAnswers === undefined ? name : parseDomainName(cachedAnswers.name)
  const kept = parseQuarantine(quarantine ?? [])
  if (!kept.ok) return failure(`.quarantine${kept.message}`)
  if (!cachedName.ok) return failure(`.cachedAnswers.name: ${cachedName.message}`)
  const odd = [impact?.stopsAnswering, impact?.mail, impact?.nameservers].flat().find((one) => one && !parseDomainName(one.name).ok)
  if (odd !== undefined) return failure(`.impact: ${JSON.stringify(odd.name)} is not a domain name`)
  const needsState = exists && document.changes.length > 0
  if (needsState !== (document.state !== undefined)) return failure(needsState ? '.state is missing' : '.state must be absent')

  const existing = document.state === undefined ? null : stateOf(zone, document.state)
  if (needsState && existing !== null && existing.records.length !== records.existing)
    return failure('.state does not have as many records as the plan says')
  const taken = existingRecords(existing?.records ?? [])
  const changes: Change[] = []
  for (const [index, change] of document.changes.entries()) {
    const parsed = parseSavedChange(change, { zone, existing, taken })
    if (!parsed.ok) return failure(`.changes[${index}]${parsed.message}`)
    changes.push(parsed.value)
  }
  const problem = changesProblem(changes, exists)
  if (problem !== null) return failure(`.changes${problem}`)
  const { unmanaged } = document
  if (unmanaged !== undefined && untouchedSelectors(changes, unmanaged, zone, existing).length === 0)
    return failure('.unmanaged selects records that the plan changes')
  if (
    (existing !== null || !exists) &&
    document.fingerprint !== fingerprint(existing, unmanagedTest(unmanaged ?? [], zone, { live: [existing] }))
  )
    return failure('.fingerprint does not match the state')

  const diagnostics = document.diagnostics.map(parseSavedDiagnostic)
  if (diagnostics.some(({ severity }) => severity === 'error')) return failure('.diagnostics has errors; a plan with errors is not saved')
  return ok({
    existing,
    plan: {
      zone,
      target,
      ...(owner === undefined ? {} : { owner }),
      exists,
      fingerprint: document.fingerprint,
      ...(unmanaged === undefined ? {} : { unmanaged }),
      records: { ...records },
      ...(defaultTtl === undefined ? {} : { defaultTtl }),
      ...(serial === undefined ? {} : { serial }),
      ...(kept.value.length === 0 ? {} : { quarantine: kept.value }),
      ...(cachedAnswers === undefined ? {} : { cachedAnswers: { ...cachedAnswers, name: cachedName.value } }),
      ...(impact === undefined ? {} : { impact }),
      changes,
      calls: countCalls(changes),
      refusals: refusals as readonly Refusal[],
      ...(usage === undefined ? {} : { usage }),
      rendered,
      diagnostics,
      ...(fence === undefined ? {} : { fence }),
    },
  })
}

/**
 * The state is not validated: it is only compared with the live zone and never sent. A provider may have names and data that no definition can have.
 */
const stateOf = (name: ExistingZone['name'], { id, settings, records }: SavedState): ExistingZone => ({
  name,
  id: id ?? undefined,
  settings,
  records: records.map(
    ([recordId, owner, type, ttl, data, own]) =>
      ({ id: recordId ?? undefined, name: owner, type, ttl, data, ...(own !== undefined && { settings: own }) }) as ExistingRecord,
  ),
})

/** Converts a diagnostic of a document to a diagnostic. */
export const parseSavedDiagnostic = ({ severity, code, message, file, line, column, hint, related }: DiagnosticDocument): Diagnostic => ({
  severity,
  code: code as DiagnosticCode,
  message,
  at: file === null || line === null || column === null ? undefined : { file, line, column },
  hint,
  related: related?.map(({ message: text, ...at }) => ({ message: text, at })),
})

/** Why changes cannot be executed in their order, starting with a path; null if they can. */
function changesProblem(changes: readonly Change[], exists: boolean): string | null {
  return domainProblem(changes, exists) ?? orderProblem(changes)
}

/** Only the first change may concern the zone itself. Changes of records wait for the creation of the zone, or share its call. */
function domainProblem(changes: readonly Change[], exists: boolean): string | null {
  const second = changes.findIndex(({ subject }, index) => subject === 'domain' && index > 0)
  if (second !== -1) return `[${second}] changes the zone itself and is not the first change`
  const first = changes[0]
  if (first === undefined) return null
  if (!exists) {
    if (first.subject !== 'domain' || first.action !== 'create') return '[0] does not create the zone, which does not exist'
    const early = changes.findIndex(({ after, call }, index) => index > 0 && call !== first.call && !after.includes(0))
    return early === -1 ? null : `[${early}].after does not wait for the zone`
  }
  return first.action === 'delete' && first.subject === 'domain' && changes.length > 1 ? '[1] follows the deletion of the zone' : null
}

/** Calls are numbered from 0 without a gap. Every index in `after` is that of a change of another call, and no calls wait for one another. */
function orderProblem(changes: readonly Change[]): string | null {
  if (totalCalls(changes) > changes.length) return ' have fewer changes than calls'
  const waits = Array.from({ length: totalCalls(changes) }, () => new Set<number>())
  const used = new Set(changes.map(({ call }) => call))
  const gap = waits.findIndex((_, call) => !used.has(call))
  if (gap !== -1) return ` have no call ${gap}`
  const [first] = changes
  if (first?.subject === 'domain' && first.call !== 0) return '[0].call is not the first call'
  if (first?.subject === 'domain' && first.action !== 'create' && changes.some(({ call }, index) => call === 0 && index > 0))
    return '[0].call carries changes of records, too'
  for (const [index, { call, after }] of changes.entries()) {
    for (const before of after) {
      const other = changes[before]?.call
      if (other === undefined) return `[${index}].after names change ${before}, and there are ${changes.length}`
      if (other === call) return `[${index}].after names change ${before}, which the same call carries`
      waits[call]?.add(other)
    }
  }
  const cycle = stronglyConnectedComponents(waits).find(({ length }) => length > 1)
  return cycle === undefined ? null : `[${changes.findIndex(({ call }) => cycle.includes(call))}].after has a cycle`
}

function parseQuarantine(documents: readonly QuarantinedRrset[]): Result<readonly QuarantinedRrset[]> {
  const parsed: QuarantinedRrset[] = []
  for (const [index, one] of documents.entries()) {
    const name = parseDomainName(one.name)
    if (!name.ok) return failure(`[${index}].name: ${name.message}`)
    if (!isTime(one.since) || !isTime(one.until)) return failure(`[${index}] has something that is not a time`)
    parsed.push({ ...one, name: name.value })
  }
  return ok(parsed)
}
