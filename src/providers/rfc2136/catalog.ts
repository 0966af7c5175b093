/**
 * Keeps a catalog zone (RFC 9432) of the server up to date by dynamic update. The server's own zones are the truth: a zone of a run that the server serves becomes
 * a member, and a member that the server no longer serves is removed. Members under labels that Zonewright does not give belong to another client and stay.
 */
import pLimit from 'p-limit'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import { isMember, memberRecord, versionRecord } from '../../dns/catalog-zone.ts'
import type { DoctorFinding } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { type ResourceRecord, sameRecord } from '../../dns/record.ts'
import { createUpdate, type Prerequisite, RCODE, type UpdatePart } from '../../dns/wire/message.ts'
import { formatServer } from '../../transport/dns-exchange.ts'
import { exchange, hasZone, type NameServer, refusal } from '../name-server.ts'
import {
  assertMayWrite,
  type CompletedCalls,
  type CompletionOptions,
  diagnosticOf,
  type ProviderCallOptions,
  ProviderError,
} from '../provider.ts'
import type { TransferReader } from '../transfer-reader.ts'

/** Members that one message adds or removes: with the longest names they fit into 64 KiB. */
const MEMBERS_PER_MESSAGE = 100

/** Zones that a message names. */
const MOST_NAMED = 10

const HINT = 'create the catalog zone on the server, and allow its transfer and update'

interface CatalogChange {
  readonly prerequisite: Prerequisite
  readonly update: UpdatePart
}

/** A catalog zone of a server, with the zones that the run has found there. */
export interface ServedCatalog {
  readonly server: NameServer
  readonly reader: TransferReader
  readonly catalog: DomainName
  readonly served: ReadonlySet<DomainName>
}

/**
 * Makes the found zones members of the catalog zone, and removes members that the server does not serve, if the run may. Failures are problems of the result.
 */
export async function updateCatalog(own: ServedCatalog, call: CompletionOptions): Promise<CompletedCalls> {
  const { server, reader, catalog } = own
  try {
    const { version, added, unserved } = await compareCatalog(own, call)
    const removed = call.mayRemoveZones ? unserved : []
    const changes = [...version, ...added.map((zone) => addition(memberRecord(catalog, zone))), ...removed.map(removal)]
    for (let from = 0; from < changes.length; from += MEMBERS_PER_MESSAGE) {
      reader.noteChange(catalog)
      const part = changes.slice(from, from + MEMBERS_PER_MESSAGE)
      const content = { prerequisites: part.map(({ prerequisite }) => prerequisite), updates: part.map(({ update }) => update) }
      const what = `updating ${catalog}`
      await assertMayWrite(server.provider, call, server.timeout)
      const { rcode } = await exchange(server, createUpdate(0, catalog, content), what, call)
      if (rcode !== RCODE.NOERROR) throw refusal(server, rcode, what)
    }
    const done = `${server.provider}: ${catalog}: ${counted(added.length, 'zone')} added, ${removed.length} removed.`
    return { done: changes.length > 0 ? [done] : [], problems: [] }
  } catch (error) {
    return { done: [], problems: [diagnosticOf(error)] }
  }
}

/** What `updateCatalog` would do, as notices and warnings. */
export async function previewCatalog(own: ServedCatalog, call: CompletionOptions): Promise<Diagnostic[]> {
  const { server, catalog } = own
  try {
    const { added, unserved } = await compareCatalog(own, call)
    const names = listed(added, MOST_NAMED)
    const message = `${server.provider}: ${catalog} gets ${counted(added.length, 'member')}: ${names}`
    return [
      ...(added.length === 0 ? [] : [{ severity: 'notice', code: 'zone-list', message } as const]),
      ...unservedDiagnostics(own, unserved, call),
    ]
  } catch (error) {
    return [{ ...diagnosticOf(error), severity: 'warning' }]
  }
}

/** Members that the server does not serve: a notice if they are removed, otherwise a warning. */
function unservedDiagnostics(
  { server, catalog }: ServedCatalog,
  unserved: readonly ResourceRecord[],
  { mayRemoveZones }: CompletionOptions,
): Diagnostic[] {
  if (unserved.length === 0) return []
  const names = listed(unserved.map(memberOf), MOST_NAMED)
  const why = `${formatServer(server.server)} does not serve ${agreeing(unserved.length, 'it', 'them')}`
  if (mayRemoveZones) return [{ severity: 'notice', code: 'zone-list', message: `${server.provider}: ${catalog} loses ${names}: ${why}` }]
  const message = `${server.provider}: ${names} ${agreeing(unserved.length, 'stays', 'stay')} in ${catalog}, although ${why}`
  const hint =
    'secondaries delete a zone that is removed; if that is what you want, apply with --allow delete-zone, which needs a config without approvals'
  return [{ severity: 'warning', code: 'zone-list', message, hint }]
}

interface CatalogDifference {
  readonly version: readonly CatalogChange[]
  readonly added: readonly DomainName[]
  /** Members that the server does not serve. */
  readonly unserved: readonly ResourceRecord[]
}

/** Throws a `ProviderError`. */
async function compareCatalog({ server, reader, catalog, served }: ServedCatalog, call: ProviderCallOptions): Promise<CatalogDifference> {
  if (!(await hasZone(server, catalog, call)))
    throw new ProviderError('provider-not-found', `${server.provider}: ${formatServer(server.server)} does not have ${catalog}`, {
      hint: HINT,
    })
  const { records } = await reader.read(catalog, call)
  const members = records.filter((record) => isMember(record, catalog))
  const known = new Set(members.map(({ data }) => data))
  return {
    version: versionChanges(server, catalog, records),
    added: [...served].filter((zone) => zone !== catalog && !known.has(zone)).sort(),
    unserved: await unservedMembers(server, catalog, members, served, call),
  }
}

function versionChanges(server: NameServer, catalog: DomainName, records: readonly ResourceRecord[]): CatalogChange[] {
  const version = versionRecord(catalog)
  const existing = records.filter(({ name, type }) => name === version.name && type === 'TXT')
  if (existing.length === 0) return [addition(version)]
  if (existing.length === 1 && existing[0]?.data === version.data) return []
  throw new ProviderError('provider-rejected', `${server.provider}: ${catalog} is not a catalog zone of version 2`, {
    hint: `its record ${version.name} TXT has to be ${version.data} (RFC 9432)`,
  })
}

/** Members with Zonewright's label that the server does not serve. A member about which the server gives no clear answer stays. */
async function unservedMembers(
  server: NameServer,
  catalog: DomainName,
  members: readonly ResourceRecord[],
  served: ReadonlySet<DomainName>,
  call?: ProviderCallOptions,
): Promise<ResourceRecord[]> {
  const limit = pLimit(server.parallelism)
  const isServed = async (zone: DomainName): Promise<boolean> => {
    try {
      return served.has(zone) || (await limit(() => hasZone(server, zone, call)))
    } catch (error) {
      if (error instanceof ProviderError && !error.notSent) return true
      throw error
    }
  }
  const own = members.filter((record) => sameRecord({ ...record, ttl: null }, { ...memberRecord(catalog, memberOf(record)), ttl: null }))
  const states = await Promise.all(own.map((record) => isServed(memberOf(record))))
  return own.filter((_, index) => !states[index])
}

/** The rdata of a PTR record is a name in canonical form. */
const memberOf = ({ data }: ResourceRecord): DomainName => data as DomainName

const addition = (record: ResourceRecord): CatalogChange => ({
  prerequisite: { name: record.name, type: record.type, data: [] },
  update: { action: 'add', record },
})

const removal = (record: ResourceRecord): CatalogChange => ({
  prerequisite: { name: record.name, type: record.type, data: [record.data] },
  update: { action: 'delete', record: { ...record, ttl: null } },
})

/** The check of `doctor`. `tryUpdate` throws a `ProviderError` if the server refuses updates of a zone. */
export async function examineCatalog(
  server: NameServer,
  catalog: DomainName,
  tryUpdate: (zone: DomainName) => Promise<void>,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  try {
    if (!(await hasZone(server, catalog, call)))
      return [{ status: 'error', check: 'zones', message: `${formatServer(server.server)} does not have ${catalog}`, hint: HINT }]
    await tryUpdate(catalog)
    return [{ status: 'ok', check: 'zones', message: `${catalog}: the catalog zone can be updated` }]
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return [{ status: 'error', check: 'zones', message: error.message, hint: error.hint }]
  }
}
