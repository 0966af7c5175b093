/** The records of a catalog zone (RFC 9432), from which secondaries learn which zones a primary serves. */
import { createHash } from 'node:crypto'
import { type DomainName, labelsOf, nameFromLabels } from './domain-name.ts'
import type { ResourceRecord } from './record.ts'
import type { Ttl } from './ttl.ts'

const CATALOG_TTL = 0 as Ttl

const below = (catalog: DomainName, ...labels: readonly string[]): DomainName =>
  nameFromLabels([...labels.map((label) => Buffer.from(label)), ...labelsOf(catalog)])

/** The records of a catalog zone without its SOA record (RFC 9432 section 4): version 2 and one PTR record per member. */
export const catalogRecords = (catalog: DomainName, members: readonly DomainName[]): ResourceRecord[] => [
  { name: catalog, type: 'NS', ttl: CATALOG_TTL, data: 'invalid.' },
  versionRecord(catalog),
  ...members.map((zone) => memberRecord(catalog, zone)),
]

export const versionRecord = (catalog: DomainName): ResourceRecord => ({
  name: below(catalog, 'version'),
  type: 'TXT',
  ttl: CATALOG_TTL,
  data: '"2"',
})

export const memberRecord = (catalog: DomainName, zone: DomainName): ResourceRecord => ({
  name: below(catalog, memberLabel(zone), 'zones'),
  type: 'PTR',
  ttl: CATALOG_TTL,
  data: zone,
})

/** A label that a zone always has, so that consumers keep its state (RFC 9432 section 5.6), and no other zone. */
const memberLabel = (zone: DomainName): string => createHash('sha256').update(zone).digest('hex').slice(0, 32)

/** Whether a record of a catalog zone names a member, under whatever label. */
export const isMember = ({ name, type }: ResourceRecord, catalog: DomainName): boolean =>
  type === 'PTR' && labelsOf(name).length === labelsOf(catalog).length + 2 && name.endsWith(`.zones.${catalog}`)
