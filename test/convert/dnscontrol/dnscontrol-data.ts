/** Rdata in DNSControl's form: fields per type in version 4, zone-file text in version 5. */
import { octetsToTxtRdata, quoteString } from '../../../src/dns/character-string.ts'
import { type GivenRecord, refuseUnless } from './dnscontrol-checks.ts'

/** The fields of the values of each type, in the order of its function's arguments. */
const FIELDS: Readonly<Record<string, string>> = {
  CAA: 'caatag target',
  DNSKEY: 'dnskeyflags dnskeyprotocol dnskeyalgorithm dnskeypublickey',
  DS: 'dskeytag dsalgorithm dsdigesttype dsdigest',
  HTTPS: 'svcpriority target svcparams',
  MX: 'mxpreference target',
  NAPTR: 'naptrorder naptrpreference naptrflags naptrservice naptrregexp target',
  SMIMEA: 'smimeausage smimeaselector smimeamatchingtype target',
  SOA: 'target soambox soarefresh soaretry soaexpire soaminttl',
  SRV: 'srvpriority srvweight srvport target',
  SSHFP: 'sshfpalgorithm sshfpfingerprint target',
  SVCB: 'svcpriority target svcparams',
  TLSA: 'tlsausage tlsaselector tlsamatchingtype target',
}

/** The fields of version 4, which omits zeros. */
export function fieldsOf4({ type, values, caaFlag }: GivenRecord): Record<string, unknown> {
  if (type === 'RP') return { target: '', zonfefilepartial: values.join(' ') }
  if (type === 'LOC') return locationOf4(values)
  const fields = (FIELDS[type] ?? 'target').split(' ').map((field, i) => [field, values[i]])
  const flag = type === 'CAA' ? [['caaflag', caaFlag]] : []
  return Object.fromEntries([...flag, ...fields].filter(([, value]) => value !== 0))
}

/** A location in the numbers of RFC 1876. The computed altitude is truncated, not rounded. */
function locationOf4(values: readonly unknown[]): Record<string, unknown> {
  const [d1 = 0, m1 = 0, s1 = 0, , d2 = 0, m2 = 0, s2 = 0, , altitude = 0, ...precisions] = values.map(Number)
  const thousandths = (degrees: number, minutes: number, seconds: number): number => (degrees * 60 + minutes) * 60_000 + seconds * 1000
  const size = (metres: number): number => {
    const digits = String(Math.round(metres * 100))
    return (Number(digits[0]) << 4) | (digits.length - 1)
  }
  const [locsize, lochorizpre, locvertpre] = precisions.map(size)
  const numbers = {
    loclatitude: 2 ** 31 + (values[3] === 'N' ? 1 : -1) * thousandths(d1, m1, s1),
    loclongitude: 2 ** 31 + (values[7] === 'E' ? 1 : -1) * thousandths(d2, m2, s2),
    localtitude: Math.trunc((altitude + 100_000) * 100),
    locsize,
    lochorizpre,
    locvertpre,
  }
  for (const number of Object.values(numbers)) refuseUnless(Number.isInteger(number) && Number(number) >= 0, `LOC with ${number}`)
  const angles = values.slice(0, 8).join(' ')
  const target = `${angles} ${altitude}m ${precisions.map((metres) => `${metres}m`).join(' ')}`
  return Object.fromEntries([...Object.entries(numbers), ['target', target]].filter(([, value]) => value !== 0))
}

/** The text of version 5. */
export function presentationOf5({ type, values, caaFlag }: GivenRecord): string {
  switch (type) {
    case 'TXT':
      return octetsToTxtRdata(unescaped(String(values[0])))
    case 'CAA':
      return `${caaFlag} ${values[0]} ${quoteString(unescaped(String(values[1])))}`
    case 'NAPTR':
      return values.map((value, i) => (i >= 2 && i <= 4 ? `"${value}"` : value)).join(' ')
    case 'LOC':
      return values.map((value, i) => locationPart(value, i)).join(' ')
    case 'SOA':
      return [values[0], String(values[1]).toLowerCase(), 0, ...values.slice(2)].join(' ')
    case 'HTTPS':
    case 'SVCB':
      return `${values[0]} ${values[1]} ${serviceParams(String(values[2]))}`.trimEnd()
    default:
      return values.join(' ')
  }
}

/** Seconds, the altitude and the precisions are rounded to hundredths. */
function locationPart(value: unknown, i: number): string {
  refuseUnless(i === 8 || typeof value === 'string' || Number(value) >= 0, `LOC with ${value}`)
  if (i === 2 || i === 6) return Number(value).toFixed(2)
  return i >= 8 ? `${Number(value).toFixed(2)}m` : String(value)
}

/** Splits parameters at spaces; each gets a `=`. */
const serviceParams = (text: string): string =>
  text
    .replaceAll('IGNORE', '1000')
    .split(/\s+/)
    .filter((param) => param !== '')
    .map((param) => {
      const [, key = '', value = ''] = /^([a-z0-9-]+)=(.*)$/.exec(param) ?? []
      refuseUnless(key !== '', `the service parameter ${param}`)
      return value === '' ? `${key}=""` : `${key}="${value.replace(/^"(.*)"$/, '$1')}"`
    })
    .join(' ')

/** The octets of a text in which a backslash escapes. */
function unescaped(text: string): Buffer {
  const parts = text.match(/\\\d{3}|\\.|[^\\]+/gs) ?? []
  return Buffer.concat(
    parts.map((part) => {
      if (/^\\\d{3}$/.test(part)) return Buffer.from([Number(part.slice(1))])
      return Buffer.from(part.startsWith('\\') ? part.slice(1) : part, 'utf8')
    }),
  )
}
