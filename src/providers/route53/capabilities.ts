/** What a hosted zone can hold. The limits are those of the Route 53 API reference and developer guide ("Quotas", "Supported DNS record types"). */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { type AliasZones, aliasZoneOf } from './alias-targets.ts'
import { rdataToApi } from './rdata-format.ts'

/** Records and characters of their values in one batch of changes. */
const MAX_VALUES = { count: 1000, characters: 32_000, lengthOf: (type: string, data: string): number => rdataToApi(type, data).length }
/** Octets of a TXT record. */
const MAX_TEXT = 4000
/** An alias has the TTL of its target. That of load balancers and CloudFront is 60 seconds. */
export const ALIAS_TTL = 60 as Ttl

const TYPES: ReadonlySet<string> = new Set('A AAAA ALIAS CAA CNAME DS HTTPS MX NAPTR NS PTR SPF SRV SSHFP SVCB TLSA TXT'.split(' '))

/** Types that plans describe. The SOA record belongs to the service. */
export const isPlannedType = (type: string): boolean => TYPES.has(type) && type !== 'ALIAS'

type RuleResult = ReturnType<RecordRule>

const accept = (record: DefinedRecord): RuleResult => ({ record, diagnostics: [] })

const refuse = (
  { name, type, at }: DefinedRecord,
  why: string,
  more: { readonly code?: Diagnostic['code']; readonly hint?: string } = {},
): RuleResult => ({
  record: null,
  diagnostics: [{ severity: 'error', code: more.code ?? 'record-unsupported', message: `${name} ${type}: ${why}`, at, hint: more.hint }],
})

const apex: RecordRule = (record, zone) =>
  record.type === 'CNAME' && record.name === zone
    ? refuse(record, 'Route 53 holds no CNAME at the apex', { hint: 'use ALIAS' })
    : accept(record)

const textLength: RecordRule = (record) => {
  if (record.type !== 'TXT' && record.type !== 'SPF') return accept(record)
  const { length } = txtRdataToOctets(record.data)
  return length > MAX_TEXT
    ? refuse(record, `the text has ${length} octets; Route 53 holds ${MAX_TEXT}`, { code: 'limit-exceeded' })
    : accept(record)
}

/** An alias leads to a name of the same zone, or to an AWS resource whose hosted zone is known. */
const alias =
  (aliasZones: AliasZones): RecordRule =>
  (record, zone) => {
    const { type, name, data } = record
    if (type !== 'ALIAS') return accept(record)
    if (data === name) return refuse(record, 'an alias cannot lead to itself')
    if (aliasZoneOf(data as DomainName, zone, '', aliasZones) === null)
      return refuse(
        record,
        `Route 53 aliases lead to names of the same zone or to AWS resources, and the hosted zone of ${data} is not known`,
        {
          hint: `use a CNAME, or name the hosted zone of the AWS resource under alias_zones`,
        },
      )
    return accept(record.ttl === ALIAS_TTL ? record : { ...record, ttl: ALIAS_TTL })
  }

/** `createsZones`: whether the settings say how zones are created. */
export const route53Capabilities = (aliasZones: AliasZones, createsZones: boolean): Capabilities => ({
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, divides: true, maxUnits: MAX_VALUES.count, maxValues: MAX_VALUES, hasPrecondition: true },
  types: TYPES,
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  settingProblems: ({ type }) => (type === 'slave' ? [{ field: 'type', message: 'Route 53 has no secondary zones' }] : []),
  createsZones,
  assignsNameservers: true,
  canCreateZone: (name) => createsZones && name !== '.',
  aliasExclusive: true,
  rules: [apex, textLength, alias(aliasZones)],
})
