/** Converts records between the API and the model. */
import { stringToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import {
  type DomainName,
  labelsOf,
  MAX_LABEL_OCTETS,
  MAX_NAME_OCTETS,
  nameFromLabels,
  nameOctets,
  parseAbsoluteName,
  parseDomainName,
  relativeName,
} from '../../dns/domain-name.ts'
import { canonicalRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import type { Token } from '../../dns/rdata/field.ts'
import type { ExistingRecord, ResourceRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ApiRecord } from './api-responses.ts'

/** Converts a record of the service. Values that are not valid become text that no definition can contain. */
export function recordFromApi(api: ApiRecord, zone: DomainName): ExistingRecord & { readonly id: number } {
  const owner = ownerOf(api, zone)
  const ttl = api.ttl_sec === 0 ? null : (api.ttl_sec as Ttl)
  const data = owner === null ? `${dataOf(api)} (named ${JSON.stringify(api.name)})` : dataOf(api)
  return { id: api.id, name: owner ?? nearestName(api.name, zone), type: api.type, ttl, data }
}

/** The owner of a record; null if its name is not a domain name. */
function ownerOf(api: ApiRecord, zone: DomainName): DomainName | null {
  if (api.type === 'SRV' && api.service !== null && api.protocol !== null) {
    const owner = joinSrvOwner(api.service, api.protocol, zone)
    if (owner !== null) return owner
  }
  if (api.name === '') return zone
  const name = parseDomainName(`${api.name}.${zone}`)
  return name.ok ? name.value : null
}

/** A domain name to show instead of an invalid name. */
function nearestName(text: string, zone: DomainName): DomainName {
  const labels = text.split('.').filter((label) => label !== '')
  const fitting: Uint8Array[] = []
  let octets = nameOctets(zone)
  for (const label of labels.map((one) => Buffer.from(one).subarray(0, MAX_LABEL_OCTETS))) {
    octets += label.length + 1
    if (octets > MAX_NAME_OCTETS) break
    fitting.push(label)
  }
  return nameFromLabels([...fitting, ...labelsOf(zone)])
}

const word = (text: string | number): Token => ({ text: String(text), quoted: false })

function dataOf(api: ApiRecord): string {
  // A lone surrogate has no UTF-8 encoding.
  if (api.type === 'TXT')
    return /\p{Surrogate}/u.test(api.target) ? `${stringToTxtRdata(api.target)} (of half a character)` : stringToTxtRdata(api.target)
  const tokens = tokensOf(api)
  const data = canonicalRdata(api.type, tokens, (text) => parseAbsoluteName(text))
  return data.ok ? data.value : tokens.map((token) => token.text).join(' ')
}

function tokensOf(api: ApiRecord): Token[] {
  const target = api.target === '' ? '.' : api.target
  switch (api.type) {
    case 'MX':
      return [word(api.priority), word(target)]
    case 'SRV':
      return [word(api.priority), word(api.weight), word(api.port), word(target)]
    case 'CAA':
      return [word(0), word(api.tag ?? ''), { text: api.target.replace(/[\\"]/g, '\\$&'), quoted: true }]
    default:
      return [word(target)]
  }
}

/** The fields of a record for the service: all fields of its type, because an omitted field keeps its value. The record must fit the service. */
export function recordToApi(record: ResourceRecord, zone: DomainName): Record<string, string | number> {
  const name = nameForApi(record.name, zone)
  const common = { ttl_sec: record.ttl ?? 0 }
  const fields = rdataFields(record.data)
  switch (record.type) {
    case 'TXT':
      return { name, target: Buffer.from(txtRdataToOctets(record.data)).toString('utf8'), ...common }
    case 'MX':
      return { name, target: withoutDot(fields[1]), priority: Number(fields[0]), ...common }
    case 'SRV': {
      const owner = splitSrvOwner(record.name, zone)
      if (owner === null) throw new Error(`${record.name} is not an SRV owner that the service can store`)
      const [priority, weight, port] = fields.slice(0, 3).map(Number) as [number, number, number]
      // The root says that the service is not available (RFC 2782).
      const target = fields[3] === '.' ? '.' : withoutDot(fields[3])
      return { ...owner, target, priority, weight, port, ...common }
    }
    case 'CAA':
      return { name, target: Buffer.from(txtRdataToOctets(fields[2] ?? '')).toString('utf8'), tag: fields[1] ?? '', ...common }
    case 'A':
    case 'AAAA':
      return { name, target: record.data, ...common }
    default:
      return { name, target: withoutDot(record.data), ...common }
  }
}

/** The relative name, or the absolute one if the relative name ends in the zone's name: the service would remove that as the zone. */
function nameForApi(name: DomainName, zone: DomainName): string {
  const relative = relativeName(name, zone)
  return `.${relative}.`.endsWith(`.${zone}`) ? name.slice(0, -1) : relative
}

/** The service reads a single label as a name in the zone unless it ends in a dot. The root is the empty text of a null MX. */
const withoutDot = (target = ''): string => (/^[^.]+\.$/.test(target) ? target : target.replace(/\.$/, ''))

/** The owner of an SRV record at the service: without underscores, and with the name below the apex as part of the protocol. */
interface SrvOwner {
  readonly service: string
  /** `tcp` at the apex, `tcp.sub` below it, as with other clients of the service. */
  readonly protocol: string
}

/** Splits `_service._proto[.sub]`; null for any other form, such as one with a second underscore, which the service would remove. */
export function splitSrvOwner(name: DomainName, zone: DomainName): SrvOwner | null {
  const parts = /^_([a-z0-9-][a-z0-9_-]*)\._([a-z0-9-]+(?:\.[a-z0-9_.-]+)?)$/.exec(relativeName(name, zone))
  const [, service, protocol] = parts ?? []
  return service === undefined || protocol === undefined ? null : { service, protocol }
}

/** The owner of a stored SRV record. Stored underscores are not doubled. */
function joinSrvOwner(service: string, protocol: string, zone: DomainName): DomainName | null {
  const name = parseDomainName(`_${service.replace(/^_/, '').replace(/\.$/, '')}._${protocol.replace(/^_/, '')}.${zone}`)
  return name.ok ? name.value : null
}
