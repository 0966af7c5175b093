/** The operations on the records of a domain, and the rules of each record type. */
import { isIPv4, isIPv6 } from 'node:net'
import RECORD from '../../../../schemas/service/record.json' with { type: 'json' }
import RECORD_CREATE from '../../../../schemas/service/record-create.json' with { type: 'json' }
import RECORD_UPDATE from '../../../../schemas/service/record-update.json' with { type: 'json' }
import type { DomainName } from '../../../dns/domain-name.ts'
import type { Connection } from '../../store/database.ts'
import { changeRecordCount, findDomain } from '../../store/domain-store.ts'
import {
  deleteRecord,
  findConflict,
  findRecord,
  insertRecord,
  listRecords,
  RECORD_FILTER_FIELDS,
  type RecordFields,
  updateRecord,
} from '../../store/record-store.ts'
import { GRANTED_DOMAIN } from '../grants.ts'
import { badRequest, collectProblems, notFound, orNotFound, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Call, Limits, Route, Service } from '../route.ts'
import { roundRecordTtl, zoneNameOf } from './domain-routes.ts'
import { fitsNameLimit, MAX_RECORD_NAME, parseHostName, parseRecordName } from './name-input.ts'

/** The body of a record request that its schema has accepted. */
export interface RecordBody {
  readonly type?: string
  readonly name?: string
  readonly target?: string
  readonly priority?: number
  readonly weight?: number
  readonly port?: number
  readonly service?: string | null
  readonly protocol?: string | null
  readonly tag?: string | null
  readonly ttl_sec?: number
}

interface RecordRequest {
  readonly domain: DomainName
  /** The address of the client, for the target `[remote_addr]`. */
  readonly remoteAddress: string
}

/** Types with the root as a target: the null MX (RFC 7505), and SRV for a service that is not available (RFC 2782). It is stored as an empty text. */
const ROOT_TARGETS: ReadonlySet<string> = new Set(['MX', 'SRV'])

const NAME_TYPES: ReadonlySet<string> = new Set(['NS', 'MX', 'CNAME', 'SRV', 'PTR'])

const EMPTY: Omit<RecordFields, 'type'> = {
  name: '',
  target: '',
  priority: 0,
  weight: 0,
  port: 0,
  service: null,
  protocol: null,
  tag: null,
  ttl_sec: 0,
}

/** Returns the record that a create asks for. Throws 400 with every error. */
export function recordToCreate(body: RecordBody & { readonly type: string }, context: RecordRequest): RecordFields {
  // Web forms with one entry for both address families send AAAA.
  const type = body.type === 'AAAA' && isIPv4(body.target ?? '') ? 'A' : body.type
  return readRecord({ ...EMPTY, type }, body, context, missingFields(body))
}

/** Returns an existing record with the changes of an update. Throws 400 with every error. */
function recordToUpdate(existing: RecordFields, body: RecordBody, context: RecordRequest): RecordFields {
  const changesType = body.type !== undefined && body.type !== existing.type
  return readRecord(existing, body, context, changesType ? [{ field: 'type', reason: 'type cannot be changed' }] : [])
}

/** Reports missing fields that are required although they may be empty or 0. The rules of the type check all others. */
function missingFields(body: RecordBody): RequestProblem[] {
  const required = { MX: ['target'], CNAME: ['name'], SRV: ['priority', 'weight', 'port', 'target'] }[body.type ?? ''] ?? []
  return required
    .filter((field) => body[field as keyof RecordBody] === undefined)
    .map((field) => ({ field, reason: `${field} is required` }))
}

/**
 * Returns `base` with the fields of the body. A name or target that equals the stored one is kept without parsing, so that clients can send back
 * what they read: parsing it again could change it (a single label is completed, a name that ends in the domain is absolute).
 */
function readRecord(base: RecordFields, body: RecordBody, context: RecordRequest, before: readonly RequestProblem[]): RecordFields {
  const problems: RequestProblem[] = [...before]
  const record = {
    ...base,
    ...(IGNORES_NUMBERS.has(base.type) ? {} : numbersOf(base, body)),
    tag: (body.tag === undefined ? base.tag : body.tag) || null,
    ttl_sec: body.ttl_sec === undefined ? base.ttl_sec : roundRecordTtl(body.ttl_sec),
    target: body.target === undefined || body.target === base.target ? base.target : readTarget(base.type, body.target, context, problems),
  }
  if (record.type === 'SRV') readService(record, body, context, problems)
  else {
    record.service = body.service || base.service
    record.protocol = body.protocol || base.protocol
    if (body.name !== undefined && body.name !== base.name) {
      const parsed = parseRecordName(body.name, context.domain)
      if ('name' in parsed) record.name = parsed.name
      else problems.push(...parsed.problems)
    }
  }
  problems.push(...recordProblems(record, new Set(problems.map(({ field }) => field ?? ''))))
  if (problems.length > 0) throw badRequest(...problems)
  return record
}

/**
 * Types whose records have no `priority`, `weight` and `port`, and for which clients send them all the same: external-dns sends a weight of 1 with
 * each.
 */
const IGNORES_NUMBERS: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'TXT'])

const numbersOf = (base: RecordFields, { priority, weight, port }: RecordBody) => ({
  priority: priority ?? base.priority,
  weight: weight ?? base.weight,
  port: port ?? base.port,
})

function readTarget(type: string, text: string, { domain, remoteAddress }: RecordRequest, problems: RequestProblem[]): string {
  if (type === 'A' || type === 'AAAA') return text === '[remote_addr]' ? plainAddress(remoteAddress) : text
  if (!NAME_TYPES.has(type) || text === '') return text
  if (text === '.' && ROOT_TARGETS.has(type)) return ''
  const name = parseHostName(text, domain)
  if (name === null) problems.push({ field: 'target', reason: 'target is not valid' })
  return name ?? text
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plainAddress(address: string): string {
  const mapped = address.replace(/^::ffff:/i, '')
  return isIPv4(mapped) ? mapped : address
}

const SERVICE = /^[a-z0-9_-]{1,62}$/
const PROTOCOL = /^[a-z0-9-]{1,62}(?:\.[a-z0-9_-]{1,63})*$/

/** The protocol in the name of an SRV record without one. */
const DEFAULT_PROTOCOL = 'tcp'

/**
 * Sets the service, protocol and name of a SRV record. Service and protocol are stored without their underscores. The name is built from them,
 * never from the request's name; below the apex its rest follows the protocol (`tcp.sub`).
 */
function readService(
  record: { -readonly [K in keyof RecordFields]: RecordFields[K] },
  body: RecordBody,
  { domain }: RecordRequest,
  problems: RequestProblem[],
): void {
  const service = bareLabel(body.service === undefined ? record.service : body.service)
  const protocol = bareLabel(body.protocol === undefined ? record.protocol : body.protocol)
  record.service = service
  record.protocol = protocol || null
  record.name = `_${service}._${protocol || DEFAULT_PROTOCOL}`
  const before = problems.length
  if (service === '') problems.push({ field: 'service', reason: 'service is required' })
  else if (!SERVICE.test(service)) problems.push({ field: 'service', reason: 'service is not valid' })
  if (protocol !== '' && !PROTOCOL.test(protocol)) problems.push({ field: 'protocol', reason: 'protocol is not valid' })
  if (problems.length > before) return
  if (record.name.length > MAX_RECORD_NAME || !fitsNameLimit(record.name.length, domain)) {
    problems.push({ field: 'name', reason: `Length must be 1-${MAX_RECORD_NAME} characters` })
  }
}

/** In lower case, without leading underscores and a final dot. */
const bareLabel = (text: string | null): string => (text ?? '').toLowerCase().replace(/^_+/, '').replace(/\.$/, '')

/** Checks a record in its stored form and returns every problem. `invalidFields` are missing or unparsable, so their values in the record mean nothing. */
type RecordRule = (record: RecordFields, invalidFields: ReadonlySet<string>) => readonly RequestProblem[]

const problem = (field: string, reason: string): RequestProblem[] => [{ field, reason }]

/** Fields that only some types have; 0, null and the empty string mean none. */
const TYPE_FIELDS: readonly { readonly field: keyof RecordFields; readonly types: readonly string[] }[] = [
  { field: 'priority', types: ['MX', 'SRV'] },
  { field: 'weight', types: ['SRV'] },
  { field: 'port', types: ['SRV'] },
  { field: 'service', types: ['SRV'] },
  { field: 'protocol', types: ['SRV'] },
  { field: 'tag', types: ['CAA'] },
]

const typeFields: RecordRule = (record) =>
  TYPE_FIELDS.filter(({ field, types }) => !types.includes(record.type) && Boolean(record[field])).flatMap(({ field }) =>
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

/** A null MX (RFC 7505) is stored as an MX record without a target. */
const nullMx: RecordRule = ({ target, priority }, invalidFields) =>
  target === '' && priority !== 0 && !invalidFields.has('target') ? problem('priority', 'priority must be 0 for a null MX record') : []

const CA_DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i

/** `mailto:` and HTTP URLs in printable ASCII (RFC 3986). */
const IODEF = /^(?:mailto:[!#-?A-[\]-~]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*|https?:\/\/[a-z0-9[][!#-[\]-~]*)$/i

/** The target `;` forbids all authorities to issue (RFC 8659 section 4.2). */
const caa: RecordRule = ({ tag, target }) => {
  const problems = tag ? [] : problem('tag', 'tag is required')
  if (target === '') return [...problems, ...problem('target', 'target is required')]
  // Without a tag, a target that is valid for any tag is not a second error.
  const fits = CA_DOMAIN.test(target) || (tag !== 'iodef' && target === ';') || ((!tag || tag === 'iodef') && IODEF.test(target))
  return fits ? problems : [...problems, ...problem('target', 'You have entered an invalid target')]
}

/** The rules of every type of the API. */
const RULES: Readonly<Record<string, readonly RecordRule[]>> = {
  A: [address],
  AAAA: [address],
  NS: [targetRequired, wildcardNs],
  MX: [nullMx],
  CNAME: [targetRequired, apexCname],
  TXT: [targetRequired],
  SRV: [],
  PTR: [targetRequired],
  CAA: [caa],
}

/** Returns every problem of a record, except in `invalidFields`, which are already reported. */
const recordProblems = (record: RecordFields, invalidFields: ReadonlySet<string>): RequestProblem[] =>
  [typeFields, ...(RULES[record.type] ?? [])]
    .flatMap((rule) => rule(record, invalidFields))
    .filter(({ field }) => !invalidFields.has(field ?? ''))

const RECORDS = resource({
  path: '/domains/{domainId}/records',
  parameter: 'recordId',
  family: 'domains',
  object: GRANTED_DOMAIN,
  schema: RECORD,
  filter: RECORD_FILTER_FIELDS,
})

export const RECORD_ROUTES: readonly Route[] = [
  RECORDS.list(
    "List a domain's records",
    async (connection, { actor, ids, query }) =>
      (await findDomain(connection, actor.accountId, ids.domainId)) && listRecords(connection, ids.domainId, query),
  ),
  RECORDS.create<RecordBody & { readonly type: string }>(
    'Create a record',
    RECORD_CREATE,
    ({ body, remoteAddress, ...call }, service) =>
      changeRecords(call, service, 1, async (connection, domain) => {
        const fields = recordToCreate(body, { domain: zoneNameOf(domain.domain), remoteAddress })
        await checkConflicts(connection, domain.id, 0, fields)
        return insertRecord(connection, domain.id, fields, service.now())
      }),
    {
      valueProblems: async ({ actor, ids, body, remoteAddress }, { database }) => {
        const domain = await database.read((connection) => findDomain(connection, actor.accountId, ids.domainId))
        const { type } = body
        if (domain === null || domain.type === 'slave' || type === undefined) return []
        return collectProblems(() => recordToCreate({ ...body, type }, { domain: zoneNameOf(domain.domain), remoteAddress }))
      },
    },
  ),
  RECORDS.get('Read a record', async (connection, { actor, ids }) => {
    const domain = await findDomain(connection, actor.accountId, ids.domainId)
    return domain && findRecord(connection, domain.id, ids.recordId)
  }),
  RECORDS.update<RecordBody>(
    'Update a record',
    RECORD_UPDATE,
    ({ body, remoteAddress, ...call }, service) =>
      changeRecords(call, service, 0, async (connection, domain) => {
        const existing = orNotFound(await findRecord(connection, domain.id, call.ids.recordId))
        const { id, created: _created, updated: _updated, ...fields } = existing
        const desired = recordToUpdate(fields, body, { domain: zoneNameOf(domain.domain), remoteAddress })
        await checkConflicts(connection, domain.id, id, desired)
        return updateRecord(connection, id, desired, service.now())
      }),
    {
      valueProblems: ({ actor, ids, body, remoteAddress }, { database }) =>
        database.read(async (connection) => {
          const domain = await findDomain(connection, actor.accountId, ids.domainId)
          const existing = domain && (await findRecord(connection, domain.id, ids.recordId))
          if (domain === null || existing === null) return []
          return collectProblems(() => recordToUpdate(existing, body, { domain: zoneNameOf(domain.domain), remoteAddress }))
        }),
    },
  ),
  RECORDS.action(
    'DELETE',
    '/domains/{domainId}/records/{recordId}',
    'Delete a record',
    (call, service) =>
      changeRecords(call, service, -1, async (connection, domain) => {
        if (!(await deleteRecord(connection, domain.id, call.ids.recordId))) throw notFound()
      }),
    { errors: ['400'] },
  ),
]

/**
 * Changes records of a domain and their number by `count`. Updating the number first locks the domain, so the limit and conflict checks stay valid
 * until the commit.
 */
async function changeRecords<T>(
  { actor, ids: { domainId: id } }: Pick<Call<unknown>, 'actor'> & { readonly ids: { readonly domainId: number } },
  { database, limits, now, zoneChanged }: Service,
  count: 1 | 0 | -1,
  work: (connection: Connection, domain: { readonly id: number; readonly domain: string }) => Promise<T>,
): Promise<T> {
  const result = await database.write(async (connection) => {
    const domain = orNotFound(await changeRecordCount(connection, actor.accountId, id, count, now()))
    if (domain.type === 'slave') throw badRequest(SLAVE)
    if (count > 0 && domain.record_count > limits.recordsPerDomain) throw badRequest(tooManyRecords(limits))
    return work(connection, domain)
  })
  zoneChanged(id)
  return result
}

const SLAVE: RequestProblem = { field: null, reason: 'Records of a slave domain come from its master servers and cannot be changed here.' }

async function checkConflicts(connection: Connection, domainId: number, id: number, fields: RecordFields): Promise<void> {
  const conflict = await findConflict(connection, domainId, id, fields)
  if (conflict === null) return
  if (fields.type === 'CNAME' || conflict.type === 'CNAME') {
    throw badRequest({ field: 'name', reason: 'Record conflict - CNAMES must be unique' })
  }
  const reason =
    conflict.target === ''
      ? 'Cannot add a new MX record for a domain that already advertises a null MX record.'
      : 'Cannot add a null MX record for a domain that has other MX records.'
  throw badRequest({ field: 'type', reason })
}

/** The error for a domain that would exceed its record limit. */
export const tooManyRecords = ({ recordsPerDomain }: Limits): RequestProblem => ({
  field: null,
  reason: `A domain can have at most ${recordsPerDomain} records.`,
})
