/** Fills the zone of a job with the record sets of its sources. */
import { checkZone } from '../../definition/rules/rules.ts'
import { type Diagnostic, isError } from '../../dns/diagnostic.ts'
import type { DesiredZone, ExistingZone } from '../../dns/zone.ts'
import { type FilledZone, type FillInput, fillZone } from '../../plan/fill-zone.ts'
import { NO_SOURCE_STATE, type SourceState, sameState } from '../../plan/source-state.ts'
import type { SourceReading } from '../../plan/sourced-sets.ts'
import { type JournalStore, StoreError } from '../journal/store/journal-store.ts'
import type { ZoneJob } from '../run-context.ts'
import { hasSources, type SourceReader } from './read-sources.ts'
import { readState, type StoredState, updateState } from './source-states.ts'

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
