/** Sends one change of a plan, and finds out whether a creation without a response was applied. */
import type { ResourceRecord } from '../dns/record.ts'
import { type ExistingRecord, sameRecord } from '../dns/record.ts'
import type { Change, DomainChange, Outcome, RecordChange } from '../plan/plan.ts'
import { type AppliedChange, type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../providers/provider.ts'
import { sleep } from '../transport/retry.ts'

/** Maximum number of times a creation is sent. Before each repetition the zone is searched for the record. */
const TRIES = 3

/** The result of one change. */
export interface ChangeResult {
  readonly outcome: Outcome
  /** The failure; also the error of a call that turned out to be applied. */
  readonly error?: ProviderError | undefined
  /** The zone after a change to the zone itself. */
  readonly zone?: ZoneReference | undefined
  /** The stored record, if it differs from the record sent. */
  readonly stored?: ResourceRecord | undefined
  /** Whether the record to delete did not exist any more. */
  readonly wasGone?: boolean
}

export interface ChangeRun {
  readonly provider: Provider
  /** The zone when the call is sent; null before it is created. */
  readonly reference: ZoneReference | null
  readonly options: ProviderCallOptions
  readonly findUnacknowledgedCreate: FindUnacknowledgedCreate
  /** Identifiers of records whose origin is known. Created records are added. */
  readonly claimed: Set<number | string>
  /** Milliseconds to wait after a connection broke, so that the server can finish, before the zone is searched. */
  readonly recoveryPause: number
  /** Called before each call is sent. */
  readonly onCall: () => void
}

/**
 * Sends one change. If a creation gets no response, the zone is searched before it is sent again: if the record exists, the creation was applied. Otherwise it
 * is sent again only if the server has finished the first call, so it cannot be applied twice.
 */
export async function applyChange(change: Change, run: ChangeRun): Promise<ChangeResult> {
  let unanswered: ProviderError | null = null
  for (let attempt = 1; ; attempt += 1) {
    run.onCall()
    const result = await callOnce(change, run)
    const { error } = result
    if (!error) return result
    if (error.ambiguous) unanswered = error
    // After an unanswered call even a refusal may mean that it was applied: the name is taken, by this run.
    if (change.action !== 'create' || unanswered === null || error.notSent) return finalResult(change, result, unanswered)
    const found = await lookUp(change, run, attempt)
    if (found === 'unreadable') return { outcome: { state: 'unknown', error: failureText(unanswered) }, error: unanswered }
    if (found !== null) return { ...found, error: unanswered }
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

/** Throws if the identifier in the response is that of another record: then it is the response to another request. */
function claim({ id }: AppliedChange, change: RecordChange, { claimed, provider }: ChangeRun): void {
  if (id === null) return
  if (claimed.has(id)) {
    const message = `${provider.name}: creating ${change.name} ${change.type}: the response has the identifier of another record, ${id}`
    throw new ProviderError('provider-garbled', message, { ambiguous: true })
  }
  claimed.add(id)
}

/** The result of a failed call that needs no search of the zone. */
function finalResult(change: Change, result: ChangeResult, unanswered: ProviderError | null): ChangeResult {
  const { error } = result
  if (error?.notSent && unanswered !== null) return { outcome: { state: 'unknown', error: failureText(unanswered) }, error: unanswered }
  if (error?.code !== 'provider-not-found' || change.subject !== 'record' || error.ambiguous) return result
  if (change.action === 'delete') return { outcome: { state: 'applied', id: change.id ?? undefined }, wasGone: true }
  if (change.action === 'create') return result
  return {
    error,
    outcome: { state: 'failed', error: `${error.message}: another client deleted the record after it was read for the plan` },
  }
}

type LookedUp = ChangeResult | 'unreadable' | null

async function lookUp(change: Change, run: ChangeRun, attempt: number): Promise<LookedUp> {
  const { options, recoveryPause } = run
  await sleep(recoveryPause * 2 ** (attempt - 1), options.stop).catch(() => undefined)
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

/** The message of a failure with its hint. */
export const failureText = ({ message, hint }: ProviderError): string => (hint === undefined ? message : `${message} (${hint})`)

/** Finds the record of a creation without a response: an equal record that did not exist before and that no other call created. */
type FindUnacknowledgedCreate = (zone: ZoneReference, record: ResourceRecord) => Promise<ExistingRecord | null>

/**
 * Creates a finder for one zone. A search that is requested during a read waits for the next read, since a read that started before the call failed proves
 * nothing. `claimed` holds the identifiers of records whose origin is known. Found records are added.
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
