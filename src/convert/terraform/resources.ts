/**
 * The zones and records among the resources of Terraform's providers. The attributes are those of the schemas of hashicorp/aws 6, cloudflare/cloudflare 4 and 5,
 * hashicorp/google 6, linode/linode 3 and hashicorp/dns 3 (docs/tasks/terraform.md).
 */
import { failure, ok, type Result } from '../../base/result.ts'
import { isObject } from '../../base/text.ts'
import { octetsToTxtRdata, unescapeString } from '../../dns/character-string.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { parseRdata } from '../../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { parseTtl } from '../../dns/ttl.ts'
import { ZONE_SETTINGS, type ZoneSettings } from '../../dns/zone.ts'
import { listOf, type StateResource, textOf as text, type Values } from './read-state.ts'

/** A type of providers here. */
export type Service = 'route53' | 'cloudflare' | 'google' | 'cloud' | 'rfc2136'

/** A zone with the record sets that the state has of it. */
export interface ZoneOfState {
  readonly service: Service
  /** Unique for the service. */
  readonly id: string
  readonly name: DomainName
  readonly isPrivate: boolean
  /** Google's project. */
  readonly project?: string | undefined
  readonly settings: ZoneSettings
  /** Null if no resource is the zone. */
  readonly resource: StateResource | null
  readonly records: readonly StateRecord[]
}

export interface StateRecord {
  readonly resource: StateResource
  readonly service: Service
  /** The identifier of its zone; for `rfc2136` its name. */
  readonly zone: string
}

/** How to find the identifier of the zone, and for zones the attributes that may have its name. */
type KnownType = readonly [service: Service, id: (values: Values) => string, ...names: string[]]

const TYPES: ReadonlyMap<string, KnownType> = new Map<string, KnownType>([
  ['aws_route53_zone', ['route53', ({ zone_id }) => text(zone_id), 'name']],
  ['cloudflare_zone', ['cloudflare', ({ id, zone_id }) => text(id) || text(zone_id), 'zone', 'name']],
  ['google_dns_managed_zone', ['google', ({ project, name }) => `${text(project)}/${text(name)}`, 'dns_name']],
  ['linode_domain', ['cloud', ({ id }) => text(id), 'domain']],
  ['aws_route53_record', ['route53', ({ zone_id }) => text(zone_id).replace(/^\/hostedzone\//, '')]],
  ['cloudflare_record', ['cloudflare', ({ zone_id }) => text(zone_id)]],
  ['cloudflare_dns_record', ['cloudflare', ({ zone_id }) => text(zone_id)]],
  ['google_dns_record_set', ['google', ({ project, managed_zone }) => `${text(project)}/${text(managed_zone)}`]],
  ['linode_domain_record', ['cloud', ({ domain_id }) => text(domain_id)]],
])

export const isZoneType = (type: string): boolean => (TYPES.get(type)?.length ?? 0) > 2

/** The zone of a resource or data source; null if it is none. */
export function zoneOf(resource: StateResource): ZoneOfState | null {
  const { type, values, isData } = resource
  const [service = 'cloud', idOf, ...names] = TYPES.get(type) ?? []
  const stated = names.map((key) => text(values[key])).find((one) => one !== '')
  const name = stated === undefined ? null : parseAbsoluteName(stated)
  const id = idOf?.(values) ?? ''
  if (!name?.ok || id === '') return null
  const isPrivate = values['private_zone'] === true || listOf(values['vpc']).length > 0 || values['visibility'] === 'private'
  const project = service === 'google' ? text(values['project']) || undefined : undefined
  const settings = service === 'cloud' && !isData ? settingsOf(values) : {}
  return { service, id, name: name.value, isPrivate, project, settings, resource: isData ? null : resource, records: [] }
}

/** Statuses of the API that definitions cannot have are left out. */
const settingsOf = (values: Values): ZoneSettings =>
  Object.fromEntries(
    ZONE_SETTINGS.flatMap((key) => {
      const value = key === 'status' && values[key] === 'has_errors' ? 'active' : values[key]
      return value == null || (key === 'status' && value !== 'active' && value !== 'disabled') ? [] : [[key, value]]
    }),
  )

/** The record set of a resource; null if it is none. */
export function recordOf(resource: StateResource): StateRecord | null {
  const { type, values, isData } = resource
  const [service, idOf, ...names] = NAME_SERVER_SETS.has(type) ? NAME_SERVER : (TYPES.get(type) ?? [])
  return isData || service === undefined || idOf === undefined || names.length > 0 ? null : { resource, service, zone: idOf(values) }
}

const NAME_SERVER: KnownType = ['rfc2136', ({ zone }) => text(zone).toLowerCase()]

/** The record set as the API of its service lists it. */
export function listedItem({ service, resource: { values } }: StateRecord, zone: DomainName): unknown {
  if (service === 'route53') return route53Set(values, zone)
  if (service === 'cloudflare') return cloudflareRecord(values, zone)
  if (service === 'google') return googleSet(values)
  // Versions 1 and 2 of the provider have the identifier as a text.
  return { ...values, id: Number(values['id']), type: values['record_type'], name: relativeText(text(values['name']), zone) }
}

const first = (value: unknown): Values | undefined => (isObject(value) ? value : listOf(value).find(isObject))

/** The attributes of routing policies, with their elements at the API. */
function route53Set(values: Values, zone: DomainName): unknown {
  const { type, ttl, records, alias, set_identifier: identifier, health_check_id: check, multivalue_answer_routing_policy: multi } = values
  const target = first(alias)
  // The provider leaves out the outer quotes.
  const quotedValue = (value: unknown): string => (type === 'TXT' || type === 'SPF' ? `"${text(value)}"` : text(value))
  return {
    Name: text(values['fqdn']) || expandedName(text(values['name']), zone),
    Type: type,
    ...(target
      ? {
          AliasTarget: { HostedZoneId: target['zone_id'], DNSName: target['name'], EvaluateTargetHealth: target['evaluate_target_health'] },
        }
      : { TTL: ttl ?? undefined, ResourceRecords: listOf(records).map((value) => ({ Value: quotedValue(value) })) }),
    Weight: first(values['weighted_routing_policy'])?.['weight'],
    GeoLocation: first(values['geolocation_routing_policy']),
    GeoProximityLocation: first(values['geoproximity_routing_policy']),
    Failover: first(values['failover_routing_policy'])?.['type'],
    MultiValueAnswer: multi === true ? true : undefined,
    CidrRoutingConfig: first(values['cidr_routing_policy']),
    Region: first(values['latency_routing_policy'])?.['region'],
    SetIdentifier: text(identifier) || undefined,
    HealthCheckId: text(check) || undefined,
  }
}

/** A name that does not end in that of the zone is relative. */
function expandedName(name: string, zone: DomainName): string {
  const [plain, own] = [name.toLowerCase().replace(/\.$/, ''), zone.slice(0, -1)]
  if (plain === '' || plain === '@') return own
  return plain === own || plain.endsWith(`.${own}`) ? plain : `${plain}.${own}`
}

/** Version 4 has a list with one block, version 5 an object, each with null for the parts that the type does not have. */
function cloudflareRecord(values: Values, zone: DomainName): unknown {
  const { id, hostname, name, type, content, value, ttl, priority, proxied, comment, tags, settings } = values
  const data = first(values['data'])
  const parts = [data?.['priority'] ?? priority, data?.['target'], data?.['value']]
  return {
    id: text(id) || 'none',
    name: text(hostname) || expandedName(text(name), zone),
    type,
    // Services of HTTPS and SVCB records.
    content:
      text(content) ||
      text(value) ||
      parts
        .map(text)
        .filter((part) => part !== '')
        .join(' '),
    priority,
    data: data && Object.fromEntries(Object.entries(data).filter(([, part]) => part != null)),
    ttl: ttl ?? 1,
    proxied: proxied === true,
    comment,
    tags,
    settings,
  }
}

const GOOGLE_POLICIES = { wrr: 'wrr', geo: 'geo', primary_backup: 'primaryBackup' } as const

function googleSet({ name, type, ttl, rrdatas, routing_policy: policies }: Values): unknown {
  const policy = first(policies)
  const kinds = Object.entries(GOOGLE_POLICIES).filter(([key]) => listOf(policy?.[key]).length > 0)
  return {
    name,
    type,
    ttl: ttl ?? undefined,
    rrdatas: rrdatas ?? [],
    ...(policy && { routingPolicy: Object.fromEntries(kinds.map(([key, kind]) => [kind, { items: listOf(policy[key]) }])) }),
  }
}

/** The name below the zone; the API removes the name of the zone. */
function relativeText(name: string, zone: DomainName): string {
  const own = expandedName(name, zone)
  return own === zone.slice(0, -1) ? '' : own.slice(0, -zone.length)
}

// hashicorp/dns: record sets of a name server.

type NameServerSet = readonly [type: string, data: (values: Values) => readonly string[]]

const setOf = (key: string) => (values: Values) => listOf(values[key]).map(text)
const blocksOf = (key: string, fields: readonly string[]) => (values: Values) =>
  listOf(values[key]).map((block) => fields.map((field) => text(isObject(block) ? block[field] : '')).join(' '))

const NAME_SERVER_SETS: ReadonlyMap<string, NameServerSet> = new Map<string, NameServerSet>([
  ['dns_a_record_set', ['A', setOf('addresses')]],
  ['dns_aaaa_record_set', ['AAAA', setOf('addresses')]],
  ['dns_cname_record', ['CNAME', ({ cname }) => [text(cname)]]],
  ['dns_mx_record_set', ['MX', blocksOf('mx', ['preference', 'exchange'])]],
  ['dns_ns_record_set', ['NS', setOf('nameservers')]],
  ['dns_ptr_record', ['PTR', ({ ptr }) => [text(ptr)]]],
  ['dns_srv_record_set', ['SRV', blocksOf('srv', ['priority', 'weight', 'port', 'target'])]],
  ['dns_txt_record_set', ['TXT', setOf('txt')]],
])

/** The records of a resource of hashicorp/dns. */
export function nameServerRecords({ resource: { type: own, values } }: StateRecord, zone: DomainName): Result<ResourceRecord[]> {
  const [type, dataOf] = NAME_SERVER_SETS.get(own) as NameServerSet
  const name = parseAbsoluteName([text(values['name']), zone].filter((part) => part !== '').join('.'))
  const ttl = parseTtl(text(values['ttl']))
  if (!name.ok) return name
  if (!ttl.ok) return ttl
  const records: ResourceRecord[] = []
  for (const data of dataOf(values)) {
    const rdata = type === 'TXT' ? txtRdata(data) : parseRdata(type, data)
    if (!rdata.ok) return failure(rdata.message)
    records.push({ name: name.value, type, ttl: ttl.value, data: rdata.value })
  }
  return ok(records)
}

/** The provider puts a text between quotes in a zone-file line, so it has escapes. It joins the strings that it reads. */
function txtRdata(escaped: string): Result<string> {
  const octets = unescapeString(escaped)
  return octets.ok ? ok(octetsToTxtRdata(octets.value)) : octets
}

/** Types of resources that may be zones or records of other providers. */
export const isLikeDns = (type: string): boolean =>
  /(?:^|_)(?:dns|domain|zone|zonefile|record|recordset|rrset|rdns|route53)(?:_|$)/.test(type)
