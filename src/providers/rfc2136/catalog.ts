/**
 * Keeps a catalog zone (RFC 9432) of the server up to date by dynamic update. The server's own zones are the truth: a zone of a run that the server serves becomes
 * a member, and a member that the server no longer serves is removed. Members under labels that Zonewright does not give belong to another client and stay.
 */
import pLimit from 'p-limit'
import type { DoctorFinding } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { type ResourceRecord, sameRecord } from '../../dns/record.ts'
import { RCODE } from '../../dns/wire/message.ts'
import { createUpdate, type Prerequisite, type UpdatePart } from '../../dns/wire/update.ts'
import { counted } from '../../report/english.ts'
import { formatServer } from '../../transport/dns-exchange.ts'
import { isMember, memberRecord, versionRecord } from '../catalog-zone.ts'
import { exchange, hasZone, type NameServer, refusal } from '../name-server.ts'
import { type CompletedCalls, diagnosticOf, type ProviderCallOptions, ProviderError } from '../provider.ts'
import type { TransferReader } from '../transfer-reader.ts'

/** Members that one message adds or removes: with the longest names they fit into 64 KiB. */
const MEMBERS_PER_MESSAGE = 100

const HINT = 'create the catalog zone on the server, and allow its transfer and update'

interface CatalogChange {
  readonly prerequisite: Prerequisite
  readonly update: UpdatePart
}

/** Makes these zones members of the catalog zone, and removes members that the server does not serve. Failures are problems of the result. */
export async function updateCatalog(
  server: NameServer,
  reader: TransferReader,
  catalog: DomainName,
  served: ReadonlySet<DomainName>,
  call?: ProviderCallOptions,
): Promise<CompletedCalls> {
  try {
    if (!(await hasZone(server, catalog, call)))
      throw new ProviderError('provider-not-found', `${server.provider}: ${formatServer(server.server)} does not have ${catalog}`, {
        hint: HINT,
      })
    const { records } = await reader.read(catalog, call)
    const version = versionChanges(server, catalog, records)
    const members = records.filter((record) => isMember(record, catalog))
    const listed = new Set(members.map(({ data }) => data))
    const added = [...served].filter((zone) => zone !== catalog && !listed.has(zone)).sort()
    const removed = await unservedMembers(server, catalog, members, served, call)
    const changes = [...version, ...added.map((zone) => addition(memberRecord(catalog, zone))), ...removed.map(removal)]
    for (let from = 0; from < changes.length; from += MEMBERS_PER_MESSAGE) {
      reader.noteChange(catalog)
      const part = changes.slice(from, from + MEMBERS_PER_MESSAGE)
      const content = { prerequisites: part.map(({ prerequisite }) => prerequisite), updates: part.map(({ update }) => update) }
      const what = `updating ${catalog}`
      const { rcode } = await exchange(server, createUpdate(0, catalog, content), what, call)
      if (rcode !== RCODE.NOERROR) throw refusal(server, rcode, what)
    }
    const done = `${server.provider}: ${catalog}: ${counted(added.length, 'zone')} added, ${removed.length} removed.`
    return { done: changes.length > 0 ? [done] : [], problems: [] }
  } catch (error) {
    return { done: [], problems: [diagnosticOf(error)] }
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
