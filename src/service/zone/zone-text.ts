/** The text in which rendered and transferred zones are stored: every record on one line, its parts separated by tabs. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'

const DEFAULT_TTL = '$TTL '

/** The text of a zone that was transferred; of its records the SOA is the first. */
export function formatTransferredZone(name: DomainName, domainId: number, records: readonly ServedRecord[]): string {
  const lines = [`; ${name.slice(0, -1)} [${domainId}]`]
  for (const record of records) {
    if (lines.length === 1) lines.push(`${DEFAULT_TTL}${record.ttl}`, `@\tIN\tSOA\t${record.data}`)
    else lines.push(`${relativeOwner(record.name, name)}\t${record.ttl}\t${record.type}\t${record.data}`)
  }
  return lines.join('\n')
}

/** The records of a stored zone. Only what this program has written is ever read: nothing of it is checked again. */
export function parseZoneText(name: DomainName, text: string): ServedRecord[] {
  const records: ServedRecord[] = []
  let defaultTtl = 0
  for (const line of text.split('\n')) {
    if (line.startsWith(';')) continue
    if (line.startsWith(DEFAULT_TTL)) {
      defaultTtl = Number(line.slice(DEFAULT_TTL.length))
      continue
    }
    const [owner, ttl, type, data] = line.split('\t') as [string, string, string, string]
    records.push({
      name: (owner === '@' ? name : `${owner}.${name}`) as DomainName,
      type,
      ttl: (ttl === '' || ttl === 'IN' ? defaultTtl : Number(ttl)) as Ttl,
      data,
    })
  }
  return records
}

const relativeOwner = (owner: DomainName, zone: DomainName): string => (owner === zone ? '@' : owner.slice(0, -zone.length - 1))
