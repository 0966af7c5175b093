/**
 * Which RRsets Cloud DNS stores, and which changes it refuses. The recordings show A, CNAME and TXT records, exact deletions and the order of lists; the
 * other rules, reasons and texts are those of its API reference, of its page of error messages and of the test server in Google's own client library.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { compare, fromRoot, isWholeNumber, Refusal, rdataForms } from '../base.ts'

export interface GoogleRrset {
  readonly kind: 'dns#resourceRecordSet'
  /** Absolute, with the final dot. */
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly rrdatas: readonly string[]
  readonly routingPolicy?: unknown
}

export const refusal = (status: number, reason: string, message: string): Refusal =>
  new Refusal(status, { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } })

export type SentChange = { readonly additions?: readonly SentRrset[]; readonly deletions?: readonly SentRrset[] }
type SentRrset = Partial<Omit<GoogleRrset, 'kind'>>

/** Limits of a new project: RRsets added and deleted by one change, octets of their rrdata, records of an RRset. */
const MAX_RRSETS = 1000
const MAX_RRDATA = 100_000
const MAX_RECORDS = 100
const MAX_TTL = 2 ** 31 - 1

const TYPES: ReadonlySet<string> = new Set(
  'A AAAA ALIAS CAA CNAME DNSKEY DS HTTPS IPSECKEY MX NAPTR NS PTR SOA SPF SRV SSHFP SVCB TLSA TXT'.split(' '),
)
const SINGLE: ReadonlySet<string> = new Set(['ALIAS', 'CNAME', 'SOA'])
const APEX: ReadonlySet<string> = new Set(['NS', 'SOA'])
const LABEL = '[a-z0-9_](?:[a-z0-9_/-]{0,61}[a-z0-9_])?'
const NAME = new RegExp(`^(?:\\*\\.)?(?:${LABEL}\\.)+$`)
const HOST = `(?:\\.|(?:${LABEL}\\.)+)`
const STRING = '"(?:[^"\\\\]|\\\\.)*"'
const WORD = '(?:[^\\s"]+|"(?:[^"\\\\]|\\\\.)*")'

/** Forms of rrdata; other types only need some text. */
const FORMS = rdataForms('ALIAS CAA CNAME DS HTTPS MX NAPTR NS PTR SRV SSHFP SVCB TLSA TXT', {
  number: '\\d+',
  word: '[a-z0-9]+',
  host: HOST,
  string: WORD,
  hex: '[0-9a-fA-F]+',
  params: '(?: .+)?',
  texts: `(?:${STRING}|[^\\s"]+)(?: (?:${STRING}|[^\\s"]+))*`,
})

const isRrdata = (type: string, text: string): boolean => {
  if (type === 'A') return isIPv4(text)
  if (type === 'AAAA') return isIPv6(text)
  if (type === 'TXT' && [...text.matchAll(new RegExp(STRING, 'g'))].some(([one]) => one.replace(/\\(?:\d{3}|.)/g, 'x').length > 257))
    return false
  return text !== '' && (FORMS[type]?.test(text.toLowerCase()) ?? true)
}

const invalid = (where: string, what: string, value: unknown): Refusal =>
  refusal(400, 'invalid', `Invalid value for '${where}.${what}': '${String(value)}'`)

function checkForm(sent: SentRrset, zone: string, where: string): GoogleRrset {
  const { name = '', type = '', rrdatas = [] } = sent
  // Google's Python client sends the number as a text.
  const ttl = Number(sent.ttl ?? 0)
  const lower = name.toLowerCase()
  if (!NAME.test(lower) || name.length > 254 || (lower !== zone && !lower.endsWith(`.${zone}`))) throw invalid(where, 'name', name)
  if (!TYPES.has(type)) throw invalid(where, 'type', type)
  if (!isWholeNumber(ttl, 0, MAX_TTL)) throw invalid(where, 'ttl', ttl)
  if (sent.routingPolicy !== undefined)
    return { kind: 'dns#resourceRecordSet', name: lower, type, ttl, rrdatas: [], routingPolicy: sent.routingPolicy }
  if (rrdatas.length === 0) throw invalid(where, 'rrdata', '<empty>')
  rrdatas.forEach((text, index) => {
    if (!isRrdata(type, text)) throw invalid(where, `rrdata[${index}]`, text)
  })
  if (new Set(rrdatas).size < rrdatas.length) throw invalid(where, 'rrdata', 'duplicate')
  if (rrdatas.length > 1 && SINGLE.has(type))
    throw refusal(
      400,
      'invalidRecordCount',
      `The resource record set '${where}' is only permitted to have one record because it is of type '${type}'.`,
    )
  if (rrdatas.length > MAX_RECORDS)
    throw refusal(403, 'quotaExceeded', `The number of records of '${where}' exceeds the quota 'resourceRecordsPerRrset' (${MAX_RECORDS}).`)
  if (name.startsWith('*.') && type === 'NS')
    throw refusal(400, 'wildcardNotAllowed', `The resource record set '${where}' has the type '${type}', which cannot be a wildcard.`)
  if (type === 'ALIAS' && lower !== zone) throw invalid(where, 'type', type)
  return { kind: 'dns#resourceRecordSet', name: lower, type, ttl, rrdatas: [...rrdatas] }
}

const keyOf = ({ name, type }: GoogleRrset): string => `${name} ${type}`

const sameContent = (a: GoogleRrset, b: GoogleRrset): boolean =>
  a.ttl === b.ttl &&
  JSON.stringify([...a.rrdatas].sort()) === JSON.stringify([...b.rrdatas].sort()) &&
  JSON.stringify(a.routingPolicy) === JSON.stringify(b.routingPolicy)

/** The RRsets after a change, which is carried out as a whole or refused. */
export function changedRrsets(
  existing: readonly GoogleRrset[],
  { additions = [], deletions = [] }: SentChange,
  zone: string,
): { readonly rrsets: GoogleRrset[]; readonly additions: GoogleRrset[]; readonly deletions: GoogleRrset[] } {
  if (additions.length + deletions.length === 0)
    throw refusal(400, 'required', "The 'entity.change' parameter is required but was missing.")
  for (const [quota, list] of [['rrsetAdditionsPerChange', additions] as const, ['rrsetDeletionsPerChange', deletions] as const])
    if (list.length > MAX_RRSETS) throw refusal(403, 'quotaExceeded', `The change exceeds the quota '${quota}' (${MAX_RRSETS}).`)
  const octets = [...additions, ...deletions].flatMap(({ rrdatas = [] }) => rrdatas).reduce((sum, text) => sum + text.length, 0)
  if (octets > MAX_RRDATA) throw refusal(403, 'quotaExceeded', `The change exceeds the quota 'totalRrdataSizePerChange' (${MAX_RRDATA}).`)
  const added = additions.map((one, index) => checkForm(one, zone, `entity.change.additions[${index}]`))
  const removed = deletions.map((one, index) => checkForm(one, zone, `entity.change.deletions[${index}]`))
  const after = new Map(existing.map((one) => [keyOf(one), one]))
  removed.forEach((one, index) => {
    const where = `entity.change.deletions[${index}]`
    const now = after.get(keyOf(one))
    if (now === undefined) throw refusal(404, 'notFound', `The '${where}' resource named '${one.name} (${one.type})' does not exist.`)
    if (!sameContent(now, one)) throw refusal(412, 'conditionNotMet', `Precondition not met for '${where}'`)
    if (APEX.has(one.type) && one.name === zone && !added.some((other) => keyOf(other) === keyOf(one))) throw badApex(where, one.type)
    after.delete(keyOf(one))
  })
  added.forEach((one, index) => {
    const where = `entity.change.additions[${index}]`
    if (after.has(keyOf(one)))
      throw refusal(409, 'alreadyExists', `The resource '${where}' named '${one.name} (${one.type})' already exists`)
    if (one.type === 'SOA' && one.name !== zone) throw badApex(where, one.type)
    if (one.type === 'CNAME' && one.name === zone)
      throw refusal(400, 'recordTypeDisallowedAtZoneApex', `The resource record set '${where}' cannot exist at the zone apex.`)
    after.set(keyOf(one), one)
  })
  refuseBesideCname(added, [...after.values()])
  return { rrsets: [...after.values()].sort(compareRrsets), additions: added, deletions: removed }
}

const badApex = (where: string, type: string): Refusal =>
  refusal(
    400,
    'invalidZoneApex',
    `The resource record set '${where}' is invalid because a zone must contain exactly one resource record set of type '${type}' at the apex.`,
  )

function refuseBesideCname(added: readonly GoogleRrset[], after: readonly GoogleRrset[]): void {
  const types = new Map<string, Set<string>>()
  for (const { name, type } of after) types.set(name, (types.get(name) ?? new Set()).add(type))
  for (const { name, type } of added) {
    const own = types.get(name) ?? new Set()
    const other = [...own].find((one) => one !== type)
    if (!own.has('CNAME') || other === undefined) continue
    throw refusal(
      400,
      'cnameResourceRecordSetConflict',
      `The resource record set 'entity.change.additions[${name}][${type}]' is invalid because the DNS name '${name}' has a resource record set of the type ` +
        `'${other}'. A DNS name may have either one CNAME resource record set or resource record sets of other types, but not both.`,
    )
  }
}

/** Lists are in the canonical order of names. */
export const compareRrsets = (a: GoogleRrset, b: GoogleRrset): number =>
  compare(fromRoot(a.name), fromRoot(b.name)) || compare(a.type, b.type)
