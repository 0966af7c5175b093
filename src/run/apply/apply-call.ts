/** Makes one call, and finds out what became of it if no response comes. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ExistingRecord, ResourceRecord } from '../../dns/record.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { carryRrsets } from '../../plan/carry-changes.ts'
import { type Changeset, changesetsOf, compareRrsets } from '../../plan/changesets.ts'
import { differingSettings } from '../../plan/domain-change.ts'
import type { Change, DomainChange, Outcome } from '../../plan/plan.ts'
import { stronglyConnectedComponents } from '../../plan/topological-order.ts'
import { type AppliedCall, type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../../providers/provider.ts'
import { sleep } from '../../transport/retry.ts'
import { blockedBy } from './call-graph.ts'
import { indexRecords, judgeCall, judgeCreation, outcomeOf, type RecordIndex, type Verdict } from './judge-call.ts'

/** Maximum number of times a call is sent. Before each repetition the zone is read. */
const TRIES = 3

/** The result of one change of a call. */
export interface ChangeResult {
  readonly outcome: Outcome
  /** The failure; also the error of a call that turned out to be applied. */
  readonly error?: ProviderError | undefined
  /** Whether the provider may still complete an unanswered attempt. */
  readonly mayCompleteLater?: boolean
  /** The zone after a change to the zone itself. */
  readonly zone?: ZoneReference | undefined
  /** The stored record, if it differs from the record sent. */
  readonly stored?: ResourceRecord | undefined
  /** See `AppliedCall`; for the first change of a call only. */
  readonly storedRecords?: readonly ExistingRecord[] | undefined
  /** What failed after the change was made; for the first change of a call only. */
  readonly problems?: readonly Diagnostic[] | undefined
  /** Whether the record to delete did not exist any more. */
  readonly wasGone?: boolean
}

export interface CallContext {
  readonly provider: Provider
  /** The zone when the call is sent; null before it is created. */
  readonly reference: ZoneReference | null
  /** The records of the zone before the calls of the run. */
  readonly existing: readonly ExistingRecord[]
  readonly options: ProviderCallOptions
  readonly reread: Reread
  /** Identifiers of records whose origin is known. Created records are added. */
  readonly claimed: Set<number | string>
  /** Milliseconds to wait after a connection broke, so that the server can finish, before the zone is read. */
  readonly recoveryPause: number
  /** Called before the call is sent, repetitions included. Returns why it must not be sent; null if it may. */
  readonly onCall: (call: Changeset) => Promise<string | null>
}

/**
 * Sends a call and returns one result per change. If the result is uncertain, reads the zone: records as desired mean that the call was applied. If
 * nothing has changed, sends the call again, provided that a second application is impossible or harmless (`mayRepeat`).
 */
export async function applyCall(call: Changeset, context: CallContext): Promise<ChangeResult[]> {
  let uncertain: ProviderError | null = null
  let mayCompleteLater = false
  for (let attempt = 1; ; attempt += 1) {
    const forbidden = await context.onCall(call)
    if (forbidden !== null) return each(call, unsent(forbidden, uncertain, mayCompleteLater))
    const { results, error } = await callOnce(call, context)
    if (error === undefined) return results
    // A refused call of a target that is not atomic may have been applied in part.
    const isUncertain = error.ambiguous || !context.provider.capabilities.calls.atomic
    if (isUncertain && !error.notSent) {
      uncertain = error
      mayCompleteLater ||= error.mayCompleteLater
    }
    // After an uncertain call, a refusal may mean that it was applied: this run has taken the name.
    if (uncertain === null) return results.map((result, position) => resultOfRefusal(call.changes[position] as Change, result))
    if (error.notSent) return each(call, unresolved(uncertain, mayCompleteLater))
    const reading = await lookUp(call, context, attempt)
    if (reading === null) return each(call, unresolved(uncertain, mayCompleteLater))
    const isUnchanged = reading.verdicts.every(({ state }) => state === 'not-applied')
    if (isUnchanged && error.ambiguous && mayRepeat(call, error, context) && attempt < TRIES && !context.options.stop?.aborted) continue
    if (isUnchanged && !error.ambiguous) return results
    return reading.verdicts.map((verdict) => resultOfVerdict(verdict, uncertain as ProviderError, mayCompleteLater, reading.zone))
  }
}

/** The result of a call that is not sent, or not sent again. */
const unsent = (because: string, uncertain: ProviderError | null, mayCompleteLater: boolean): ChangeResult =>
  uncertain === null ? { outcome: { state: 'skipped', because } } : unresolved(uncertain, mayCompleteLater)

const unresolved = (error: ProviderError, mayCompleteLater: boolean): ChangeResult => ({
  outcome: { state: 'unknown', error: messageWithHint(error) },
  error,
  mayCompleteLater,
})

const each = ({ indexes }: Changeset, result: ChangeResult): ChangeResult[] => indexes.map(() => result)

/** The message of a failure with its hint. */
const messageWithHint = ({ message, hint }: ProviderError): string => (hint === undefined ? message : `${message} (${hint})`)

async function callOnce(call: Changeset, context: CallContext): Promise<{ results: ChangeResult[]; error?: ProviderError }> {
  try {
    const applied = await context.provider.apply(context.reference, call, context.options)
    claim(applied, call, context)
    const results = call.changes.map((change, position): ChangeResult => {
      const { id = change.id ?? undefined, stored } = applied.changes?.[position] ?? {}
      const ofCall = position === 0 ? { problems: applied.problems, storedRecords: applied.storedRecords } : {}
      return { outcome: { state: 'applied', id }, zone: applied.zone, stored, ...ofCall }
    })
    return { results }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return {
      results: each(call, { outcome: { state: error.ambiguous ? 'unknown' : 'failed', error: messageWithHint(error) }, error }),
      error,
    }
  }
}

/** Throws if the identifier in the response is that of another record: then it is the response to another request. */
function claim({ changes: applied }: AppliedCall, { changes }: Changeset, { claimed, provider }: CallContext): void {
  const own = new Set<number | string>()
  for (const [position, change] of changes.entries()) {
    const id = applied?.[position]?.id
    if (id === undefined || change.action !== 'create' || change.subject !== 'record') continue
    if (claimed.has(id) || own.has(id)) {
      const message = `${provider.name}: creating ${change.name} ${change.type}: the response has the identifier of another record, ${id}`
      throw new ProviderError('provider-garbled', message, { ambiguous: true })
    }
    own.add(id)
  }
  for (const id of own) claimed.add(id)
}

/** The result of a refused change. Deleting a record that no longer exists is a success. */
function resultOfRefusal(change: Change, result: ChangeResult): ChangeResult {
  const { error } = result
  if (error?.code !== 'provider-not-found' || change.subject !== 'record' || change.action === 'create') return result
  if (change.action === 'delete') return { outcome: { state: 'applied', id: change.id ?? undefined }, wasGone: true }
  return {
    error,
    outcome: { state: 'failed', error: `${error.message}: another client deleted the record after it was read for the plan` },
  }
}

/** The result of a change, judged from a read. A conflict, or a change that may complete later, stays unknown until the final read. */
function resultOfVerdict(verdict: Verdict, error: ProviderError, mayCompleteLater: boolean, zone: ZoneReference | undefined): ChangeResult {
  const isOpen = verdict.state === 'conflict' || (verdict.state === 'not-applied' && mayCompleteLater)
  const outcome: Outcome = isOpen ? { state: 'unknown', error: messageWithHint(error) } : outcomeOf(verdict, messageWithHint(error), false)
  return { outcome, error, mayCompleteLater, zone }
}

/**
 * Whether a call that was not applied may be sent again. One that may complete later is sent again only if that does no harm: a second zone creation is refused,
 * and a second call for an RRset is refused or leaves the same RRset, unless the service adds its records twice. Updates and deletions of single records, and settings of zones beside them, were already repeated by the provider.
 */
function mayRepeat({ changes }: Changeset, { mayCompleteLater }: ProviderError, { provider }: CallContext): boolean {
  const [first] = changes as [Change]
  const { unit, addsTwice = false } = provider.capabilities.calls
  if (first.subject === 'domain') return first.action === 'create' || (first.action === 'update' && unit === 'rrset' && !mayCompleteLater)
  if (unit === 'rrset') return !(addsTwice && mayCompleteLater)
  return changes.every(({ action }) => action === 'create') && !mayCompleteLater
}

interface Reading {
  /** One per change. */
  readonly verdicts: readonly Verdict[]
  /** The zone, if the call was to change it. */
  readonly zone?: ZoneReference | undefined
}

/** Null if the zone cannot be read. */
async function lookUp(call: Changeset, context: CallContext, attempt: number): Promise<Reading | null> {
  const { options, recoveryPause, reference } = context
  await sleep(recoveryPause * 2 ** (attempt - 1), options.stop).catch(() => undefined)
  if (options.stop?.aborted) return null
  try {
    const [first] = call.changes as [Change]
    if (first.subject === 'domain') return await judgeZone(first, call, context)
    if (reference === null) return null
    return { verdicts: judgeCall(call, await context.reread(reference, recordsOf(call)), context.claimed) }
  } catch (error) {
    if (error instanceof ProviderError) return null
    throw error
  }
}

const recordsOf = ({ changes }: Changeset): ResourceRecord[] =>
  changes.flatMap((change) => (change.subject === 'record' ? [change.existing, change.desired] : [])).filter((record) => record !== null)

async function judgeZone({ action, name, desired }: DomainChange, call: Changeset, context: CallContext): Promise<Reading> {
  const zone = (await context.provider.findZones([name], context.options)).get(name)
  if (action === 'create') {
    const carriesRecords = call.changes.length > 1
    const live = zone === undefined ? null : carriesRecords ? await context.reread(zone, recordsOf(call)) : indexRecords([])
    return { verdicts: judgeCreation(call, live, context.claimed, zone?.id), zone }
  }
  const isApplied = action === 'delete' ? zone === undefined : differsNowhere(zone, desired)
  return { verdicts: [isApplied ? { state: 'applied', id: zone?.id } : { state: 'not-applied' }], zone }
}

const differsNowhere = (zone: ZoneReference | undefined, desired: ZoneSettings | null): boolean =>
  zone !== undefined && differingSettings(zone.settings, desired ?? {}).length === 0

/** Reads at least the records with the owners and types of these. */
type Reread = (zone: ZoneReference, like: readonly ResourceRecord[]) => Promise<RecordIndex>

/**
 * Creates a reader for one zone that combines requests. A request during a read waits for the next one, since a read that started before the call failed
 * proves nothing.
 */
export function createReread(provider: Provider, options: ProviderCallOptions): Reread {
  let waiting: { readonly like: readonly ResourceRecord[]; readonly resolve: (reading: Promise<RecordIndex>) => void }[] = []
  let reading: Promise<unknown> | null = null

  const readNext = (zone: ZoneReference): void => {
    const batch = waiting
    waiting = []
    const records = provider.findRecords
      ? provider.findRecords(
          zone,
          batch.flatMap(({ like }) => like),
          options,
        )
      : provider.readZone(zone, options).then((whole) => whole.records)
    const read = records.then(indexRecords)
    reading = read.then(
      () => undefined,
      () => undefined,
    )
    void reading.then(() => {
      reading = null
      if (waiting.length > 0) readNext(zone)
    })
    for (const { resolve } of batch) resolve(read)
  }

  return (zone, like) =>
    new Promise<RecordIndex>((resolve) => {
      waiting.push({ like, resolve })
      if (reading === null) readNext(zone)
    })
}

/** Refused parts after which a part that is refused is not divided any more: the target probably refuses everything. */
const MOST_REFUSED = 100

/** Makes a call, in parts if the target refuses it. Returns one result per change. */
export async function applyDivided(call: Changeset, context: CallContext): Promise<ChangeResult[]> {
  let { reference } = context
  const whole = await applyCall(call, context)
  const parts = isRefused(whole, context) ? partsOf(call, context) : []
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
    const made = first ?? (await applyCall(joined, { ...context, reference }))
    reference = made[0]?.zone ?? reference
    const half = Math.ceil(open.length / 2)
    if (isRefused(made, context) && open.length > 1 && refused < MOST_REFUSED) {
      await send(open.slice(0, half))
      await send(open.slice(half))
      return
    }
    if (isRefused(made, context)) refused += 1
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
const isRefused = ([first]: readonly ChangeResult[], { provider: { capabilities } }: CallContext): boolean =>
  capabilities.calls.divides === true && first?.outcome.state === 'failed' && first.error?.code === 'provider-rejected'

/** The smallest parts into which a call can be divided, in a safe order. All changes at one name stay in one part. The creation of the zone comes first. */
function partsOf(call: Changeset, { provider, reference, existing }: CallContext): Changeset[] {
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
