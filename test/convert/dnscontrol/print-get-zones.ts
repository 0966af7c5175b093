/** Prints sorted records as `dnscontrol get-zones` does (its commands/getZones.go and pkg/prettyzone). */
import { txtRdataToOctets } from '../../../src/dns/character-string.ts'
import { type DomainName, relativeName } from '../../../src/dns/domain-name.ts'
import type { ResourceRecord } from '../../../src/dns/record.ts'

export interface PrintedZone {
  readonly name: DomainName
  /** Sorted by owner, each with a TTL that is not 0. */
  readonly records: readonly ResourceRecord[]
}

const bare = (name: DomainName): string => name.slice(0, -1)

/** `--format=zone`: columns of 10, 5, 2 and 5, the commonest TTL at the top, each owner once, a blank line at the end. */
export function printZone({ name, records }: PrintedZone): string {
  const ttl = commonestTtl(records)
  let previous: string | null = null
  const lines = records.map((record) => {
    const label = relativeName(record.name, name) || '@'
    const shown = label === previous ? '' : label
    previous = label
    return columns([shown, record.ttl === ttl ? '' : String(record.ttl), 'IN', record.type, record.data])
  })
  return `$ORIGIN ${name}\n$TTL ${ttl}\n${lines.map((line) => `${line}\n`).join('')}\n`
}

/** `--format=tsv`: texts without quotes. */
export const printTsv = ({ name, records }: PrintedZone): string =>
  records
    .map((record) => {
      const data = record.type === 'TXT' ? Buffer.from(txtRdataToOctets(record.data)).toString('utf8') : record.data
      return `${[bare(record.name), relativeName(record.name, name) || '@', record.ttl, 'IN', record.type, data].join('\t')}\n`
    })
    .join('')

function columns(fields: readonly string[]): string {
  let line = ''
  let start = 0
  for (const [i, width] of [10, 5, 2, 5, 0].entries()) {
    const field = fields[i] ?? ''
    line = line.padEnd(start)
    if (field !== '') line += `${field} `
    start += width + 1
  }
  return line.trimEnd()
}

/** The commonest TTL of all records except NS; the highest of several. */
function commonestTtl(records: readonly ResourceRecord[]): number {
  const counts = new Map<number, number>()
  for (const { type, ttl } of records) if (type !== 'NS' && ttl !== null) counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0]?.[0] ?? 300
}
