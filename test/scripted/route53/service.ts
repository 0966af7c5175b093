/** A scripted Route 53: hosted zones and record sets in memory behind the API of 2013-04-01, with signatures, pages, atomic change batches and throttling. */
import { randomBytes } from 'node:crypto'
import { compare, isApexFrame, type Result, risingMilliseconds, scriptedService, type Throttling } from '../base.ts'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import { changedSets, compareSets, printRecordSet, type RecordSet, readRecordSet, refusal, reversed, storedName } from './record-sets.ts'
import { type AccessKey, checkSignature } from './signature.ts'
import { elementAt, parseXml, printXml, textAt, type XmlContent, type XmlElement } from './xml.ts'

export interface HostedZone {
  readonly id: string
  /** With the final dot. */
  readonly name: string
  readonly callerReference?: string
  readonly comment?: string
  readonly isPrivate?: boolean
  /** The AWS service that manages the zone. */
  readonly service?: string
  /** Without NS and SOA, which every zone gets. */
  readonly sets?: readonly RecordSet[]
}

export interface Route53Options extends Throttling {
  readonly key: AccessKey
  readonly zones: readonly HostedZone[]
  /** Change batches that are refused with `PriorRequestNotComplete` before one is carried out. */
  readonly busyChanges?: number
  /** Operations that the key may not call, such as `ChangeResourceRecordSets`. */
  readonly denied?: readonly string[]
  /** Calls of `GetChange` that answer `PENDING` before `INSYNC`. */
  readonly pendingReads?: number
}

export interface ScriptedRoute53 {
  readonly service: ScriptedService
  /** The record sets of a zone, for people who look at it without the API. */
  sets(zone: string): readonly RecordSet[]
  /** Stores or removes a record set as another client would, unchecked. */
  put(zone: string, set: RecordSet): void
  zones(): readonly Pick<HostedZone, 'id' | 'name' | 'isPrivate'>[]
}

interface Zone extends HostedZone {
  sets: readonly RecordSet[]
}

export const NAME_SERVERS = ['ns-831.awsdns-39.net.', 'ns-422.awsdns-52.com.', 'ns-1983.awsdns-55.co.uk.', 'ns-1283.awsdns-32.org.']

export const plainSet = (name: string, type: string, ttl: number, ...values: readonly string[]): RecordSet => {
  return { name, type, ttl, values, alias: null, others: [], setIdentifier: null }
}

const requiredSets = (name: string): RecordSet[] => [
  plainSet(name, 'NS', 172_800, ...NAME_SERVERS),
  plainSet(name, 'SOA', 900, `${NAME_SERVERS[0]} awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400`),
]

type Document = { readonly root: string; readonly content: XmlContent }
const answer = (root: string, content: XmlContent, status = 200): Result => ({ status, body: { root, content } satisfies Document })
const ID_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const newId = (first: string): string => first + [...randomBytes(20)].map((octet) => ID_CHARACTERS[octet % ID_CHARACTERS.length]).join('')

export function createRoute53(options: Route53Options): ScriptedRoute53 {
  const zones = new Map<string, Zone>()
  const changes = new Map<string, number>()
  for (const zone of options.zones)
    zones.set(zone.id, { ...zone, sets: [...requiredSets(zone.name), ...(zone.sets ?? [])].sort(compareSets) })
  let busy = options.busyChanges ?? 0
  const now = risingMilliseconds()

  const zoneOf = (id: string): Zone => {
    const zone = zones.get(id)
    if (zone === undefined) throw refusal(404, 'NoSuchHostedZone', `No hosted zone found with ID: ${id}`)
    return zone
  }
  const changeInfo = (comment?: string): XmlContent => {
    const id = newId('C')
    changes.set(id, options.pendingReads ?? 0)
    return [
      ['Id', `/change/${id}`],
      ['Status', 'PENDING'],
      ['SubmittedAt', now()],
      ['Comment', comment],
    ]
  }

  const listZones = (query: URLSearchParams, byName: boolean): Result => {
    const all = [...zones.values()].sort((a, b) => {
      const [x, y] = byName ? [reversed(a.name) + a.id, reversed(b.name) + b.id] : [a.id, b.id]
      return compare(x, y)
    })
    const max = maxItems(query, 100, 100)
    const dnsName = query.get('dnsname')
    const marker = query.get('marker')
    const startsAt = ({ name, id }: Zone): boolean => {
      if (!byName) return marker === null || id >= marker
      if (dnsName === null) return true
      const from = reversed(storedName(dnsName))
      return reversed(name) > from || (reversed(name) === from && id >= (query.get('hostedzoneid') ?? ''))
    }
    const rest = all.filter(startsAt)
    const next = rest[max]
    const items: XmlContent = rest.slice(0, max).map((zone) => ['HostedZone', printZone(zone)] as const)
    return answer(byName ? 'ListHostedZonesByNameResponse' : 'ListHostedZonesResponse', [
      ['HostedZones', items],
      byName ? ['DNSName', dnsName ?? undefined] : ['Marker', marker ?? undefined],
      ['IsTruncated', next !== undefined],
      ['NextDNSName', byName ? next?.name : undefined],
      ['NextHostedZoneId', byName ? next?.id : undefined],
      ['NextMarker', byName ? undefined : next?.id],
      ['MaxItems', max],
    ])
  }

  const createZone = (sent: XmlElement | null): Result => {
    const name = storedName(textAt(sent, 'Name') ?? '')
    const callerReference = textAt(sent, 'CallerReference') ?? ''
    if (callerReference === '') throw refusal(400, 'InvalidInput', 'CallerReference is required')
    if ([...zones.values()].some((zone) => zone.callerReference === callerReference))
      throw refusal(409, 'HostedZoneAlreadyExists', `A hosted zone has already been created with the specified caller reference.`)
    const isPrivate = elementAt(sent, 'VPC') !== null
    const comment = textAt(sent, 'HostedZoneConfig', 'Comment') ?? ''
    const zone: Zone = { id: newId('Z'), name, callerReference, isPrivate, comment, sets: requiredSets(name) }
    zones.set(zone.id, zone)
    const content: XmlContent = [
      ['HostedZone', printZone(zone)],
      ['ChangeInfo', changeInfo()],
      ['DelegationSet', isPrivate ? undefined : DELEGATION_SET],
    ]
    return answer('CreateHostedZoneResponse', content, 201)
  }

  const listSets = (zone: Zone, query: URLSearchParams): Result => {
    const max = maxItems(query, 100, 300)
    const [name, type, identifier] = ['name', 'type', 'identifier'].map((key) => query.get(key))
    if (type != null && name == null) throw refusal(400, 'InvalidInput', 'The input is not valid')
    const from = name == null ? null : { ...plainSet(storedName(name), type ?? '', 0), setIdentifier: identifier ?? null }
    const rest = from === null ? zone.sets : zone.sets.filter((set) => compareSets(set, from) >= 0)
    const next = rest[max]
    return answer('ListResourceRecordSetsResponse', [
      ['ResourceRecordSets', rest.slice(0, max).map((set) => ['ResourceRecordSet', printRecordSet(set)] as const)],
      ['IsTruncated', next !== undefined],
      ['NextRecordName', next?.name],
      ['NextRecordType', next?.type],
      ['NextRecordIdentifier', next?.setIdentifier ?? undefined],
      ['MaxItems', max],
    ])
  }

  const changeSets = (zone: Zone, sent: XmlElement | null): Result => {
    if (busy > 0) {
      busy -= 1
      throw refusal(400, 'PriorRequestNotComplete', 'The request was rejected because Route 53 was still processing a prior request.')
    }
    const batch = elementAt(sent, 'ChangeBatch')
    const asked = (elementAt(batch, 'Changes')?.children ?? []).map((change) => ({
      action: textAt(change, 'Action') ?? '',
      set: readRecordSet(elementAt(change, 'ResourceRecordSet'), zone.name),
    }))
    zone.sets = changedSets(zone.sets, asked, zone.name, zone.id)
    return answer('ChangeResourceRecordSetsResponse', [['ChangeInfo', changeInfo(textAt(batch, 'Comment') ?? undefined)]])
  }

  const getChange = (id: string): Result => {
    const left = changes.get(id)
    if (left === undefined) throw refusal(404, 'NoSuchChange', `A change with the specified change ID does not exist: ${id}`)
    changes.set(id, Math.max(0, left - 1))
    const content: XmlContent = [
      ['Id', `/change/${id}`],
      ['Status', left > 0 ? 'PENDING' : 'INSYNC'],
      ['SubmittedAt', now()],
    ]
    return answer('GetChangeResponse', [['ChangeInfo', content]])
  }

  const deleteZone = (zone: Zone): Result => {
    if (zone.sets.some((set) => !isApexFrame(set, zone.name)))
      throw refusal(400, 'HostedZoneNotEmpty', 'The hosted zone contains non-required resource record sets and so cannot be deleted.')
    zones.delete(zone.id)
    return answer('DeleteHostedZoneResponse', [['ChangeInfo', changeInfo()]])
  }

  const getZone = (zone: Zone): Result => {
    const servers = zone.isPrivate ? undefined : DELEGATION_SET
    return answer('GetHostedZoneResponse', [
      ['HostedZone', printZone(zone)],
      ['DelegationSet', servers],
    ])
  }

  type Operation = (id: string, query: URLSearchParams, sent: XmlElement | null) => Result
  const operations: Readonly<Record<string, readonly [name: string, carryOut: Operation]>> = {
    'GET hostedzonesbyname': ['ListHostedZonesByName', (_, query) => listZones(query, true)],
    'GET hostedzone': ['ListHostedZones', (_, query) => listZones(query, false)],
    'POST hostedzone': ['CreateHostedZone', (_, __, sent) => createZone(sent)],
    'GET hostedzone/': ['GetHostedZone', (id) => getZone(zoneOf(id))],
    'DELETE hostedzone/': ['DeleteHostedZone', (id) => deleteZone(zoneOf(id))],
    'GET hostedzone/rrset': ['ListResourceRecordSets', (id, query) => listSets(zoneOf(id), query)],
    'POST hostedzone/rrset': ['ChangeResourceRecordSets', (id, _, sent) => changeSets(zoneOf(id), sent)],
    'GET change/': ['GetChange', getChange],
    'GET healthcheck': ['ListHealthChecks', () => answer('ListHealthChecksResponse', NO_HEALTH_CHECKS)],
  }

  const route = ({ method, path, query, body }: ScriptedRequest): Result => {
    const [, kind = '', id = '', part] = /^\/2013-04-01\/(\w+)(?:\/([^/]+)(?:\/(rrset)\/?)?)?$/.exec(path) ?? []
    const sent = body === '' ? null : parseXml(body)
    const [operation, carryOut] = operations[`${method} ${kind}${id === '' ? '' : '/'}${part ?? ''}`] ?? []
    if (operation === undefined || carryOut === undefined) throw refusal(404, 'UnknownOperationException', '')
    if (options.denied?.includes(operation)) {
      const who = 'User: arn:aws:iam::123456789012:user/test is not authorized to perform'
      throw refusal(403, 'AccessDenied', `${who}: route53:${operation} on resource: arn:aws:route53:::${kind}/${id}`)
    }
    return carryOut(id, query, sent)
  }

  const service = scriptedService(options, {
    contentType: 'text/xml',
    print(body) {
      const { root, content } = body as Document
      return printXml(root, content)
    },
    throttled: refusal(400, 'Throttling', 'Rate exceeded'),
    answer(request) {
      checkSignature(request, options.key)
      return route(request)
    },
  })
  return {
    service,
    sets: (id) => zones.get(id)?.sets ?? [],
    put: (id, set) => {
      const zone = zoneOf(id)
      zone.sets = [...zone.sets.filter((one) => compareSets(one, set) !== 0), set].sort(compareSets)
    },
    zones: () => [...zones.values()],
  }
}

const DELEGATION_SET: XmlContent = [['NameServers', NAME_SERVERS.map((name) => ['NameServer', name.slice(0, -1)] as const)]]
const NO_HEALTH_CHECKS: XmlContent = Object.entries({ HealthChecks: [], IsTruncated: false, MaxItems: 100, Marker: '' })

const printZone = ({ id, name, callerReference = '', comment = '', isPrivate = false, service, sets }: Zone): XmlContent => [
  ['Id', `/hostedzone/${id}`],
  ['Name', name],
  ['CallerReference', callerReference],
  ['Config', [...(comment === '' ? [] : [['Comment', comment] as const]), ['PrivateZone', isPrivate]]],
  ['ResourceRecordSetCount', sets.length],
  ['LinkedService', service === undefined ? undefined : [['ServicePrincipal', service]]],
]

function maxItems(query: URLSearchParams, usual: number, most: number): number {
  const value = Number(query.get('maxitems') ?? usual)
  if (!Number.isInteger(value) || value < 1) throw refusal(400, 'InvalidInput', 'maxitems is invalid')
  return Math.min(value, most)
}
