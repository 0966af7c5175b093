/** The records of DNSControl's intermediate form as lines of a zone file, made without the program. */

export interface IntermediateDomain {
  readonly name: string
  readonly tag?: string
  readonly dnsProviders?: Readonly<Record<string, number>>
  readonly meta?: Readonly<Record<string, string>>
  readonly nameservers?: readonly { readonly name: string }[]
  readonly records: readonly IntermediateRecord[]
}

export type IntermediateRecord = Readonly<Record<string, unknown>> & { readonly type: string; readonly name: string }

/** DNSControl's TTL in seconds, if a program states none. */
const DEFAULT_TTL = 300

const quoted = (text: unknown): string =>
  (String(text).match(/.{1,255}/gs) ?? ['']).map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ')

function dataOf(one: IntermediateRecord): string | null {
  const { type, target } = one
  const number = (key: string): string => String(one[key] ?? 0)
  switch (type) {
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'LOC':
    case 'NS':
    case 'PTR':
      return String(target)
    case 'CAA':
      return `${number('caaflag')} ${one['caatag']} ${quoted(target)}`
    case 'HTTPS':
    case 'SVCB':
      return `${number('svcpriority')} ${target} ${String(one['svcparams'] ?? '')}`
    case 'LUA':
      return `${one['luartype']} ${quoted(target)}`
    case 'MX':
      return `${number('mxpreference')} ${target}`
    case 'NAPTR':
      return `${number('naptrorder')} ${number('naptrpreference')} ${['flags', 'service', 'regexp'].map((key) => quoted(one[`naptr${key}`] ?? '')).join(' ')} ${target}`
    case 'SOA':
      return `${target} ${String(one['soambox']).replace('@', '.')} 1 ${number('soarefresh')} ${number('soaretry')} ${number('soaexpire')} ${number('soaminttl')}`
    case 'SRV':
      return `${number('srvpriority')} ${number('srvweight')} ${number('srvport')} ${target}`
    case 'SSHFP':
      return `${number('sshfpalgorithm')} ${number('sshfpfingerprint')} ${target}`
    case 'TXT':
      return quoted(target)
    default:
      return null
  }
}

export interface ZoneLine {
  /** Absolute. */
  readonly name: string
  readonly ttl: number
  readonly type: string
  readonly data: string
}

/** All records that are of no provider alone. */
export function linesOf({ name: zone, records, nameservers = [], meta = {} }: IntermediateDomain): readonly ZoneLine[] {
  const ttl = Number(meta['ns_ttl'] ?? DEFAULT_TTL)
  return [
    ...nameservers.map(({ name }) => ({ name: `${zone}.`, ttl, type: 'NS', data: `${name}.` })),
    ...records.flatMap((one) => {
      const data = dataOf(one)
      const name = one.name === '@' ? `${zone}.` : `${one.name}.${zone}.`
      return data === null ? [] : [{ name, ttl: Number(one['ttl'] ?? DEFAULT_TTL), type: one.type, data }]
    }),
  ]
}

/** A zone file as a name server reads it. */
export function zoneFileOf(domain: IntermediateDomain): string {
  const lines = linesOf(domain)
  const has = (type: string): boolean => lines.some((line) => line.type === type && line.name === `${domain.name}.`)
  const soa = has('SOA') ? [] : [`${domain.name}. 300 IN SOA ns1.example.net. hostmaster.example.net. 1 3600 600 604800 1440`]
  return [...soa, ...lines.map(({ name, ttl, type, data }) => `${name} ${ttl} IN ${type} ${data}`), ''].join('\n')
}
