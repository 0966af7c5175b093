/**
 * Divides a call that the target refuses because of what it carries, until the refused record sets are found. The parts follow each other as the plan of several
 * calls would, so that the state after each of them is safe; what has to follow a refused part is not sent.
 */
import type { DomainName } from '../dns/domain-name.ts'
import type { ExistingRecord } from '../dns/record.ts'
import { carryRrsets } from '../plan/carry-changes.ts'
import { type Changeset, changesetsOf, compareRrsets } from '../plan/changesets.ts'
import type { RecordChange } from '../plan/plan.ts'
import { stronglyConnectedComponents } from '../plan/topological-order.ts'
import { applyCall, type CallRun, type ChangeResult } from './apply-call.ts'
import { describeChange } from './call-graph.ts'

/** Refused parts after which a part that is refused is not divided any more: the target probably refuses everything. */
const MOST_REFUSED = 20

/** The zone before the calls of the run. */
interface DividedZone {
  readonly name: DomainName
  readonly existing: readonly ExistingRecord[]
}

/** Makes a call, in parts if the target refuses it. Returns one result per change. */
export async function applyDivided(call: Changeset, zone: DividedZone, run: CallRun): Promise<ChangeResult[]> {
  const whole = await applyCall(call, run)
  const parts = isRefused(whole, run) ? partsOf(call, zone, run) : []
  if (parts.length < 2) return whole
  const results = new Map<number, ChangeResult>()
  /** For each part without success, the change that explains it. */
  const failed = new Map<number, RecordChange>()
  const note = (numbers: readonly number[], made: readonly ChangeResult[]): void => {
    const position = new Map(join(parts, numbers).indexes.map((index, at) => [index, at]))
    for (const number of numbers) {
      const { indexes, changes } = parts[number] as Changeset
      for (const index of indexes)
        results.set(index, { ...(made[position.get(index) as number] as ChangeResult), storedRecords: undefined })
      if (indexes.some((index) => results.get(index)?.outcome.state !== 'applied')) failed.set(number, changes[0] as RecordChange)
    }
  }
  let refused = 0
  const send = async (numbers: readonly number[], first?: readonly ChangeResult[]): Promise<void> => {
    const open = numbers.filter((number) => {
      const cause = (parts[number] as Changeset).after.find((before) => failed.has(before))
      if (cause === undefined) return true
      const because = `waiting for ${describeChange(failed.get(cause) as RecordChange)}, which was not applied`
      note(
        [number],
        (parts[number] as Changeset).indexes.map(() => ({ outcome: { state: 'skipped', because } })),
      )
      return false
    })
    if (open.length === 0) return
    const made = first ?? (await applyCall(join(parts, open), run))
    if (!isRefused(made, run) || open.length === 1 || refused >= MOST_REFUSED) {
      if (isRefused(made, run)) refused += 1
      note(open, made)
      return
    }
    const half = Math.ceil(open.length / 2)
    await send(open.slice(0, half))
    await send(open.slice(half))
  }
  await send([...parts.keys()], whole)
  return call.indexes.map((index) => results.get(index) as ChangeResult)
}

/** Whether nothing of a call was carried out because the target does not accept all that it carries. */
function isRefused([first]: readonly ChangeResult[], { provider }: CallRun): boolean {
  const { divides, atomic } = provider.capabilities.calls
  return divides === true && atomic && first?.outcome.state === 'failed' && first.error?.code === 'provider-rejected'
}

/** The smallest parts of a call, each after those that it has to follow. All changes at one name are in one part. */
function partsOf({ changes, indexes }: Changeset, { name, existing }: DividedZone, { provider }: CallRun): Changeset[] {
  const records = changes.flatMap((change) => (change.subject === 'record' ? [{ ...change, after: [] }] : []))
  if (records.length < changes.length) return []
  const { calls: rules, maxRecords } = provider.capabilities
  const headroom = maxRecords === null ? Number.POSITIVE_INFINITY : maxRecords - existing.length
  // Single records of an RRset stay together, too.
  const carried = carryRrsets(records, existing, { ...rules, unit: 'rrset', maxUnits: null }, headroom, name, true)
  const parts = changesetsOf(carried.changes, existing, rules)
  const waits = parts.map(({ after }) => new Set(after))
  const byName = new Map<string, number>()
  parts.forEach(({ changes: own }, number) => {
    for (const { name: owner } of own) {
      const other = byName.get(owner)
      byName.set(owner, number)
      if (other === undefined) continue
      waits[number]?.add(other)
      waits[other]?.add(number)
    }
  })
  const components = stronglyConnectedComponents(waits)
  const componentOf = new Map(components.flatMap((numbers, at) => numbers.map((number) => [number, at] as const)))
  return components.map((numbers, at) => {
    const before = numbers.flatMap((number) => [...(waits[number] ?? [])].map((one) => componentOf.get(one) as number))
    const { indexes: own, ...part } = join(parts, numbers)
    return { ...part, indexes: own.map((index) => indexes[index] as number), after: [...new Set(before)].filter((one) => one !== at) }
  })
}

/** One call with all that these parts carry. */
function join(parts: readonly Changeset[], numbers: readonly number[]): Changeset {
  const own = numbers.map((number) => parts[number] as Changeset)
  const carried = own
    .flatMap(({ indexes, changes }) => changes.map((change, at) => ({ index: indexes[at] as number, change })))
    .sort((a, b) => a.index - b.index)
  return {
    indexes: carried.map(({ index }) => index),
    changes: carried.map(({ change }) => change),
    rrsets: own.flatMap(({ rrsets }) => rrsets).sort(compareRrsets),
    after: [],
  }
}
