/** What a hosted zone can hold. The limits are those of the Route 53 API reference and developer guide ("Quotas", "Supported DNS record types"). */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { primaryZones, refuseIf } from '../record-rules.ts'
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

const apex = refuseIf(({ name, type }, zone) =>
  type === 'CNAME' && name === zone ? ['record-unsupported', 'Route 53 accepts no CNAME at the apex', 'use ALIAS'] : null,
)

const textLength = refuseIf(({ type, data }) => {
  const { length } = type === 'TXT' || type === 'SPF' ? txtRdataToOctets(data) : []
  return length > MAX_TEXT ? ['limit-exceeded', `the text has ${length} octets; Route 53 accepts ${MAX_TEXT}`] : null
})

/** An alias leads to a name of the same zone, or to an AWS resource whose hosted zone is known. */
const aliasTargets = (aliasZones: AliasZones): RecordRule =>
  refuseIf(({ type, name, data }, zone) => {
    if (type !== 'ALIAS') return null
    if (data === name) return 'an alias cannot lead to itself'
    if (aliasZoneOf(data as DomainName, zone, '', aliasZones) !== null) return null
    const why = `Route 53 aliases lead to names of the same zone or to AWS resources, and the hosted zone of ${data} is not known`
    return ['record-unsupported', why, 'use a CNAME, or name the hosted zone of the AWS resource under alias_zones']
  })

const aliasTtl: RecordRule = (record) => ({
  record: record.type !== 'ALIAS' || record.ttl === ALIAS_TTL ? record : { ...record, ttl: ALIAS_TTL },
  diagnostics: [],
})

/** `createsZones`: whether the settings say how zones are created. */
export const route53Capabilities = (aliasZones: AliasZones, createsZones: boolean): Capabilities => ({
  ...primaryZones('Route 53 has no secondary zones'),
  calls: { ...RRSET_STORE.calls, divides: true, maxUnits: MAX_VALUES.count, maxValues: MAX_VALUES, hasPrecondition: true },
  types: TYPES,
  createsZones,
  assignsNameservers: true,
  canCreateZone: (name) => createsZones && name !== '.',
  aliasExclusive: true,
  rules: [apex, textLength, aliasTargets(aliasZones), aliasTtl],
})
