/** A provider that reads and changes the domains of a Porkbun account by the API v3. A call changes one record. All requests are POST with the keys in the body; an error may have status 200. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ExistingRecord, ResourceRecord } from '../../dns/record.ts'
import { type ApiDialect, bodyDialect, nullIfMissing, tokenHint } from '../api-errors.ts'
import { absoluteOwner, apiRecord, byType, priorityApart, rdataWithPriority, relativeTo, withoutApexNs } from '../api-records.ts'
import { hostedProvider } from '../hosted-service.ts'
import { type ApiConnection, createJsonApi, type SendAndCheck } from '../json-api.ts'
import { anyShape, type Fields, fieldsOf, idOf, listOf, numberTextOf, ShapeError, textOf } from '../json-shape.ts'
import type { Provider, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { readLinkedPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'
import { type StoredRecord, singleRecords } from '../single-records.ts'
import { PORKBUN_CAPABILITIES, PORKBUN_TYPES } from './capabilities.ts'

const DOMAINS_PER_PAGE = 1000

export function createPorkbunProvider(connection: ApiConnection, apikey: string): Provider {
  const { provider, token: secretapikey } = connection
  const api = createJsonApi(connection, {}, DIALECT)
  const request: SendAndCheck = (call, shape) =>
    api.request({ ...call, body: { ...(call.body as Fields | undefined), apikey, secretapikey } }, (body, head) => {
      const { status } = fieldsOf(body, 'the response')
      if (status === 'ERROR')
        throw DIALECT.errorOfResponse(provider, call.what, { status: 400, headers: {}, text: JSON.stringify(body) }, false)
      if (status !== 'SUCCESS') throw new ShapeError('it has no status SUCCESS')
      return shape(body, head)
    })
  const reading = (path: string, what: string, options?: ProviderCallOptions, body?: Fields): ApiRequest => {
    return { method: 'POST', path, what, body, changesNothing: true, ...options }
  }
  const read = async ({ name }: Pick<ZoneReference, 'name'>, options?: ProviderCallOptions) => {
    const domain = domainOf(name)
    const all = await request(reading(`/dns/retrieve/${domain}`, `reading the records of ${name}`, options), (body) =>
      itemsOf(body, 'records').map((item) => recordShape(item, name)),
    )
    const forwards = all.some(mayForward)
      ? await request(reading(`/domain/getUrlForwarding/${domain}`, `reading the forwards of ${name}`, options), (body) =>
          itemsOf(body, 'forwards').map((item) => textOf(fieldsOf(item, 'a forward'), 'subdomain', 'a forward')),
        )
      : []
    const owners = new Set(forwards.flatMap((subdomain) => [subdomain, subdomain === '' ? '*' : `*.${subdomain}`]))
    const isForward = (record: ExistingRecord): boolean => mayForward(record) && owners.has(relativeTo(record.name, name, ''))
    const { others, ownApexNs } = withoutApexNs(all, name)
    return { ...byType(others, PORKBUN_TYPES, (record) => (isForward(record) ? 'belongs to a URL forward' : null)), ownApexNs }
  }
  const records = singleRecords({
    request,
    requestFor(zone, id, record) {
      const verb = record === null ? 'delete' : id === null ? 'create' : 'edit'
      const path = `/dns/${verb}/${domainOf(zone)}${id === null ? '' : `/${id}`}`
      return { method: 'POST', path, ...(record !== null && { body: bodyOf(record, zone) }) }
    },
    storedIn: (response, _, id) => id ?? idOf({ id: String(fieldsOf(response, 'the response')['id']) }, 'id', 'the response', ID),
    checkDeleted: anyShape,
  })
  return hostedProvider(connection, {
    type: 'porkbun',
    service: 'Porkbun',
    missing: 'switch on API ACCESS for the domain at Porkbun',
    capabilities: PORKBUN_CAPABILITIES,
    list: (options) =>
      readLinkedPages(`${provider}: listing domains`, (start: number | null) =>
        request(reading('/domain/listAll', 'listing domains', options, { start: String(start ?? 0) }), (body) => {
          const items = itemsOf(body, 'domains').map((item) => ({ name: textOf(fieldsOf(item, 'a domain'), 'domain', 'a domain') }))
          return { items, next: items.length < DOMAINS_PER_PAGE ? null : (start ?? 0) + DOMAINS_PER_PAGE }
        }),
      ),
    find: (name, options) =>
      nullIfMissing(request(reading(`/dns/retrieve/${domainOf(name)}`, `looking up ${name}`, options), () => ({ name }))),
    isReadByName: true,
    read,
    change: records.change,
    close: api.close,
  })
}

const CODES = [
  [/^Invalid API key/i, 'provider-unauthorized'],
  [/^Invalid domain/i, 'provider-not-found'],
  [/not opted in/i, 'provider-forbidden'],
] as const

const DIALECT: ApiDialect = {
  ...bodyDialect(
    "Porkbun's is https://api.porkbun.com/api/json/v3",
    (body) => {
      const { status, message: text } = body as Fields
      if (status !== 'ERROR' || typeof text !== 'string') return null
      return { text, code: CODES.find(([pattern]) => pattern.test(text))?.[1] }
    },
    tokenHint('need API ACCESS, which is switched on for each domain at Porkbun', 'keys'),
  ),
  // The front server limits requests, and has not passed them on.
  isBusy: ({ status, text }) => status === 503 && text.includes('<center>openresty'),
}

const domainOf = (name: DomainName): string => encodeURIComponent(name.slice(0, -1))

/** A number, in responses to creations not as a text. */
const ID = /^\d{1,20}$/

const itemsOf = (body: unknown, key: string): readonly unknown[] => listOf(fieldsOf(body, 'the response')[key], key)

/** Whether a record could belong to a URL forward. */
const mayForward = ({ type, data }: ExistingRecord): boolean => /^(?:ALIAS|CNAME)$/.test(type) && data.endsWith('.porkbun.com.')

/** The name is without the final dot, TTL and priority are texts, and texts have no quotes. */
function recordShape(value: unknown, zone: DomainName): StoredRecord {
  const what = 'a record'
  const fields = fieldsOf(value, what)
  const [name, type, text] = [textOf(fields, 'name', what), textOf(fields, 'type', what), textOf(fields, 'content', what)]
  const data = rdataWithPriority(type, fields['prio'] ?? 0, text, 'plain')
  const record = apiRecord(absoluteOwner(name, zone), type, numberTextOf(fields, 'ttl', what), text, data)
  return { ...record, id: idOf(fields, 'id', what, ID) }
}

function bodyOf({ name, type, ttl, data }: ResourceRecord, zone: DomainName): Fields {
  const { priority, text: content } = priorityApart(type, data, 'plain')
  return { type, name: relativeTo(name, zone, ''), content, ttl: String(ttl), ...(priority !== undefined && { prio: String(priority) }) }
}
