/** A provider that reads and changes the domains of a Gandi account by the LiveDNS API v5. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import { bodyDialect, nullIfMissing, tokenHint } from '../api-errors.ts'
import { apiRecord, byType, relativeOwner, relativeRdata, relativeTo } from '../api-records.ts'
import { hostedProvider } from '../hosted-service.ts'
import { type ApiConnection, createJsonApi, type SendAndCheck } from '../json-api.ts'
import { checkZoneName, type Fields, fieldsOf, ShapeError, textOf, textsOf, wholeNumberOf } from '../json-shape.ts'
import type { AppliedCall, Provider, ProviderCallOptions, ZoneReference } from '../provider.ts'
import { numberedLists, totalsOf } from '../read-pages.ts'
import { reading } from '../send-request.ts'
import { emptyShape } from '../single-records.ts'
import { GANDI_CAPABILITIES, GANDI_TYPES } from './capabilities.ts'

/** Items that a request for a page asks for. The service may send another number. */
const PER_PAGE = 500

export function createGandiProvider(connection: ApiConnection): Provider {
  const { provider } = connection
  const { request, close } = createJsonApi(connection, { authorization: `Bearer ${connection.token}` }, DIALECT)
  const list = numberedLists(provider, request, (_, count, { headers: { 'total-count': total } }) => {
    if (total === undefined && count >= PER_PAGE) throw new ShapeError('a full page has no header Total-Count')
    return totalsOf(Number(total ?? count), count)
  })
  const domains = { perPage: PER_PAGE, shape: domainShape, idOf: ({ name }: { name: string }) => name }
  const read = async ({ name }: Pick<ZoneReference, 'name'>, options?: ProviderCallOptions) => {
    const call = reading(`${domainPath(name)}/records`, `reading the records of ${name}`, options)
    const shape = (item: unknown) => recordsOf(rrsetShape(item), name)
    const rrsets = await list(call, { perPage: PER_PAGE, shape, idOf: ([first]) => `${first?.name} ${first?.type}` })
    return byType(rrsets.flat(), GANDI_TYPES)
  }
  return hostedProvider(connection, {
    type: 'gandi',
    service: 'Gandi',
    missing: 'add the domain to LiveDNS at Gandi, or include it in the token',
    capabilities: GANDI_CAPABILITIES,
    list: (options) => list(reading('/domains', 'listing domains', options), domains),
    find: (name, options) =>
      nullIfMissing(
        request(reading(domainPath(name), `looking up ${name}`, options), (body) => {
          const domain = domainShape(body)
          checkZoneName(name, domain.name)
          return domain
        }),
      ),
    isReadByName: true,
    read,
    change: (zone, { rrsets: [rrset] }, options) => changeRrset(request, zone, rrset as RrsetChange, options),
    close,
  })
}

const DIALECT = bodyDialect(
  "Gandi's is https://api.gandi.net/v5/livedns",
  (body, { status }) => {
    const { code, message, errors } = body as Fields
    if (Number(code) !== status || typeof message !== 'string') return null
    const details = (Array.isArray(errors) ? (errors as readonly Fields[]) : []).slice(0, 3)
    return [message, ...details.map(({ name, description }) => `${name}: ${description}`)].join('; ')
  },
  tokenHint('needs the permission to manage the technical configuration of the domain'),
)

const domainPath = (name: DomainName): string => `/domains/${encodeURIComponent(name.slice(0, -1))}`

/** The name is without the final dot. */
const domainShape = (value: unknown) => ({ name: textOf(fieldsOf(value, 'a domain'), 'fqdn', 'a domain') })

/** The name is relative to the domain, the TTL in seconds. */
function rrsetShape(value: unknown) {
  const what = 'a record set'
  const fields = fieldsOf(value, what)
  const [name, type] = [textOf(fields, 'rrset_name', what), textOf(fields, 'rrset_type', what)]
  return { name, type, ttl: wholeNumberOf(fields, 'rrset_ttl', what), values: textsOf(fields['rrset_values'], 'rrset_values') }
}

const recordsOf = ({ name, type, ttl, values }: ReturnType<typeof rrsetShape>, zone: DomainName): ExistingRecord[] =>
  values.map((text) => apiRecord(relativeOwner(name, zone), type, ttl, text, relativeRdata(type, text, zone)))

/** Creates, replaces or deletes a record set. The API cannot state what it expects to find, so a run calls only soon after it has read the domain. */
async function changeRrset(
  request: SendAndCheck,
  { name: zone }: ZoneReference,
  { name, type, existing, desired }: RrsetChange,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const path = `${domainPath(zone)}/records/${encodeURIComponent(relativeTo(name, zone))}/${encodeURIComponent(type)}`
  if (desired === null) {
    await request({ method: 'DELETE', path, what: `deleting ${name} ${type}`, ...options }, emptyShape)
    return {}
  }
  // A creation whose answer is lost is not sent again.
  const [method, what] = existing === null ? (['POST', 'creating'] as const) : (['PUT', 'changing'] as const)
  const body = { rrset_ttl: desired.ttl, rrset_values: desired.data }
  await request({ method, path, body, what: `${what} ${name} ${type}`, ...options }, createdShape)
  return {}
}

function createdShape(body: unknown): void {
  textOf(fieldsOf(body, 'the response'), 'message', 'the response')
}
