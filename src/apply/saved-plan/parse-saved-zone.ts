import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import { parseDomainName } from '../../dns/domain-name.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { Change, Refusal } from '../../plan/plan.ts'
import { fingerprint } from '../../plan/plan.ts'
import { countCalls, untouchedSelectors } from '../../plan/plan-difference.ts'
import type { DiagnosticDocument } from '../../report/plan-document.ts'
import { existingRecords, parseSavedChange } from './parse-saved-change.ts'
import type { SavedState, SavedZone, SavedZoneDocument } from './saved-plan.ts'

/** A zone of a document that follows the schema. A fault begins with the path in the zone, such as `.changes[2]`. */
export function parseSavedZone(document: SavedZoneDocument): Result<SavedZone> {
  const name = parseDomainName(document.zone)
  if (!name.ok || name.value !== document.zone) return failure(`.zone ${JSON.stringify(document.zone)} is not a canonical name`)
  const zone = name.value
  const { target, exists, records, refusals, rendered } = document
  const needsState = exists && document.changes.length > 0
  if (needsState !== (document.state !== undefined)) return failure(needsState ? '.state is missing' : '.state is of a zone without one')

  const existing = document.state === undefined ? null : stateOf(zone, document.state)
  if (needsState && existing !== null && existing.records.length !== records.existing)
    return failure('.state has not as many records as were found')
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
  if (unmanaged !== undefined && untouchedSelectors(changes, unmanaged, zone).length === 0)
    return failure('.unmanaged has records that the plan changes')
  if ((existing !== null || !exists) && document.fingerprint !== fingerprint(existing, unmanagedTest(unmanaged ?? [], zone)))
    return failure('.fingerprint is not that of its state')

  const diagnostics = document.diagnostics.map(parseSavedDiagnostic)
  if (diagnostics.some(({ severity }) => severity === 'error')) return failure('.diagnostics has errors, with which no plan is saved')
  return ok({
    existing,
    plan: {
      zone,
      target,
      exists,
      fingerprint: document.fingerprint,
      ...(unmanaged === undefined ? {} : { unmanaged }),
      records: { ...records },
      changes,
      calls: countCalls(changes),
      refusals: refusals as readonly Refusal[],
      rendered,
      diagnostics,
    },
  })
}

/**
 * The state is not looked into: it is compared with what is live and nothing in it is ever sent. A provider may hold names and data that no definition
 * can have.
 */
const stateOf = (name: ExistingZone['name'], { id, settings, records }: SavedState): ExistingZone => ({
  name,
  id: id ?? undefined,
  settings,
  records: records.map(
    ([recordId, owner, type, ttl, data]) => ({ id: recordId ?? undefined, name: owner, type, ttl, data }) as ExistingRecord,
  ),
})

/** A diagnostic as a document holds it, back as it was. */
export const parseSavedDiagnostic = ({ severity, code, message, file, line, column, hint, related }: DiagnosticDocument): Diagnostic => ({
  severity,
  code: code as DiagnosticCode,
  message,
  at: file === null || line === null || column === null ? undefined : { file, line, column },
  hint,
  related: related?.map(({ message: text, ...at }) => ({ message: text, at })),
})

/** Why changes cannot be run one after another, as a path and words; null where they can. */
function changesProblem(changes: readonly Change[], exists: boolean): string | null {
  return domainProblem(changes, exists) ?? orderProblem(changes)
}

/** A zone has one change of its own at most, the first; without the zone nothing can be in it. */
function domainProblem(changes: readonly Change[], exists: boolean): string | null {
  const second = changes.findIndex(({ subject }, index) => subject === 'domain' && index > 0)
  if (second !== -1) return `[${second}] is of the zone itself and not the first`
  const first = changes[0]
  if (first === undefined) return null
  if (!exists) {
    if (first.subject !== 'domain' || first.action !== 'create') return '[0] does not create the zone, which is not there'
    const early = changes.findIndex(({ after }, index) => index > 0 && !after.includes(0))
    return early === -1 ? null : `[${early}].after does not wait for the zone`
  }
  return first.action === 'delete' && first.subject === 'domain' && changes.length > 1 ? '[1] comes after the end of the zone' : null
}

/** Every index in `after` is that of another change, and none waits for itself, however long the way (Kahn). */
function orderProblem(changes: readonly Change[]): string | null {
  const followers: number[][] = changes.map(() => [])
  const waiting = new Uint32Array(changes.length)
  for (const [index, { after }] of changes.entries()) {
    for (const before of after) {
      const list = followers[before]
      if (list === undefined) return `[${index}].after names change ${before}, and there are ${changes.length}`
      list.push(index)
    }
    waiting[index] = after.length
  }
  const free: number[] = []
  for (let index = 0; index < waiting.length; index += 1) if (waiting[index] === 0) free.push(index)
  for (let at = 0; at < free.length; at += 1) {
    for (const follower of followers[free[at] as number] as number[]) {
      waiting[follower] = (waiting[follower] as number) - 1
      if (waiting[follower] === 0) free.push(follower)
    }
  }
  const stuck = free.length === changes.length ? -1 : waiting.findIndex((count) => count > 0)
  return stuck === -1 ? null : `[${stuck}].after closes a circle`
}
