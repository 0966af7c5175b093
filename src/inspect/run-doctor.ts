/** `doctor`: checks whether providers and name servers can be reached, and whether tokens may do what the config needs. Changes nothing. */
import { type Diagnostic, isError } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { parseServerAddress } from '../dns/server-address.ts'
import type { InventoryKind, ZoneQuery } from '../dns/zone-source.ts'
import type { ZoneJob } from '../plan/planned-zone.ts'
import type { SourceState } from '../plan/source-state.ts'
import { diagnosticOf, type Provider } from '../providers/provider.ts'
import { createProvider } from '../providers/registry.ts'
import type { Examination } from '../report/doctor-report.ts'
import type { RunSetup, Workspace, WorkspaceOptions } from '../run/context/run-context.ts'
import { describeUndescribed, listUndescribedZones } from '../run/load/removed-zones.ts'
import { loadRunConfig } from '../run/load/run-config.ts'
import { openConfig } from '../run/load/workspace.ts'
import { readState } from '../run/read/fill-job.ts'
import { createSourceReader, hasSources, type SourceReader, zonesOfSources } from '../run/read/read-sources.ts'
import { describeLease } from '../stored/store/acquire-lease.ts'
import { readFences } from '../stored/store/fences.ts'
import { type JournalStore, StoreError } from '../stored/store/journal-store.ts'
import { endOfLease, listLeases } from '../stored/store/leases.ts'
import { openStore, type StoreContext } from '../stored/store/open-store.ts'
import { queryDns } from '../transport/dns-client.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'

/** Examines the config, every provider, and the name servers of the named zones, or all. Reports a config that cannot be used, and returns null. */
export async function runDoctor(setup: RunSetup<WorkspaceOptions>, zones: readonly string[]): Promise<readonly Examination[] | null> {
  const { options, output, environment } = setup
  const { env, secrets, now } = environment
  const { config, diagnostics } = await loadRunConfig(environment, options.config)
  if (config === null) {
    output.diagnostics(diagnostics)
    return null
  }
  const workspace = await openConfig(setup, config, zones)
  try {
    // Zones at providers that the config has no more.
    const orphans = (await workspace.nameRemoved?.({ only: (target) => !config.providers.has(target) })) ?? []
    const findings = [...configFindings([...diagnostics, ...workspace.diagnostics], workspace), ...orphans.map(findingOf)]
    const providers = await Promise.all(
      [...config.providers.values()].map(async (entry): Promise<Examination> => {
        const { provider, diagnostics: problems } = await createProvider(entry, {
          secrets: { folder: config.folder, env, loaded: secrets },
        })
        const created = problems.map(findingOf)
        if (provider === null) return { subject: entry.name, findings: created }
        try {
          const examined = await examineProvider(provider, workspace.jobs, now())
          return { subject: entry.name, findings: [...created, ...examined, ...(await findingsOfUndescribed(provider, workspace))] }
        } finally {
          await provider.close()
        }
      }),
    )
    const place = { ...environment, config, journal: config.journal }
    const journal = await examineJournal(place)
    const sources = await examineSources(workspace, () => openStore(place))
    const ofSources = sources.length === 0 ? [] : [{ subject: 'sources', findings: sources }]
    const others = [...journal, ...providers, ...ofSources, ...(await examineNameServers(workspace))]
    return [{ subject: config.file ?? 'configuration', findings }, ...others]
  } finally {
    await workspace.close()
  }
}

/**
 * Reads a journal that machines share. What may be written there is shown only by a write, so that is not tried. The journal of one machine needs no check:
 * a run that cannot write it says so before it changes anything.
 */
async function examineJournal(context: StoreContext): Promise<Examination[]> {
  const { journalStore } = context.config ?? {}
  if (!journalStore?.isShared) return []
  const subject = 'journal'
  let store: JournalStore | null = null
  try {
    store = await openStore(context)
    const [fences, { leases, now }] = [await readFences(store), await listLeases(store)]
    const zones = new Set([...fences.zones.keys()].map((key) => key.split(' ')[0])).size
    const found: DoctorFinding = {
      status: 'ok',
      check: 'connection',
      message: `${store.address} can be read; runs have changed ${counted(zones, 'zone')}`,
    }
    const ended = leases.filter((lease) => now > endOfLease(lease))
    const live = leases
      .filter((lease) => !ended.includes(lease))
      .map((lease): DoctorFinding => ({ status: 'ok', check: 'zones', message: `locked by ${describeLease(lease)}` }))
    return [{ subject, findings: [found, ...live.slice(0, MAX_LEASES)] }]
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return [{ subject, findings: [{ status: 'error', check: 'connection', message: error.message, hint: error.hint }] }]
  } finally {
    await store?.close()
  }
}

/** Errors of definitions are only counted, since `validate` shows them. Those of providers are reported with the provider. */
function configFindings(diagnostics: readonly Diagnostic[], { jobs }: Workspace): DoctorFinding[] {
  const problems = diagnostics.filter((diagnostic) => isError(diagnostic) && !PROVIDER_CODES.has(diagnostic.code))
  const forgotten = diagnostics.filter(({ code }) => code === 'definition-unmatched').map(findingOf)
  if (problems.length > 0) {
    const hint = '"zonewright validate" shows them'
    return [
      { status: 'error', check: 'config', message: `${counted(problems.length, 'error')} in config and definitions`, hint },
      ...forgotten,
    ]
  }
  const zones = new Set(jobs.flatMap(({ desired, isRemoved }) => (isRemoved ? [] : desired.name))).size
  return [{ status: 'ok', check: 'config', message: `${counted(zones, 'zone')} defined` }, ...forgotten]
}

/** Diagnostics that are reported with their provider. */
const PROVIDER_CODES: ReadonlySet<Diagnostic['code']> = new Set([
  'secret-missing',
  'secret-in-config',
  'insecure-url',
  'provider-unknown',
  'provider-class',
])

const findingOf = ({ severity, code, message, hint }: Diagnostic): DoctorFinding => ({
  status: severity === 'error' ? 'error' : 'warning',
  check: code.startsWith('secret') ? 'token' : code === 'zone-removed' ? 'zones' : 'config',
  message,
  hint,
})

/** Examines a provider with its own checks; without them, by looking up its zones. */
async function examineProvider(provider: Provider, jobs: readonly ZoneJob[], now: Date): Promise<readonly DoctorFinding[]> {
  const usage = usageOf(provider.name, jobs)
  if (provider.examine) return provider.examine(usage, now)
  try {
    const found = await provider.findZones(usage.zones)
    const message = `${provider.address} responds; ${found.size} of ${usage.zones.length} zones exist`
    return [{ status: 'ok', check: 'connection', message }]
  } catch (error) {
    return [{ status: 'error', check: 'connection', message: error instanceof Error ? error.message : String(error) }]
  }
}

/** A warning about the zones that a provider holds without a definition. If it cannot list its zones, warnings about those that previous runs applied there. */
async function findingsOfUndescribed(provider: Provider, { isDescribed, nameRemoved }: Workspace): Promise<readonly DoctorFinding[]> {
  if (isDescribed === undefined) return []
  const found = await listUndescribedZones(provider, isDescribed)
  if (found === null) return ((await nameRemoved?.({ only: (target) => target === provider.name })) ?? []).map(findingOf)
  return found.names.length === 0 ? [] : [{ status: 'warning', check: 'zones', ...describeUndescribed(found) }]
}

/** The zones and inventories that the jobs use at a provider. */
function usageOf(provider: string, jobs: readonly ZoneJob[]): ProviderUsage {
  const zones = new Set<DomainName>()
  const inventory = new Set<InventoryKind>()
  for (const { desired, target } of jobs) {
    if (target === provider && !desired.absent) zones.add(desired.name)
    for (const { query } of desired.sourced ?? [])
      if (query.kind !== 'zone' && (query.provider ?? target) === provider) inventory.add(query.kind)
  }
  return { zones: [...zones].sort(), inventory }
}

/** Maximum leases that are listed. */
const MAX_LEASES = 10

/** Queries each name server that the config names for `verify` for one of its zones. */
async function examineNameServers({ jobs }: Workspace): Promise<Examination[]> {
  const zoneOf = new Map(jobs.flatMap(({ desired, nameservers }) => (nameservers ?? []).map((server) => [server, desired.name] as const)))
  return Promise.all([...zoneOf].map(async ([server, zone]) => ({ subject: server, findings: [await examineNameServer(server, zone)] })))
}

async function examineNameServer(address: string, zone: DomainName): Promise<DoctorFinding> {
  try {
    const { rcode, authoritative } = await queryDns(parseServerAddress(address), { name: zone, type: 'SOA' })
    if (rcode === 'NOERROR' && authoritative) return { status: 'ok', check: 'nameserver', message: `answers for ${zone}` }
    const message = rcode === 'NOERROR' ? `answers for ${zone} without authority` : `answers ${rcode} for ${zone}`
    return { status: 'warning', check: 'nameserver', message, hint: 'it may not have the zone yet; "verify" queries it for every record' }
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return { status: 'error', check: 'nameserver', message: error.message, hint: '"verify" cannot query it' }
  }
}

/** Reads the zones that are sources, and what is known of earlier reads. Inventories are examined with their providers. */
async function examineSources(
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
