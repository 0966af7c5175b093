/**
 * Which record sets Route 53 stores. The recordings show A, CNAME and TXT records, the order of lists and the refusal of duplicates; the other rules and
 * messages are those of its API reference, its developer guide and of reports by its users.
 */
import { randomUUID } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { compare, Refusal, rdataForms } from '../base.ts'
import { elementAt, textAt, type XmlContent, type XmlElement } from './xml.ts'

export type AliasTarget = { readonly hostedZoneId: string; readonly dnsName: string; readonly evaluateTargetHealth: boolean }

/** A record set as the API returns it. */
export interface RecordSet {
  /** In lower case, absolute, with octal escapes. */
  readonly name: string
  readonly type: string
  /** Null for an alias. */
  readonly ttl: number | null
  readonly values: readonly string[]
  readonly alias: AliasTarget | null
  /** Elements of a routing policy and others: `Weight`, `Region`, `HealthCheckId` … */
  readonly others: readonly (readonly [name: string, value: XmlContent])[]
  readonly setIdentifier: string | null
}

/** Refuses a request with an `ErrorResponse`. */
export function refusal(status: number, code: string, message: string): Refusal {
  const content: XmlContent = Object.entries({ Type: 'Sender', Code: code, Message: message })
  return new Refusal(status, {
    root: 'ErrorResponse',
    content: [
      ['Error', content],
      ['RequestId', randomUUID()],
    ],
  })
}

const invalid = (...problems: readonly string[]): Refusal => refusal(400, 'InvalidChangeBatch', `[${problems.join(', ')}]`)
export const keyOf = ({ name, type, setIdentifier }: RecordSet): string => `${name} ${type} ${setIdentifier ?? ''}`

/** Names are compared by their labels from the last to the first, then types, then set identifiers. */
export function compareSets(a: RecordSet, b: RecordSet): number {
  return compare(reversed(a.name), reversed(b.name)) || compare(a.type, b.type) || compare(a.setIdentifier ?? '', b.setIdentifier ?? '')
}

export const reversed = (name: string): string => `${name.replace(/\.$/, '').split('.').reverse().join('.')}.`

/** Letters in lower case, other characters than letters, digits, `-`, `_` and dots in octal. */
export function storedName(sent: string): string {
  const absolute = sent.endsWith('.') ? sent : `${sent}.`
  const bad = () => refusal(400, 'InvalidChangeBatch', `[FATAL problem: InvalidDomainName encountered with '${sent}']`)
  const name = absolute.replace(/\\([0-7]{3})|([^\\])|\\/g, (_, octal, plain) => {
    if (octal === undefined && plain === undefined) throw bad()
    const code = octal === undefined ? (plain as string).charCodeAt(0) : Number.parseInt(octal, 8)
    const character = String.fromCharCode(code).toLowerCase()
    if (code > 255) throw bad()
    return /[a-z0-9_-]/.test(character) || (octal === undefined && plain === '.') ? character : `\\${code.toString(8).padStart(3, '0')}`
  })
  const labels = name.slice(0, -1).split('.')
  const octets = (label: string): number => label.replace(/\\\d{3}/g, 'x').length
  if (labels.some((label) => octets(label) < 1 || octets(label) > 63) || octets(name) > 255) throw bad()
  return name
}

const NUMBER = '(?:0|[1-9]\\d{0,4})'
const HOST = '(?:\\.|(?:(?:[a-zA-Z0-9_*/-]|\\\\[0-7]{3})+\\.)*(?:[a-zA-Z0-9_*/-]|\\\\[0-7]{3})+\\.?)'
/** Printable characters and octal escapes; a backslash before any other character escapes it, as octoDNS sends `\;`. */
const STRING = '"(?:[^"\\\\\\x00-\\x1f\\x7f-\\uffff]|\\\\[^0-9]|\\\\[0-3][0-7]{2})*"'

const FORMS = rdataForms('CAA CNAME DS HTTPS MX NAPTR NS PTR SOA SPF SRV SSHFP SVCB TLSA TXT', {
  number: NUMBER,
  seconds: '\\d+',
  word: '[a-zA-Z0-9]+',
  host: HOST,
  string: STRING,
  hex: '[0-9a-fA-F]+',
  params: '(?: [a-z0-9-]+(?:=\\S+)?)*',
  texts: `${STRING}(?: +${STRING})*`,
})

const TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', ...Object.keys(FORMS)])
const ONE_VALUE: ReadonlySet<string> = new Set(['CNAME', 'SOA'])
const MAX_VALUES = 400
const MAX_STRING = 255
const MAX_TEXT = 4000
const MAX_TTL = 2_147_483_647

function valueProblem(type: string, value: string): string | null {
  if (type === 'A')
    return isIPv4(value) ? null : `FATAL problem: ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address) encountered with '${value}'`
  if (type === 'AAAA')
    return isIPv6(value)
      ? null
      : `FATAL problem: AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address) encountered with '${value}'`
  if (!FORMS[type]?.test(value)) return `FATAL problem: Invalid${type}RRDATA encountered with '${value}'`
  if (type !== 'TXT' && type !== 'SPF') return null
  const strings = [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(?:[0-7]{3}|.)/g, 'x').length)
  if (strings.some((length) => length > MAX_STRING))
    return `FATAL problem: CharacterStringTooLong (Value is too long) encountered with '${value}'`
  return strings.reduce((sum, length) => sum + length, 0) > MAX_TEXT ? `FATAL problem: TXTRDATATooLong encountered with '${value}'` : null
}

const KNOWN = ['Name', 'Type', 'TTL', 'ResourceRecords', 'AliasTarget', 'SetIdentifier']

/** Reads a `ResourceRecordSet` element, and refuses what Route 53 does not store. */
export function readRecordSet(element: XmlElement | null, zone: string): RecordSet {
  const name = storedName(textAt(element, 'Name') ?? '')
  const type = textAt(element, 'Type') ?? ''
  if (!TYPES.has(type)) throw refusal(400, 'InvalidInput', `1 validation error detected: Value '${type}' failed to satisfy constraint`)
  if (name !== zone && !name.endsWith(`.${zone}`)) throw invalid(`RRSet with DNS name ${name} is not permitted in zone ${zone}`)
  if (type === 'CNAME' && name === zone) throw invalid(`RRSet of type CNAME with DNS name ${name} is not permitted at apex in zone ${zone}`)
  const values = (elementAt(element, 'ResourceRecords')?.children ?? []).map((record) => textAt(record, 'Value') ?? '')
  const target = elementAt(element, 'AliasTarget')
  const alias =
    target === null
      ? null
      : {
          hostedZoneId: textAt(target, 'HostedZoneId') ?? '',
          dnsName: storedName(textAt(target, 'DNSName') ?? ''),
          evaluateTargetHealth: textAt(target, 'EvaluateTargetHealth') === 'true',
        }
  const ttl = textAt(element, 'TTL')
  if (alias === null ? ttl === null || values.length === 0 : ttl !== null || values.length > 0)
    throw refusal(400, 'InvalidInput', 'Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords]]')
  if (ttl !== null && (!/^\d+$/.test(ttl) || Number(ttl) > MAX_TTL)) throw refusal(400, 'InvalidInput', `Invalid TTL ${ttl}`)
  const double = values.find((value, index) => values.indexOf(value) !== index)
  if (double !== undefined) throw invalid(`Duplicate Resource Record: '${double}'`)
  if (values.length > (ONE_VALUE.has(type) ? 1 : MAX_VALUES)) throw invalid(`Too many values in RRSet with DNS name ${name}, type ${type}`)
  const problems = values.flatMap((value) => valueProblem(type, value) ?? [])
  if (problems.length > 0) throw invalid(...problems.map((problem) => `Invalid Resource Record: '${problem}'`))
  return {
    name,
    type,
    ttl: ttl === null ? null : Number(ttl),
    values,
    alias,
    setIdentifier: textAt(element, 'SetIdentifier'),
    others: (element?.children ?? []).flatMap((child) => (KNOWN.includes(child.name) ? [] : [[child.name, child.text] as const])),
  }
}

export const printRecordSet = ({ name, type, ttl, values, alias, others, setIdentifier }: RecordSet): XmlContent => [
  ['Name', name],
  ['Type', type],
  ['SetIdentifier', setIdentifier ?? undefined],
  ...others,
  ['TTL', ttl ?? undefined],
  ['ResourceRecords', values.length === 0 ? undefined : values.map((value) => ['ResourceRecord', [['Value', value]]] as const)],
  [
    'AliasTarget',
    alias === null
      ? undefined
      : [
          ['HostedZoneId', alias.hostedZoneId],
          ['DNSName', alias.dnsName],
          ['EvaluateTargetHealth', alias.evaluateTargetHealth],
        ],
  ],
]

const sameSet = (a: RecordSet, b: RecordSet): boolean => contentOf(a) === contentOf(b)

const contentOf = ({ ttl, values, alias, others }: RecordSet): string =>
  JSON.stringify([ttl, [...values].sort(), alias && [alias.hostedZoneId, alias.dnsName, alias.evaluateTargetHealth], others])

export type Change = { readonly action: string; readonly set: RecordSet }
const MAX_RECORDS = 1000
const MAX_CHARACTERS = 32_000

/** Carries out all changes or none. Returns the new record sets of the zone. */
export function changedSets(sets: readonly RecordSet[], changes: readonly Change[], zone: string, zoneId: string): RecordSet[] {
  const cost = (of: (set: RecordSet) => number): number =>
    changes.reduce((sum, { action, set }) => sum + of(set) * (action === 'UPSERT' ? 2 : 1), 0)
  if (cost(({ values }) => values.length) > MAX_RECORDS) throw invalid(`Number of records limit of ${MAX_RECORDS} exceeded.`)
  if (cost(({ values }) => values.join('').length) > MAX_CHARACTERS)
    throw invalid(`Number of characters limit of ${MAX_CHARACTERS} exceeded.`)
  const state = new Map(sets.map((set) => [keyOf(set), set]))
  const problems: string[] = []
  for (const { action, set } of changes) {
    const existing = state.get(keyOf(set))
    const subject = `resource record set [name='${set.name}', type='${set.type}'${set.setIdentifier === null ? '' : `, set-identifier='${set.setIdentifier}'`}]`
    if (action === 'CREATE' && existing !== undefined) problems.push(`Tried to create ${subject} but it already exists`)
    else if (action === 'DELETE' && existing === undefined) problems.push(`Tried to delete ${subject} but it was not found`)
    else if (action === 'DELETE' && !sameSet(existing as RecordSet, set))
      problems.push(`Tried to delete ${subject} but the values provided do not match the current values`)
    else if (action === 'DELETE') state.delete(keyOf(set))
    else state.set(keyOf(set), set)
  }
  const after = [...state.values()]
  const byName = new Map<string, RecordSet[]>()
  for (const set of after) byName.set(set.name, [...(byName.get(set.name) ?? []), set])
  for (const { action, set } of changes) {
    if (action === 'DELETE') continue
    const beside = byName.get(set.name) ?? []
    const conflict = beside.find((other) => other.type !== set.type && (other.type === 'CNAME' || set.type === 'CNAME'))
    if (conflict !== undefined)
      problems.push(
        `RRSet of type ${set.type} with DNS name ${set.name} is not permitted because a conflicting RRSet of type  ${conflict.type} with the same DNS name already exists in zone ${zone}`,
      )
    if (beside.some((other) => other.type === set.type && (other.setIdentifier === null) !== (set.setIdentifier === null)))
      problems.push(`RRSet with DNS name ${set.name}, type ${set.type}, SetIdentifier ${set.setIdentifier} cannot be created beside others`)
    const target = set.alias
    if (target === null || target.hostedZoneId !== zoneId) continue
    const subject = `Tried to create an alias that targets ${target.dnsName}, type ${set.type} in zone ${zoneId}, but`
    if (target.dnsName !== zone && !target.dnsName.endsWith(`.${zone}`))
      problems.push(`${subject} the alias target name does not lie within the target zone`)
    else if (!byName.get(target.dnsName)?.some(({ type }) => type === set.type)) problems.push(`${subject} that target was not found`)
  }
  for (const type of ['NS', 'SOA'])
    if (!byName.get(zone)?.some((set) => set.type === type))
      problems.push(`A HostedZone must contain ${type === 'NS' ? 'at least one NS record for the zone itself' : 'exactly one SOA record'}.`)
  if (problems.length > 0) throw invalid(...problems)
  return after.sort(compareSets)
}
