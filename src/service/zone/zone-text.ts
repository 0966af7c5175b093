/**
 * The text form of stored zones: one record per line, fields separated by tabs. Owners are relative and in lower case. One that the master wrote with capital
 * letters is absolute, as it wrote it.
 */
import { type DomainName, lowerCaseName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'

const DEFAULT_TTL = '$TTL '

/** Formats a transferred zone. Its first record must be the SOA. */
export function formatTransferredZone(name: DomainName, domainId: number, records: readonly ServedRecord[]): string {
  const lines = [`; ${name.slice(0, -1)} [${domainId}]`]
  for (const record of records) {
    if (lines.length === 1) lines.push(`${DEFAULT_TTL}${record.ttl}`, `${record.writtenOwner ?? '@'}\tIN\tSOA\t${record.data}`)
    else lines.push(`${record.writtenOwner ?? relativeOwner(record.name, name)}\t${record.ttl}\t${record.type}\t${record.data}`)
  }
  return lines.join('\n')
}

/** Parses the text of a stored zone. It does not validate, because only this program writes such texts. */
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
    const record = { type, ttl: (ttl === '' || ttl === 'IN' ? defaultTtl : Number(ttl)) as Ttl, data }
    if (/[A-Z]/.test(owner)) records.push({ name: lowerCaseName(owner), writtenOwner: owner, ...record })
    else records.push({ name: (owner === '@' ? name : `${owner}.${name}`) as DomainName, ...record })
  }
  return records
}

const relativeOwner = (owner: DomainName, zone: DomainName): string => (owner === zone ? '@' : owner.slice(0, -zone.length - 1))
