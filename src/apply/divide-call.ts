/**
 * Divides a call that the target refuses because of what it carries, until the refused record sets are found. The parts follow each other as the plan of several
 * calls would, so that the state after each of them is safe; what has to follow a refused part is not sent.
 */
import { carryRrsets } from '../plan/carry-changes.ts'
import { type Changeset, changesetsOf, compareRrsets } from '../plan/changesets.ts'
import type { Change } from '../plan/plan.ts'
import { stronglyConnectedComponents } from '../plan/topological-order.ts'
import { applyCall, type CallRun, type ChangeResult } from './apply-call.ts'
import { blockedBy } from './call-graph.ts'

/** Refused parts after which a part that is refused is not divided any more: the target probably refuses everything. */
const MOST_REFUSED = 100

/** Makes a call, in parts if the target refuses it. Returns one result per change. */
export async function applyDivided(call: Changeset, run: CallRun): Promise<ChangeResult[]> {
  let { reference } = run
  const whole = await applyCall(call, run)
  const parts = isRefused(whole, run) ? partsOf(call, run) : []
  if (parts.length < 2) return whole
  const results = new Map<number, ChangeResult>()
  /** For each part that was not applied, why another one does not follow it. */
  const failed = new Map<Changeset, string>()
  const note = (part: Changeset, resultOf: (index: number) => ChangeResult): void => {
    // What the first change of the call states is not about all of them any more.
    for (const index of part.indexes) results.set(index, { ...resultOf(index), storedRecords: undefined })
    const at = part.indexes.findIndex((index) => resultOf(index).outcome.state !== 'applied')
    if (at !== -1) failed.set(part, blockedBy(part.changes[at] as Change, resultOf(part.indexes[at] as number).outcome))
  }
  let refused = 0
  const send = async (some: readonly Changeset[], first?: readonly ChangeResult[]): Promise<void> => {
    const open = some.filter((part) => {
      const because = part.after.map((before) => failed.get(parts[before] as Changeset)).find((reason) => reason !== undefined)
      if (because !== undefined) note(part, () => ({ outcome: { state: 'skipped', because } }))
      return because === undefined
    })
    if (open.length === 0) return
    const joined = join(open)
    const made = first ?? (await applyCall(joined, { ...run, reference }))
    reference = made[0]?.zone ?? reference
    const half = Math.ceil(open.length / 2)
    if (isRefused(made, run) && open.length > 1 && refused < MOST_REFUSED) {
      await send(open.slice(0, half))
      await send(open.slice(half))
      return
    }
    if (isRefused(made, run)) refused += 1
    const byIndex = new Map(joined.indexes.map((index, at) => [index, made[at] as ChangeResult]))
    for (const part of open) note(part, (index) => byIndex.get(index) as ChangeResult)
  }
  // The SOA record of a new zone names its first name server, so the records of the apex come with the zone if they are accepted.
  const [{ subject, name: zone }] = call.changes as [Change]
  const leads = ({ changes }: Changeset): number => Number(subject === 'domain' && changes.some(({ name }) => name === zone))
  const ordered = parts.toSorted((a, b) => leads(b) - leads(a))
  await send(ordered, whole)
  return call.indexes.map((index) => results.get(index) as ChangeResult)
}

/** Whether nothing of a call was carried out because the target does not accept all that it carries. */
const isRefused = ([first]: readonly ChangeResult[], { provider: { capabilities } }: CallRun): boolean =>
  capabilities.calls.divides === true && first?.outcome.state === 'failed' && first.error?.code === 'provider-rejected'

/** The smallest parts into which a call can be divided, in a safe order. All changes at one name stay in one part. The creation of the zone comes first. */
function partsOf(call: Changeset, { provider, reference, existing }: CallRun): Changeset[] {
  const [lead] = call.changes
  const creates = lead?.subject === 'domain' && lead.action === 'create'
  const changes = creates ? call.changes.slice(1) : call.changes
  const indexes = creates ? call.indexes.slice(1) : call.indexes
  const zone = creates ? lead.name : reference?.name
  const records = changes.flatMap((change) => (change.subject === 'record' ? [{ ...change, after: [] }] : []))
  if (zone === undefined || records.length < changes.length) return []
  const { calls: rules, maxRecords } = provider.capabilities
  const headroom = (maxRecords ?? Number.POSITIVE_INFINITY) - existing.length
  // Single records of an RRset stay together, too.
  const carried = carryRrsets(records, existing, { ...rules, unit: 'rrset', maxUnits: null }, headroom, zone, true)
  const parts = changesetsOf(carried.changes, existing, rules)
  const waits = parts.map(({ after }) => new Set(after))
  const byName = new Map<string, number>()
  parts.forEach((part, number) => {
    for (const { name } of part.changes) {
      const other = byName.get(name) ?? number
      byName.set(name, number)
      if (other === number) continue
      waits[number]?.add(other)
      waits[other]?.add(number)
    }
  })
  const components = stronglyConnectedComponents(waits)
  const componentOf = new Map(components.flatMap((numbers, at) => numbers.map((number) => [number, at] as const)))
  const divided = components.map((numbers, at) => {
    const part = join(numbers.map((number) => parts[number] as Changeset))
    const before = new Set(numbers.flatMap((number) => [...(waits[number] ?? [])].map((one) => componentOf.get(one) as number)))
    return { ...part, indexes: part.indexes.map((index) => indexes[index] as number), after: [...before].filter((one) => one !== at) }
  })
  if (!creates) return divided
  const first = { indexes: call.indexes.slice(0, 1), changes: call.changes.slice(0, 1), rrsets: [], after: [] }
  return [first, ...divided.map((part) => ({ ...part, after: [0, ...part.after.map((one) => one + 1)] }))]
}

/** One call with all that these parts carry. */
const join = (parts: readonly Changeset[]): Changeset => ({
  indexes: parts.flatMap(({ indexes }) => indexes),
  changes: parts.flatMap(({ changes }) => changes),
  rrsets: parts.flatMap(({ rrsets }) => rrsets).sort(compareRrsets),
  after: [],
})
