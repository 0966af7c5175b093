/** Prints a record set of the API as lines of a zone file, for judges that read those. */
import type { Fields } from '../base.ts'
import type { RecordSet } from './record-sets.ts'

const host = (name: unknown): string => String(name).replace(/\.?$/, '.')
const quoted = (text: unknown): string => `"${String(text).replace(/["\\]/g, '\\$&')}"`

const FORMS: Readonly<Record<string, (record: Fields) => string>> = {
  A: ({ ipv4Address }) => String(ipv4Address),
  AAAA: ({ ipv6Address }) => String(ipv6Address),
  CAA: ({ flags, tag, value }) => `${flags} ${tag} ${quoted(value)}`,
  CNAME: ({ cname }) => host(cname),
  MX: ({ preference, exchange }) => `${preference} ${host(exchange)}`,
  NS: ({ nsdname }) => host(nsdname),
  PTR: ({ ptrdname }) => host(ptrdname),
  SRV: ({ priority, weight, port, target }) => `${priority} ${weight} ${port} ${host(target)}`,
  TXT: ({ value }) => (value as readonly string[]).map(quoted).join(' '),
}

/** Without the SOA record, which every zone file has once. */
export function zoneFileLines({ name, type, ttl, records }: RecordSet, zone: string): string[] {
  const owner = name === '@' ? `${zone}.` : `${name}.${zone}.`
  const form = FORMS[type]
  return form === undefined ? [] : records.map((record) => `${owner} ${ttl} IN ${type} ${form(record)}`)
}
