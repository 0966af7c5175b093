/** Zones as the API returns them, in the terms of plans. */
import { compareText } from '../../base/text.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { splitSoa } from '../../dns/soa.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import type { UnplannedRecord, ZoneSettings } from '../../dns/zone.ts'
import { compareRrsets } from '../../plan/changesets.ts'
import { ShapeError } from '../json-shape.ts'
import type { ZoneReference } from '../provider.ts'
import { isServerType } from './capabilities.ts'
import type { ApiRecord, ApiRrset, ApiZone } from './powerdns-api.ts'
import { rdataFromApi } from './rdata-format.ts'

/** An RRset with its disabled records, which the server keeps and does not serve. */
export interface LiveRrset {
  readonly records: readonly ExistingRecord[]
  /** With their data in canonical form. */
  readonly disabled: readonly (ApiRecord & { readonly data: string })[]
  readonly ttl: Ttl
}

export interface LiveZone {
  readonly zone: ApiZone
  readonly name: DomainName
  readonly settings: ZoneSettings
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  /** Of a zone that another server has signed. */
  readonly signerRecords: readonly ResourceRecord[]
  /** The names of RRsets in capital letters, as its database has them: the server does not serve such rows, and the API cannot change them. */
  readonly capitalNames: readonly string[]
  /** By `rrsetKey`. */
  readonly rrsets: ReadonlyMap<string, LiveRrset>
  /** Null in a zone that has not been transferred yet. */
  readonly soa: ResourceRecord | null
}

/** Kinds that get their records from other servers. Versions differ in the words. */
const isSecondary = ({ kind }: ApiZone): boolean => /^(?:slave|secondary|consumer)$/i.test(kind)

/** Kinds that tell secondaries about changes. */
export const isPrimary = ({ kind }: ApiZone): boolean => /^(?:master|primary|producer)$/i.test(kind)

export const referenceTo = (zone: ApiZone, name: DomainName): ZoneReference => ({
  name,
  id: zone.id,
  settings: { type: isSecondary(zone) ? 'slave' : 'master', master_ips: zone.masters },
})

/** Throws a `ShapeError` if the zone is another one or a name is invalid. The records of a secondary belong to its primaries, so it has none here. */
export function liveZone(zone: ApiZone, expected: DomainName): LiveZone {
  const name = parseDomainName(zone.name)
  if (!name.ok || name.value !== expected)
    throw new ShapeError(`the zone ${expected} was returned as ${JSON.stringify(zone.name.slice(0, 300))}`)
  const { settings } = referenceTo(zone, expected)
  const rrsets = new Map<string, LiveRrset>()
  if (isSecondary(zone))
    return { zone, name: expected, settings, records: [], unplanned: [], signerRecords: [], capitalNames: [], rrsets, soa: null }
  const unplanned: UnplannedRecord[] = []
  const signerRecords: ResourceRecord[] = []
  let soa: ResourceRecord | null = null
  for (const rrset of zone.rrsets) {
    const owner = parseDomainName(rrset.name)
    if (!owner.ok) throw new ShapeError(`a record is named ${JSON.stringify(rrset.name.slice(0, 300))}: ${owner.message}`)
    const read = rrset.records.map((record) => readRecord(rrset, record, owner.value))
    for (const { record } of read) if (record.type === 'SOA' && record.name === expected) soa = record
    if (isServerType(rrset.type)) {
      if (rrset.type !== 'SOA') signerRecords.push(...read.map(({ record }) => record))
      continue
    }
    const problem = rrsetProblem(rrset, owner.value, expected)
    for (const { record, api } of read)
      if (problem !== null || api.disabled) unplanned.push({ ...record, reason: problem ?? 'is disabled', isServed: !api.disabled })
    if (problem !== null || read[0] === undefined) continue
    rrsets.set(rrsetKey(read[0].record), {
      records: read.filter(({ api }) => !api.disabled).map(({ record }) => record),
      disabled: read.filter(({ api }) => api.disabled).map(({ api, record }) => ({ ...api, data: record.data })),
      ttl: ttlOf(rrset),
    })
  }
  const times = soa === null ? {} : splitSoa(soa).settings
  const records = [...rrsets.values()].flatMap((rrset) => rrset.records)
  const capitalNames = [...new Set(zone.rrsets.map((rrset) => rrset.name).filter((one) => /[A-Z]/.test(one)))].sort()
  return {
    zone,
    name: expected,
    settings: { ...settings, ...times },
    records,
    unplanned: unplanned.sort(byName),
    signerRecords,
    capitalNames,
    rrsets,
    soa,
  }
}

const byName = (a: UnplannedRecord, b: UnplannedRecord): number => compareRrsets(a, b) || compareText(a.data, b.data)

/** The server's TTLs have 32 bits, those of the DNS 31 (RFC 2181 section 8). */
const ttlOf = ({ ttl }: ApiRrset): Ttl => Math.min(ttl, MAX_TTL) as Ttl

/** Malformed rdata stays as it is: text that no definition can contain. */
function readRecord(rrset: ApiRrset, api: ApiRecord, name: DomainName): { readonly record: ResourceRecord; readonly api: ApiRecord } {
  const { type, data } = rdataFromApi(rrset.type, api.content)
  return { record: { name, type: type ?? rrset.type, ttl: ttlOf(rrset), data: data.ok ? data.value : api.content }, api }
}

/** Why plans cannot contain an RRset, in words that follow its name; null if they can. */
function rrsetProblem({ type }: ApiRrset, name: DomainName, zone: DomainName): string | null {
  if (!isAtOrBelow(name, zone)) return 'is outside the zone'
  return rdataFromApi(type, '').type === null ? 'has a type that only PowerDNS has' : null
}
