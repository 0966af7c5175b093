/**
 * DNSControl is not installed everywhere, so a dnsconfig.js runs here with functions of the same names. They accept and refuse the same as
 * those of DNSControl 4 and 5 (pkg/js/helpers.js, pkg/normalize, models) and return what `dnscontrol print-ir` prints. The versions differ:
 * 4 has one field for each part of the data, 5 has zone-file text; 4 adds to the label of SMIMEA; 4 truncates the altitude of LOC to
 * centimetres, 5 rounds its seconds to hundredths; in 5 a backslash in text escapes.
 */
import { runInNewContext } from 'node:vm'
import { checkRecords, checkTarget, type GivenRecord, refuseUnless } from './dnscontrol-checks.ts'
import { fieldsOf4, presentationOf5 } from './dnscontrol-data.ts'

export type DnscontrolVersion = 4 | 5

interface Domain {
  readonly name: string
  readonly registrar: string
  readonly meta: Record<string, unknown>
  readonly created: ScriptRecord[]
  readonly dnsProviders: Record<string, number>
  readonly nameservers: { readonly name: string }[]
  readonly unmanaged: Record<string, string>[]
  readonly defaultTTL: number
  readonly KeepUnknown?: boolean
}

/** A record as its function returns it; the script can still change it. Its label is `name`, or the first of `args`. */
interface ScriptRecord {
  readonly type: string
  readonly name?: string
  readonly values: unknown[]
  readonly args?: unknown[]
  readonly meta: Record<string, unknown>
  readonly ttl: number
  readonly caaflag?: number
}

type Modifier = ((created: object) => void) | Record<string, unknown> | readonly Modifier[]

/** The arguments after the label: `#` is a number, anything else a text. */
const PARAMETERS: Readonly<Record<string, string>> = {
  A: 'address',
  AAAA: 'address',
  CAA: 'tag value',
  CNAME: 'target',
  DHCID: 'digest',
  DNAME: 'target',
  DNSKEY: '#flags #protocol #algorithm key',
  DS: '#keytag #algorithm #digesttype digest',
  HTTPS: '#priority target params',
  LOC: '#d1 #m1 #s1 ns #d2 #m2 #s2 ew #alt #siz #hp #vp',
  MX: '#preference target',
  NAPTR: '#order #preference flags service regexp target',
  NS: 'target',
  OPENPGPKEY: 'key',
  PTR: 'target',
  RP: 'mbox txt',
  SMIMEA: '#usage #selector #matchingtype certificate',
  SOA: 'ns mbox #refresh #retry #expire #minttl',
  SRV: '#priority #weight #port target',
  SSHFP: '#algorithm #type fingerprint',
  SVCB: '#priority target params',
  TLSA: '#usage #selector #matchingtype certificate',
  TXT: 'text',
}

/** DNSControl's interpreter (otto 0.5.1) writes half a surrogate pair, and each half of an escaped pair, as U+FFFD in its JSON. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g

/** A modifier whose result is ignored. */
const set =
  <T>(change: (target: T) => unknown) =>
  (target: T): void => {
    change(target)
  }

/** Runs a script as DNSControl would, for at most five seconds, and returns its intermediate JSON. Throws if DNSControl would refuse it. */
export function runDnsconfig(script: string, version: DnscontrolVersion = 4): { readonly domains: readonly { readonly name: string }[] } {
  const domains: Domain[] = []
  const apply = (modifier: Modifier, target: { readonly meta: Record<string, unknown> }): void => {
    if (typeof modifier === 'function') modifier(target)
    else if (Array.isArray(modifier)) for (const one of modifier) apply(one, target)
    else {
      refuseUnless(typeof modifier === 'object' && modifier !== null, 'a modifier of an unknown kind')
      Object.assign(target.meta, modifier)
    }
  }
  const record =
    (type: string, parameters: readonly string[]) =>
    (...args: unknown[]) => {
      refuseUnless(args.length > parameters.length, `${type} takes ${parameters.length + 1} arguments`)
      refuseUnless(typeof args[0] === 'string', `${type} takes a label`)
      for (const [i, parameter] of parameters.entries()) {
        const isSound = typeof args[i + 1] === (parameter.startsWith('#') ? 'number' : 'string')
        refuseUnless(isSound, `${type} does not take ${String(args[i + 1])} as ${parameter}`)
      }
      return (domain: Domain): ScriptRecord => {
        const values = args.slice(1, parameters.length + 1)
        const name = type === 'SMIMEA' ? `${args[0]}._smimecert` : args[0]
        const label = version === 4 ? { name: String(name) } : { args: [args[0], ...values] }
        const created: ScriptRecord = { type, values, meta: {}, ttl: domain.defaultTTL, ...label }
        for (const modifier of args.slice(parameters.length + 1)) apply(modifier as Modifier, created)
        domain.created.push(created)
        return created
      }
    }
  const functions = Object.fromEntries(Object.entries(PARAMETERS).map(([type, parameters]) => [type, record(type, parameters.split(' '))]))
  runInNewContext(
    script.replace(ESCAPED_SURROGATE, '\ufffd'),
    {
      ...functions,
      NewRegistrar: (name: string) => name,
      NewDnsProvider: (name: string) => name,
      DnsProvider: (name: string, count = -1) => set<Domain>((domain) => Object.assign(domain.dnsProviders, { [name]: count })),
      DefaultTTL: (defaultTTL: number) => set<Domain>((domain) => Object.assign(domain, { defaultTTL })),
      TTL: (ttl: number) => set<object>((created) => Object.assign(created, { ttl })),
      NAMESERVER: (name: string) => set<Domain>((domain) => domain.nameservers.push({ name })),
      NAMESERVER_TTL: (ttl: number) => ({ ns_ttl: String(ttl) }),
      CAA_CRITICAL: set<object>((created) => Object.assign(created, { caaflag: 128 })),
      NO_PURGE: set<Domain>((domain) => Object.assign(domain, { KeepUnknown: true })),
      IGNORE: (label_pattern = '*', rType_pattern = '*', target_pattern = '*') =>
        set<Domain>((domain) => domain.unmanaged.push({ label_pattern, rType_pattern, target_pattern })),
      D: (name: string, registrar: string, ...modifiers: Modifier[]) => {
        refuseUnless(!domains.some((domain) => domain.name === name), `${name} is declared more than once`)
        const domain: Domain = { name, registrar, meta: {}, created: [], dnsProviders: {}, nameservers: [], unmanaged: [], defaultTTL: 0 }
        for (const modifier of modifiers) apply(modifier, domain)
        domains.push(domain)
      },
    },
    { timeout: 60_000 },
  )
  const printed = domains.map((domain) => printDomain(domain, version))
  return JSON.parse(JSON.stringify({ registrars: [], dns_providers: [], domains: printed }))
}

/** A domain as `print-ir` prints it, with server names without final dots. */
function printDomain(
  { name, registrar, meta, created, dnsProviders, nameservers, unmanaged, KeepUnknown }: Domain,
  version: DnscontrolVersion,
) {
  for (const server of nameservers) checkTarget(server.name)
  const given = created.map((one): GivenRecord => {
    const [label, ...values] = one.args ?? [one.name, ...one.values]
    return { type: one.type, label: String(label), values, ttl: one.ttl || 300, meta: one.meta, caaFlag: one.caaflag ?? 0 }
  })
  return {
    name,
    uniquename: name,
    registrar,
    meta: version === 4 ? { ...meta, dnscontrol_uniquename: name } : meta,
    dnsProviders,
    nameservers: nameservers.map((server) => ({ name: server.name.replace(/\.$/, '') })),
    unmanaged,
    keepunknown: KeepUnknown,
    records: checkRecords(given, name).map((record) => {
      const head = { type: record.type, name: record.label, ttl: record.ttl, meta: record.meta, filepos: '[line:1:1]' }
      if (version === 4) return { ...head, ...fieldsOf4(record) }
      const rdata = presentationOf5(record)
      return { ...head, name_unicode: record.label, typenum: 1, comparablev3: rdata, rdata }
    }),
  }
}
