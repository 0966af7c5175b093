import type { ResourceRecord } from '../dns/record.ts'
import { type ExistingRecord, sameRecord } from '../dns/record.ts'
import type { Change, DomainChange, Outcome, RecordChange } from '../plan/plan.ts'
import { type AppliedChange, type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../providers/provider.ts'
import { sleep } from '../transport/retry.ts'

/** Times a creation is sent, each after the one before was looked for and not found. */
const TRIES = 3

/** What became of one change, and what else was seen with it. */
export interface ChangeResult {
  readonly outcome: Outcome
  /** The failure, or of a change that was carried out all the same what came in the place of its answer. */
  readonly error?: ProviderError | undefined
  /** The zone after a change to the zone itself. */
  readonly zone?: ZoneReference | undefined
  /** What is stored, where it is not what was sent. */
  readonly stored?: ResourceRecord | undefined
  /** What was to be deleted was gone before. */
  readonly wasGone?: boolean
}

export interface ChangeRun {
  readonly provider: Provider
  /** The zone as it is when the call goes out; null before it is created. */
  readonly reference: ZoneReference | null
  readonly options: ProviderCallOptions
  readonly findUnacknowledgedCreate: FindUnacknowledgedCreate
  /** Identifiers of records whose origin is known; what is made is added. */
  readonly claimed: Set<number | string>
  /** Milliseconds a server gets to end what it was at when the connection broke, before it is asked what it did. */
  readonly settlePause: number
  /** Called before each call goes out. */
  readonly onCall: () => void
}

/**
 * Makes one change. A creation whose answer was lost is never sent again before the zone was read: what is found there was carried out. What is
 * not found is sent again only where the server has ended with the lost call, so that it cannot be carried out twice.
 */
export async function applyChange(change: Change, run: ChangeRun): Promise<ChangeResult> {
  let lost: ProviderError | null = null
  for (let attempt = 1; ; attempt += 1) {
    run.onCall()
    const result = await callOnce(change, run)
    const { error } = result
    if (!error) return result
    if (error.ambiguous) lost = error
    // After a lost call also a refusal may mean that it was carried out: the name is taken, by us.
    if (change.action !== 'create' || lost === null || error.notSent) return settled(change, result, lost)
    const found = await lookUp(change, run, attempt)
    if (found === 'unreadable') return { outcome: { state: 'unknown', error: failureText(lost) }, error: lost }
    if (found !== null) return { ...found, error: lost }
    if (!error.ambiguous) return result
    const mayRepeat = (!error.mayCompleteLater || change.subject === 'domain') && attempt < TRIES && !run.options.stop?.aborted
    if (!mayRepeat) return result
  }
}

async function callOnce(change: Change, run: ChangeRun): Promise<ChangeResult> {
  try {
    const applied = await run.provider.applyChange(run.reference, change, run.options)
    if (change.action === 'create' && change.subject === 'record') claim(applied, change, run)
    const { zone, stored } = applied
    return { outcome: { state: 'applied', id: applied.id ?? undefined }, zone, stored }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return { outcome: { state: error.ambiguous ? 'unknown' : 'failed', error: failureText(error) }, error }
  }
}

/** An answer with the number of a record that was there before, or that another call made, is the answer to another request. */
function claim({ id }: AppliedChange, change: RecordChange, { claimed, provider }: ChangeRun): void {
  if (id === null) return
  if (claimed.has(id)) {
    const message = `${provider.name}: creating ${change.name} ${change.type}: the answer has the number of another record, ${id}`
    throw new ProviderError('provider-garbled', message, { ambiguous: true })
  }
  claimed.add(id)
}

/** A change that ended with a failure which no reading in between can settle. */
function settled(change: Change, result: ChangeResult, lost: ProviderError | null): ChangeResult {
  const { error } = result
  if (error?.notSent && lost !== null) return { outcome: { state: 'unknown', error: failureText(lost) }, error: lost }
  if (error?.code !== 'provider-not-found' || change.subject !== 'record' || error.ambiguous) return result
  if (change.action === 'delete') return { outcome: { state: 'applied', id: change.id ?? undefined }, wasGone: true }
  if (change.action === 'create') return result
  return { error, outcome: { state: 'failed', error: `${error.message}: somebody else deleted the record after it was read for the plan` } }
}

type LookedUp = ChangeResult | 'unreadable' | null

async function lookUp(change: Change, run: ChangeRun, attempt: number): Promise<LookedUp> {
  const { options, settlePause } = run
  await sleep(settlePause * 2 ** (attempt - 1), options.stop).catch(() => undefined)
  if (options.stop?.aborted) return 'unreadable'
  try {
    return change.subject === 'domain' ? await findZone(change, run) : await findRecord(change, run)
  } catch (error) {
    if (error instanceof ProviderError) return 'unreadable'
    throw error
  }
}

async function findZone({ name }: DomainChange, { provider, options }: ChangeRun): Promise<ChangeResult | null> {
  const zone = (await provider.findZones([name], options)).get(name)
  return zone ? { outcome: { state: 'applied', id: zone.id }, zone } : null
}

async function findRecord({ desired }: RecordChange, { findUnacknowledgedCreate, reference }: ChangeRun): Promise<ChangeResult | null> {
  const found = reference && desired && (await findUnacknowledgedCreate(reference, desired))
  return found ? { outcome: { state: 'applied', id: found.id } } : null
}

export const failureText = ({ message, hint }: ProviderError): string => (hint === undefined ? message : `${message} (${hint})`)

/** Looks for a record whose creation was not answered: one like it that no call is known to have made and that was not there before. */
type FindUnacknowledgedCreate = (zone: ZoneReference, record: ResourceRecord) => Promise<ExistingRecord | null>

/**
 * A finder for one zone. What is asked for while a reading is under way is read together with the next one: a reading that began before a
 * call was lost says nothing of it. `claimed` are the identifiers of the records whose origin is known; what is found is added.
 */
export function createUnacknowledgedCreateFinder(
  provider: Provider,
  claimed: Set<number | string>,
  options: ProviderCallOptions,
): FindUnacknowledgedCreate {
  let waiting: { readonly record: ResourceRecord; readonly resolve: (reading: Promise<readonly ExistingRecord[]>) => void }[] = []
  let reading: Promise<unknown> | null = null

  const readNext = (zone: ZoneReference): void => {
    const batch = waiting
    waiting = []
    const records = batch.map(({ record }) => record)
    const read = provider.findRecords
      ? provider.findRecords(zone, records, options)
      : provider.readZone(zone, options).then((whole) => whole.records)
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

  return async (zone, record) => {
    const live = await new Promise<readonly ExistingRecord[]>((resolve) => {
      waiting.push({ record, resolve })
      if (reading === null) readNext(zone)
    })
    const found = live.find((one) => one.id !== undefined && !claimed.has(one.id) && sameRecord(one, record))
    if (found?.id !== undefined) claimed.add(found.id)
    return found ?? null
  }
}
