/** How often names were asked for, as the CSV that `plan --usage` reads (docs/usage.md). */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ServedCounts } from '../nameserver/name-server.ts'

/** Returns the counts of a served zone, or of all; null if the zone is not served. */
export type UsageSource = (zone: DomainName | null) => ServedCounts | null

/** A response with its HTTP status. */
export interface UsagePage {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** The page for a query string such as `zone=example.com`. Without a zone, it has all zones. */
export function usagePage(query: string, source: UsageSource): UsagePage {
  const plain = (status: number, text: string): UsagePage => ({ status, contentType: 'text/plain; charset=utf-8', text: `${text}\n` })
  const wanted = new URLSearchParams(query).get('zone')
  const zone = wanted === null ? null : parseAbsoluteName(wanted)
  if (zone !== null && !zone.ok) return plain(400, 'zone is not the name of a zone')
  const counts = source(zone?.value ?? null)
  return counts === null
    ? plain(404, 'The name server does not serve this zone')
    : { status: 200, contentType: 'text/csv; charset=utf-8', text: usageCsv(counts) }
}

/** Each zone has a row for its SOA record even if nobody asked, so that a zone without queries differs from one that is not served. */
function usageCsv({ from, to, incomplete, zones, counts }: ServedCounts): string {
  const asked = new Set(counts.map(({ name, type }) => `${name} ${type}`))
  const lines = [`# from ${timeText(from)} to ${timeText(to)}`]
  for (const zone of incomplete) lines.push(`# incomplete ${zone}`)
  lines.push('name,type,count,last_asked')
  for (const zone of zones) if (!asked.has(`${zone} SOA`)) lines.push(`${field(zone)},SOA,0,`)
  for (const { name, type, count, lastAsked } of counts) lines.push(`${field(name)},${type},${count},${timeText(lastAsked)}`)
  return `${lines.join('\n')}\n`
}

const timeText = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** A name can contain a comma or quote (RFC 4180 section 2). */
const field = (name: DomainName): string => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)
