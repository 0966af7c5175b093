/**
 * DNSControl itself cannot be had everywhere, so a dnsconfig.js is run here with the functions that its documentation describes
 * (docs.dnscontrol.org, language reference), which take the types of arguments it takes and collect what they are given as the
 * intermediate JSON of `dnscontrol print-ir`.
 */
import { runInNewContext } from 'node:vm'

type Modifier = ((record: Record<string, unknown>) => void) | Record<string, unknown> | readonly Modifier[]

interface Domain {
  readonly name: string
  readonly registrar: string
  readonly meta: Record<string, unknown>
  readonly records: Record<string, unknown>[]
  readonly dnsProviders: Record<string, number>
  readonly nameservers: { readonly name: string }[]
  readonly unmanaged: Record<string, string>[]
  readonly defaultTTL: number
  readonly keepunknown?: boolean
}

/** The parameters of each function after the label: `#` a number, else a text; and the fields they go to. */
const PARAMETERS: Readonly<Record<string, string>> = {
  A: 'target',
  AAAA: 'target',
  CAA: 'caatag target',
  CNAME: 'target',
  DHCID: 'target',
  DNAME: 'target',
  DNSKEY: '#dnskeyflags #dnskeyprotocol #dnskeyalgorithm dnskeypublickey',
  DS: '#dskeytag #dsalgorithm #dsdigesttype dsdigest',
  HTTPS: '#svcpriority target svcparams',
  LOC: '#d1 #m1 #s1 ns #d2 #m2 #s2 ew #alt #siz #hp #vp',
  MX: '#mxpreference target',
  NAPTR: '#naptrorder #naptrpreference naptrflags naptrservice naptrregexp target',
  NS: 'target',
  OPENPGPKEY: 'target',
  PTR: 'target',
  RP: 'mbox txt',
  SMIMEA: '#smimeausage #smimeaselector #smimeamatchingtype target',
  SOA: 'target soambox #soarefresh #soaretry #soaexpire #soaminttl',
  SRV: '#srvpriority #srvweight #srvport target',
  SSHFP: '#sshfpalgorithm #sshfpfingerprint target',
  SVCB: '#svcpriority target svcparams',
  TLSA: '#tlsausage #tlsaselector #tlsamatchingtype target',
  TXT: 'target',
}

/** A modifier whose own result is of no interest. */
const set =
  <T>(change: (target: T) => unknown) =>
  (target: T): void => {
    change(target)
  }

/** Runs a script as DNSControl would, in at most five seconds, and gives its intermediate JSON. Throws what DNSControl would throw. */
export function runDnsconfig(script: string): { readonly domains: readonly Domain[] } {
  const domains: Domain[] = []
  const check = (holds: boolean, message: string): void => {
    if (!holds) throw new Error(message)
  }
  const apply = (modifier: Modifier, target: Record<string, unknown>, meta: Record<string, unknown>): void => {
    if (typeof modifier === 'function') modifier(target)
    else if (Array.isArray(modifier)) for (const one of modifier) apply(one, target, meta)
    else {
      check(typeof modifier === 'object' && modifier !== null, 'WARNING: domain modifier type unsupported')
      Object.assign(meta, modifier)
    }
  }
  const record =
    (type: string, parameters: readonly string[]) =>
    (...args: unknown[]) => {
      check(args.length > parameters.length, `${type} record requires ${parameters.length + 1} arguments`)
      check(typeof args[0] === 'string', `${type} record name argument validation failed`)
      return (domain: Domain): void => {
        const name = type === 'SMIMEA' ? `${args[0]}._smimecert` : args[0]
        const made: Record<string, unknown> = { type, name, ttl: domain.defaultTTL, meta: {} }
        for (const [i, parameter] of parameters.entries()) {
          const value = args[i + 1]
          check(
            typeof value === (parameter.startsWith('#') ? 'number' : 'string'),
            `${type} record ${parameter} argument validation failed`,
          )
          made[parameter.replace('#', '')] = value
        }
        for (const modifier of args.slice(parameters.length + 1)) apply(modifier as Modifier, made, made['meta'] as Record<string, unknown>)
        if (type === 'LOC') made['target'] = parameters.map((parameter) => made[parameter.replace('#', '')]).join(' ')
        if (type === 'RP') made['zonefilepartial'] = `${made['mbox']} ${made['txt']}`
        const label = String(made['name'])
        check(label !== '' && !label.endsWith('.'), `label ${label} ends with a (.)`)
        const { skip_fqdn_check: skipped } = made['meta'] as Record<string, unknown>
        check(skipped === 'true' || !`.${label}`.endsWith(`.${domain.name}`), `label ${label} ends with domain name ${domain.name}`)
        const leads = /^(?:CNAME|DNAME|MX|NAPTR|NS|PTR|SOA|SRV)$/.test(type)
        check(!leads || !/['" +,|!£$%&()=?^*ç°§;:<>[\]@]/.test(String(made['target'])), `target (${made['target']}) includes invalid char`)
        check(!leads || !/\/.*(?<!\.in-addr\.arpa\.)$/.test(String(made['target'])), `target (${made['target']}) includes invalid char`)
        check(
          type !== 'CAA' || /^(?:issue(?:wild|mail|vmc)?|iodef|contact(?:email|phone))$/.test(String(made['caatag'])),
          'CAA tag is invalid',
        )
        const numbers = [made['tlsausage'] ?? made['smimeausage'], made['tlsaselector'] ?? made['smimeaselector']]
        const matching = made['tlsamatchingtype'] ?? made['smimeamatchingtype']
        check(!/^(?:TLSA|SMIMEA)$/.test(type) || /^[0-3] [01] [0-2]$/.test([...numbers, matching].join(' ')), `${type} is invalid`)
        const times = [made['soarefresh'], made['soaretry'], made['soaexpire'], made['soaminttl']]
        check(type !== 'SOA' || !times.includes(0), 'SOA times must be > 0')
        check(type !== 'CNAME' || label !== '@', 'cannot create CNAME record for bare domain')
        check(type !== 'NS' || label !== '@', 'cannot create NS record for bare domain. Use NAMESERVER instead')
        for (const key of ['loc', 'd1', 'm1', 's1', 'ns', 'd2', 'm2', 's2', 'ew', 'alt', 'siz', 'hp', 'vp', 'mbox', 'txt']) delete made[key]
        domain.records.push(made)
      }
    }
  const functions = Object.fromEntries(Object.entries(PARAMETERS).map(([type, parameters]) => [type, record(type, parameters.split(' '))]))
  runInNewContext(
    `'use strict';\n${script}`,
    {
      ...functions,
      NewRegistrar: (name: string) => name,
      NewDnsProvider: (name: string) => name,
      DnsProvider: (name: string, count = -1) => set<Domain>((domain) => Object.assign(domain.dnsProviders, { [name]: count })),
      DefaultTTL: (defaultTTL: number) => set<Domain>((domain) => Object.assign(domain, { defaultTTL })),
      TTL: (ttl: number) => set<object>((made) => Object.assign(made, { ttl })),
      NAMESERVER: (name: string) => set<Domain>((domain) => domain.nameservers.push({ name })),
      NAMESERVER_TTL: (ttl: number) => ({ ns_ttl: String(ttl) }),
      CAA_CRITICAL: set<object>((made) => Object.assign(made, { caaflag: 128 })),
      NO_PURGE: set<Domain>((domain) => Object.assign(domain, { keepunknown: true })),
      IGNORE: (label_pattern: string, rType_pattern: string, target_pattern: string) =>
        set<Domain>((domain) => domain.unmanaged.push({ label_pattern, rType_pattern, target_pattern })),
      D: (name: string, registrar: string, ...modifiers: Modifier[]) => {
        check(!domains.some((domain) => domain.name === name), `${name} is declared more than once`)
        const domain: Domain = { name, registrar, meta: {}, records: [], dnsProviders: {}, nameservers: [], unmanaged: [], defaultTTL: 0 }
        for (const modifier of modifiers) apply(modifier, domain as unknown as Record<string, unknown>, domain.meta)
        domains.push(domain)
      },
    },
    { timeout: 5000 },
  )
  return JSON.parse(JSON.stringify({ registrars: [], dns_providers: [], domains: domains.map(({ defaultTTL: _, ...domain }) => domain) }))
}
