/**
 * What each type of record may say. A rule looks at a record as it would be stored and tells every fault it finds; rules that
 * need the rest of the zone are told by the routes.
 */
import { isIPv4, isIPv6 } from 'node:net'
import type { RecordFields } from '../../store/record-store.ts'
import type { RequestProblem } from '../request-error.ts'

/** `unknownSettings` are fields that the request lacks or that cannot be read: what stands in their place says nothing. */
export type RecordRule = (record: RecordFields, unknownSettings: ReadonlySet<string>) => readonly RequestProblem[]

const problem = (field: string, reason: string): RequestProblem[] => [{ field, reason }]

/** Fields that only some types have; 0, null and the empty string stand for none. */
const OWN_FIELDS: readonly { readonly field: keyof RecordFields; readonly types: readonly string[] }[] = [
  { field: 'priority', types: ['MX', 'SRV'] },
  { field: 'weight', types: ['SRV'] },
  { field: 'port', types: ['SRV'] },
  { field: 'service', types: ['SRV'] },
  { field: 'protocol', types: ['SRV'] },
  { field: 'tag', types: ['CAA'] },
]

const ownFields: RecordRule = (record) =>
  OWN_FIELDS.filter(({ field, types }) => !types.includes(record.type) && Boolean(record[field])).flatMap(({ field }) =>
    problem(field, `Cannot specify ${field} for ${record.type} record`),
  )

const address: RecordRule = ({ type, target }) => {
  if (target === '') return problem('target', 'target is required')
  const fits = type === 'A' ? isIPv4(target) : isIPv6(target) && !target.includes('%')
  return fits ? [] : problem('target', 'Invalid IPv4 or IPv6 address')
}

const targetRequired: RecordRule = ({ target }) => (target === '' ? problem('target', 'target is required') : [])

const apexCname: RecordRule = ({ name }) => (name === '' ? problem('name', 'CNAME records cannot be at the root of the domain') : [])

const wildcardNs: RecordRule = ({ name }) => (name.startsWith('*') ? problem('name', 'NS records cannot have wildcard names') : [])

/** A null MX (RFC 7505) is an MX record without a target. */
const nullMx: RecordRule = ({ target, priority }, unknownSettings) =>
  target === '' && priority !== 0 && !unknownSettings.has('target') ? problem('priority', 'priority must be 0 for a null MX record') : []

const CA_DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i

/** URLs of printable ASCII, as RFC 3986 has them. */
const IODEF = /^(?:mailto:[!#-?A-[\]-~]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*|https?:\/\/[a-z0-9[][!#-[\]-~]*)$/i

/** `;` says that no authority may issue (RFC 8659 section 4.2). */
const caa: RecordRule = ({ tag, target }) => {
  const problems = tag ? [] : problem('tag', 'tag is required')
  if (target === '') return [...problems, ...problem('target', 'target is required')]
  // Without a tag, what would fit one of them is no second fault.
  const fits = CA_DOMAIN.test(target) || (tag !== 'iodef' && target === ';') || ((!tag || tag === 'iodef') && IODEF.test(target))
  return fits ? problems : [...problems, ...problem('target', 'You have entered an invalid target')]
}

/** By type; every type of the interface has an entry. */
const RULES: Readonly<Record<string, readonly RecordRule[]>> = {
  A: [address],
  AAAA: [address],
  NS: [targetRequired, wildcardNs],
  MX: [nullMx],
  CNAME: [targetRequired, apexCname],
  TXT: [targetRequired],
  SRV: [targetRequired],
  PTR: [targetRequired],
  CAA: [caa],
}

/** Every fault of a record's values but those of fields that are unread, which have been told. */
export const recordProblems = (record: RecordFields, unknownSettings: ReadonlySet<string>): RequestProblem[] =>
  [ownFields, ...(RULES[record.type] ?? [])]
    .flatMap((rule) => rule(record, unknownSettings))
    .filter(({ field }) => !unknownSettings.has(field ?? ''))
