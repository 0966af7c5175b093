/** Fills the zone of a job with the record sets of its sources, and stores what the reads showed in the journal's store, where every machine finds it. */
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import { checkZone } from '../../checks/rules/rules.ts'
import { isSerial, type SerialNumber } from '../../dns/serial-number.ts'
import type { DesiredZone, ExistingZone } from '../../dns/zone.ts'
import { MAX_QUARANTINE } from '../../dns/zone-source.ts'
import { type FilledZone, type FillInput, fillZone } from '../../plan/fill-zone.ts'
import type { ZoneJob } from '../../plan/planned-zone.ts'
import { type AbsentValue, MAX_ABSENT, NO_SOURCE_STATE, type SourceFacts, type SourceState, sameState } from '../../plan/source-state.ts'
import type { SourceReading } from '../../plan/sourced-sets.ts'
import { keepOutOfGit } from '../../stored/journal/journal-folder.ts'
import { type JournalStore, StoreError, storeName } from '../../stored/store/journal-store.ts'
import { hasSources, type SourceReader } from './read-sources.ts'

/** The sources of a run, and what earlier runs know of them. */
export interface SourceAccess {
  readonly reader: SourceReader
  /** Rejects with `StoreError`. Null if nothing is known and no read is counted: whatever a source lacks is kept. */
  readonly store: Promise<JournalStore> | null
  /** Whether the reads of this run count. */
  readonly counts: boolean
  readonly now: () => Date
}

export interface FilledJob extends Pick<FilledZone, 'untouched' | 'quarantine' | 'diagnostics'> {
  readonly job: ZoneJob
  /** The zone as it is defined. */
  readonly defined: DesiredZone
  /** What is known after this read; null if the zone has no sources. */
  readonly sourceState: SourceState | null
}

/** Reads the sources of a job and fills its zone. With `known`, that is the state, and none is read or written. */
export async function fillJob(job: ZoneJob, existing: ExistingZone | null, access: SourceAccess, known?: SourceState): Promise<FilledJob> {
  const { desired, target } = job
  if (!hasSources(desired)) return { job, defined: desired, untouched: [], quarantine: [], diagnostics: [], sourceState: null }
  const read = await access.reader.read(job)
  const input = {
    desired,
    existing,
    target,
    readings: withoutInvalid(job, existing, read.readings, access),
    now: access.now().getTime(),
    isAllowed: job.allow.has('quarantined'),
  }
  const { filled, problems } =
    known === undefined ? await fillWithStore(input, access) : { filled: fillZone({ ...input, state: known }), problems: [] }
  const broken = checkZone(filled.desired).filter(isError)
  return {
    job: { ...job, desired: filled.desired },
    defined: desired,
    untouched: filled.untouched,
    quarantine: filled.quarantine,
    diagnostics: [...read.diagnostics, ...filled.diagnostics, ...problems, ...broken],
    sourceState: filled.state,
  }
}

async function fillWithStore(
  input: Omit<FillInput, 'state'>,
  { store, counts }: SourceAccess,
): Promise<{ readonly filled: FilledZone; readonly problems: readonly Diagnostic[] }> {
  const { desired, target } = input
  if (store === null) return { filled: fillZone({ ...input, state: NO_SOURCE_STATE }), problems: [] }
  let isDamaged = false
  const fill = (stored: StoredState) => {
    isDamaged = stored.isDamaged
    const result = fillZone({ ...input, state: stored.state })
    return { result, isChanged: !sameState(result.state, stored.state) }
  }
  try {
    const filled = counts
      ? await updateState(await store, desired.name, target, fill)
      : fill(await readState(await store, desired.name, target)).result
    return { filled, problems: isDamaged ? [unstored(desired.name, 'what was stored is damaged, so the count begins again')] : [] }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    // Nothing is known, so everything is kept.
    const filled = fillZone({ ...input, state: NO_SOURCE_STATE })
    return { filled, problems: [{ ...unstored(desired.name, error.message), hint: error.hint }] }
  }
}

const unstored = (zone: string, why: string): Diagnostic => ({
  severity: 'warning',
  code: 'quarantine-unstored',
  message: `${zone}: reads of its sources are not counted: ${why}`,
})

/** The readings, of which those whose records break a rule of the DNS in this zone are failures: one record must not keep the zone from being planned. */
function withoutInvalid(
  { desired, target }: ZoneJob,
  existing: ExistingZone | null,
  readings: readonly SourceReading[],
  { now }: SourceAccess,
): readonly SourceReading[] {
  const { desired: filled } = fillZone({
    desired,
    existing,
    target,
    readings,
    state: NO_SOURCE_STATE,
    now: now().getTime(),
    isAllowed: true,
  })
  const problems = checkZone(filled).filter(isError)
  if (problems.length === 0) return readings
  return readings.map((reading): SourceReading => {
    const isOf = ({ at }: Pick<Diagnostic, 'at'>): boolean =>
      at !== undefined && at.file === reading.at.file && at.line === reading.at.line && at.column === reading.at.column
    const problem = problems.find((one) => isOf(one) || (one.related ?? []).some(isOf))
    if (problem === undefined || reading.result.state === 'failed') return reading
    const { message, hint } = problem
    return {
      ...reading,
      result: {
        state: 'failed',
        problem: { severity: 'warning', code: 'source-unreadable', message: `it cannot be used: ${message}`, hint },
      },
    }
  })
}

const FORMAT = 'zonewright-quarantine'
const VERSION = 1

/** Maximum characters of a state: `MAX_ABSENT` values of the longest names. */
const MAX_LENGTH = MAX_ABSENT * 1200

/** Attempts to write a state that other runs write, too. */
const ATTEMPTS = 8

/** Where the state of a zone at a target is kept. */
export const stateName = (zone: string, target: string): string => storeName('quarantine', zone, target)

/** A state as it was stored. */
interface StoredState {
  readonly state: SourceState
  /** Null if there is none. */
  readonly version: string | null
  /** Whether something was stored that is no state: the count begins again. */
  readonly isDamaged: boolean
}

/** Reads the state of a zone at a target. Throws `StoreError`. */
export async function readState(store: JournalStore, zone: string, target: string): Promise<StoredState> {
  const stored = await store.read(stateName(zone, target))
  if (stored === null) return { state: NO_SOURCE_STATE, version: null, isDamaged: false }
  const state = parseState(stored.text, zone, target)
  return { state: state ?? NO_SOURCE_STATE, version: stored.version, isDamaged: state === null }
}

/**
 * Replaces the state of a zone at a target by what `next` makes of it, and returns the result of `next`. If another run has written it meanwhile, `next` is called
 * again with that state, so no count is lost. Throws `StoreError`.
 */
export async function updateState<Result extends { readonly state: SourceState }>(
  store: JournalStore,
  zone: string,
  target: string,
  next: (stored: StoredState) => { readonly result: Result; readonly isChanged: boolean },
): Promise<Result> {
  const name = stateName(zone, target)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const stored = await readState(store, zone, target)
    const { result, isChanged } = next(stored)
    if (!isChanged && !stored.isDamaged) return result
    const { sources, absent } = result.state
    const isEmpty = sources.size === 0 && absent.size === 0
    if (isEmpty && stored.version === null) return result
    const done = isEmpty
      ? (await store.remove(name, stored.version as string)) === 'removed'
      : (await store.write(name, stateText(result.state, zone, target), stored.version)).state === 'written'
    if (done) {
      if (!store.isShared) keepOutOfGit(store.address)
      return result
    }
  }
  throw new StoreError(`${name} in ${store.address} is written by other runs all the time`)
}

/** Keys are sorted, so that equal states have equal texts. */
function stateText({ sources, absent }: SourceState, zone: string, target: string): string {
  const entries = <Value>(map: ReadonlyMap<string, Value>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify({
    format: FORMAT,
    version: VERSION,
    zone,
    target,
    sources: entries(sources).map(([source, { version, unreadSince }]) => [
      source,
      version?.serial ?? null,
      version?.updated ?? null,
      unreadSince,
    ]),
    absent: entries(absent).map(([key, { since, counted, reads }]) => [key, since, counted, reads]),
  })
}

/** Null if the text is no state of the zone at the target. */
function parseState(text: string, zone: string, target: string): SourceState | null {
  const document = text.length > MAX_LENGTH ? null : parseJson(text)
  if (typeof document !== 'object' || document === null) return null
  const { format, version, zone: ofZone, target: ofTarget, sources, absent } = document as Readonly<Record<string, unknown>>
  if (format !== FORMAT || version !== VERSION || ofZone !== zone || ofTarget !== target) return null
  if (!Array.isArray(sources) || !Array.isArray(absent) || absent.length > MAX_ABSENT) return null
  const facts = new Map<string, SourceFacts>()
  for (const entry of sources as readonly unknown[]) {
    if (!Array.isArray(entry)) return null
    const [source, serial, updated, unreadSince] = entry as readonly unknown[]
    if (typeof source !== 'string' || ![updated, unreadSince].every((time) => time === null || isTime(time))) return null
    if (serial !== null && !isSerial(serial)) return null
    const known = serial === null && updated === null ? null : { serial: serial as SerialNumber | null, updated: updated as number | null }
    facts.set(source, { version: known, unreadSince: unreadSince as number | null })
  }
  const values = new Map<string, AbsentValue>()
  for (const entry of absent as readonly unknown[]) {
    if (!Array.isArray(entry)) return null
    const [key, since, counted, reads] = entry as readonly unknown[]
    if (typeof key !== 'string' || !isTime(since) || !isTime(counted) || !isTime(reads)) return null
    values.set(key, { since, counted, reads })
  }
  return { sources: facts, absent: values }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The greatest time of a date, less the longest rule. */
const MAX_TIME = 8.64e15 - MAX_QUARANTINE.seconds * 1000

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TIME
