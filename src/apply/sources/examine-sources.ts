/** What `doctor` says of the sources of zones. Changes nothing. */
import type { DoctorFinding } from '../../dns/doctor-finding.ts'
import type { ZoneQuery } from '../../dns/zone-source.ts'
import type { SourceState } from '../../plan/source-state.ts'
import { diagnosticOf } from '../../providers/provider.ts'
import { counted } from '../../report/english.ts'
import { type JournalStore, StoreError } from '../journal/store/journal-store.ts'
import type { Workspace, ZoneJob } from '../run-context.ts'
import { createSourceReader, hasSources, type SourceReader, zonesOfSources } from './read-sources.ts'
import { readState } from './source-states.ts'

/** Reads the zones that are sources, and what is known of earlier reads. Inventories are examined with their providers. */
export async function examineSources(
  { jobs, providers }: Pick<Workspace, 'jobs' | 'providers'>,
  openStore: () => Promise<JournalStore>,
): Promise<readonly DoctorFinding[]> {
  const sourced = jobs.filter(({ desired }) => hasSources(desired))
  if (sourced.length === 0) return []
  const reader = createSourceReader(jobs, providers)
  const places = [...zonesOfSources(jobs)].flatMap(([provider, zones]) => [...zones].map((zone) => ({ provider, zone })))
  const read = await Promise.all(places.map((place) => examineZone(place, reader)))
  return [...read, ...(await examineStates(sourced, openStore))]
}

async function examineZone(place: Pick<ZoneQuery, 'provider' | 'zone'>, reader: SourceReader): Promise<DoctorFinding> {
  try {
    const { records, version } = await reader.readZone(place)
    const serial = version?.serial == null ? '' : `, serial ${version.serial}`
    return {
      status: 'ok',
      check: 'sources',
      message: `${place.zone} at ${place.provider} has ${counted(records.length, 'record')}${serial}`,
    }
  } catch (error) {
    const { message, hint = 'its record sets stay as they are until it can be read' } = diagnosticOf(error)
    return { status: 'error', check: 'sources', message: `${place.zone} at ${place.provider} cannot be read: ${message}`, hint }
  }
}

async function examineStates(jobs: readonly ZoneJob[], openStore: () => Promise<JournalStore>): Promise<DoctorFinding[]> {
  let store: JournalStore | null = null
  try {
    store = await openStore()
    const findings: DoctorFinding[] = []
    for (const { desired, target } of jobs)
      findings.push(...stateFindings(`${desired.name} at ${target}`, (await readState(store, desired.name, target)).state))
    return findings
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return [{ status: 'warning', check: 'sources', message: `reads of sources are not counted: ${error.message}`, hint: error.hint }]
  } finally {
    await store?.close()
  }
}

function stateFindings(zone: string, { absent, sources }: SourceState): DoctorFinding[] {
  const since = (times: readonly number[]): string => new Date(Math.min(...times)).toISOString()
  const missing = [...absent.values()].map((value) => value.since)
  const unread = [...sources].flatMap(([source, { unreadSince }]) => (unreadSince === null ? [] : [{ source, unreadSince }]))
  return [
    ...unread.map(
      ({ source, unreadSince }): DoctorFinding => ({
        status: 'warning',
        check: 'sources',
        message: `${zone}: ${source} could not be used since ${since([unreadSince])}`,
      }),
    ),
    ...(missing.length === 0
      ? []
      : [
          {
            status: 'warning',
            check: 'sources',
            message: `${zone}: ${counted(missing.length, 'value')} that the sources no longer have, the first since ${since(missing)}`,
            hint: '"zonewright plan" names them and says when they are removed',
          } as const,
        ]),
  ]
}
