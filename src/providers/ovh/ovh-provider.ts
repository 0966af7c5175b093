/** A provider that reads and changes the zones of an OVHcloud account. A call changes records one by one, then publishes all of them by `refresh`. */
import { createHash } from 'node:crypto'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { bodyDialect, nullIfMissing, tokenHint } from '../api-errors.ts'
import { apiRecord, byType, lenientRdata, relativeOwner, relativeRdata, relativeTo, unquoted } from '../api-records.ts'
import { hostedProvider } from '../hosted-service.ts'
import { type ApiConnection, createJsonApi, type SendAndCheck } from '../json-api.ts'
import { checkZoneName, type Fields, fieldsOf, listOf, nullShape, textOf, textsOf, wholeNumberOf } from '../json-shape.ts'
import { diagnosticOf, type Provider, type ProviderCallOptions, type ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { createServiceClock } from '../service-clock.ts'
import { collectionRequests, type StoredRecord, singleRecords } from '../single-records.ts'
import { OVH_CAPABILITIES, OVH_TYPES, USUAL_TTL } from './capabilities.ts'

const TIME = '/auth/time'

export function createOvhProvider(connection: ApiConnection, keys: Readonly<Record<string, string>>): Provider {
  const { provider, baseUrl } = connection
  const { application_key: application = '', consumer_key: consumer = '', application_secret: secret = '' } = keys
  const api = createJsonApi(connection, {}, DIALECT, ({ method, path, body }) => {
    if (path === TIME) return {}
    const now = String(clock.now())
    const url = baseUrl.href.replace(/\/+$/, '') + path
    const signed = [secret, consumer, method, url, body === undefined ? '' : JSON.stringify(body), now].join('+')
    const signature = `$1$${createHash('sha1').update(signed).digest('hex')}`
    return { 'x-ovh-application': application, 'x-ovh-consumer': consumer, 'x-ovh-timestamp': now, 'x-ovh-signature': signature }
  })
  const clock = createServiceClock((options) =>
    api.request(reading(TIME, 'reading the clock', options), (time) => wholeNumberOf({ time }, 'time', 'the clock')),
  )
  const request: SendAndCheck = async (call, shape) => {
    await clock.sync({ signal: call.signal })
    return api.request(call, shape)
  }
  /** The zones that were read, and those with changes that are not published. */
  const [known, unpublished] = [new Set<DomainName>(), new Set<DomainName>()]
  /** The records whose texts have no quotes. */
  const plain = new Set<number | string>()
  const readOne = (zone: DomainName, id: number | string, options?: ProviderCallOptions): Promise<StoredRecord> =>
    request(reading(`${zonePath(zone)}/record/${id}`, `reading a record of ${zone}`, options), (body) => {
      if (PLAIN.has(String(fieldsOf(body, 'a record')['fieldType']))) plain.add(id)
      return recordShape(body, zone)
    })
  const read = async ({ name }: Pick<ZoneReference, 'name'>, options?: ProviderCallOptions) => {
    const ids = await request(reading(`${zonePath(name)}/record`, `reading the records of ${name}`, options), (body) =>
      listOf(body, 'the response').map((id) => wholeNumberOf({ id }, 'id', 'a record')),
    )
    known.add(name)
    // A record may be deleted meanwhile.
    const all = (await Promise.all(ids.map((id) => nullIfMissing(readOne(name, id, options))))).filter((record) => record !== null)
    return byType(all, OVH_TYPES)
  }
  const records = singleRecords({
    request,
    requestFor: collectionRequests(
      (zone) => `${zonePath(zone)}/record`,
      'PUT',
      (record, zone, id) => bodyOf(id !== null && plain.has(id) ? { ...record, data: unquoted(record.data) } : record, zone, id),
    ),
    storedIn: (response, zone, id) => (id === null ? recordShape(response, zone) : nullShape(response)),
    readOne,
    checkDeleted: nullShape,
  })
  /** Publishes the changes of a zone, which may be repeated, also if the run is stopped. */
  const publish = async (zone: DomainName, { signal }: ProviderCallOptions = {}): Promise<Diagnostic[]> => {
    unpublished.add(zone)
    const call = { method: 'POST', path: `${zonePath(zone)}/refresh`, what: `publishing ${zone}`, changesNothing: true, signal } as const
    try {
      await request(call, nullShape)
      unpublished.delete(zone)
      return []
    } catch (error) {
      return [{ ...diagnosticOf(error), hint: 'the changes are stored: apply again, which publishes them' }]
    }
  }
  return hostedProvider(connection, {
    type: 'ovh',
    service: 'OVHcloud',
    missing: 'the consumer key needs access to /domain/zone/*',
    capabilities: OVH_CAPABILITIES,
    list: (options) =>
      request(reading('/domain/zone', 'listing zones', options), (body) => textsOf(body, 'the response').map((name) => ({ name }))),
    find: (name, options) =>
      nullIfMissing(
        request(reading(zonePath(name), `looking up ${name}`, options), (body) => {
          checkZoneName(name, textOf(fieldsOf(body, 'a zone'), 'name', 'a zone'))
          return { name }
        }),
      ),
    isReadByName: true,
    read,
    change: (zone, call, options) => records.changeAll(zone, call, () => publish(zone.name, options), options),
    close: api.close,
    features: {
      async completeCalls({ hadFailure, signal }) {
        const zones = [...new Set([...unpublished, ...[...known].filter((zone) => hadFailure?.(zone))])].sort()
        const problems = (await Promise.all(zones.map((zone) => publish(zone, { signal })))).flat()
        return { done: zones.filter((zone) => !unpublished.has(zone)).map((zone) => `${provider}: ${zone} is published.`), problems }
      },
    },
  })
}

const DIALECT = bodyDialect(
  "OVHcloud's is https://eu.api.ovh.com/1.0",
  (body, { headers }) => {
    const { message, errorCode, class: kind } = body as Fields
    if (typeof message !== 'string' || (headers['x-ovh-queryid'] ?? errorCode ?? kind) === undefined) return null
    return { text: message, ...(/CREDENTIAL|SIGNATURE|INVALID_KEY/.test(String(errorCode)) && { code: 'provider-unauthorized' }) }
  },
  tokenHint('needs the rights GET, POST, PUT and DELETE on /domain/zone/*', 'consumer key'),
)

const zonePath = (name: DomainName): string => `/domain/zone/${encodeURIComponent(name.slice(0, -1))}`

/** Texts with a form of their own at OVHcloud, and those of them that it refuses in quotes. */
const TEXTS: ReadonlySet<string> = new Set(['DKIM', 'DMARC', 'SPF'])
const PLAIN: ReadonlySet<string> = new Set(['DKIM', 'DMARC'])

/** The name is relative to the zone, also in targets without a final dot. A TTL of 0 is the usual one. */
function recordShape(value: unknown, zone: DomainName): StoredRecord {
  const what = 'a record'
  const fields = fieldsOf(value, what)
  const [field, text] = [textOf(fields, 'fieldType', what), textOf(fields, 'target', what)]
  const type = TEXTS.has(field) ? 'TXT' : field
  const data = type === 'TXT' ? lenientRdata(type, text) : relativeRdata(type, text, zone)
  const owner = relativeOwner(textOf(fields, 'subDomain', what), zone, '')
  return { ...apiRecord(owner, type, wholeNumberOf(fields, 'ttl', what) || USUAL_TTL, text, data), id: wholeNumberOf(fields, 'id', what) }
}

/** The type of a record cannot change. */
const bodyOf = ({ name, type, ttl, data }: ResourceRecord, zone: DomainName, id: number | string | null): Fields => {
  return { ...(id === null && { fieldType: type }), subDomain: relativeTo(name, zone, ''), target: data, ttl }
}
