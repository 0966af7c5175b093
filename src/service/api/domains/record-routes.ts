/** The operations on the records of a domain. */
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import RECORD from '../../../../schemas/service/record.json' with { type: 'json' }
import RECORD_CREATE from '../../../../schemas/service/record-create.json' with { type: 'json' }
import RECORD_UPDATE from '../../../../schemas/service/record-update.json' with { type: 'json' }
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
import { READ_DOMAIN, WRITE_DOMAIN } from '../grants.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { badRequest, collectProblems, notFound, type RequestProblem } from '../request-error.ts'
import { type Call, defineRoute, type Limits, type Service } from '../route.ts'
import { zoneNameOf } from './domain-input.ts'
import { type RecordBody, recordToCreate, recordToUpdate } from './record-input.ts'

const list = defineRoute({
  method: 'GET',
  path: '/domains/{domainId}/records',
  summary: "List a domain's records",
  scope: 'domains:read_only',
  grants: READ_DOMAIN,
  filter: RECORD_FILTER_FIELDS,
  response: pageSchema(RECORD),
  handle: async ({ actor, ids, query }, { database }) => {
    const id = ids['domainId'] as number
    const { items, total } = await database.read(async (connection) => {
      if ((await findDomain(connection, actor.accountId, id)) === null) throw notFound()
      return listRecords(connection, id, query)
    })
    return pageOf(query, { items, total })
  },
})

const create = defineRoute<RecordBody & { readonly type: string }>({
  method: 'POST',
  path: '/domains/{domainId}/records',
  summary: 'Create a record',
  scope: 'domains:read_write',
  grants: WRITE_DOMAIN,
  body: RECORD_CREATE,
  response: RECORD,
  valueProblems: async ({ actor, ids, body, remoteAddress }, { database }) => {
    const domain = await database.read((connection) => findDomain(connection, actor.accountId, ids['domainId'] as number))
    const { type } = body
    if (domain === null || domain.type === 'slave' || type === undefined) return []
    return collectProblems(() => recordToCreate({ ...body, type }, { domain: zoneNameOf(domain.domain), remoteAddress }))
  },
  handle: ({ body, remoteAddress, ...call }, service) =>
    changeRecords(call, service, 1, async (connection, domain) => {
      const fields = recordToCreate(body, { domain: zoneNameOf(domain.domain), remoteAddress })
      await checkConflicts(connection, domain.id, 0, fields)
      return insertRecord(connection, domain.id, fields, service.now())
    }),
})

const get = defineRoute({
  method: 'GET',
  path: '/domains/{domainId}/records/{recordId}',
  summary: 'Read a record',
  scope: 'domains:read_only',
  grants: READ_DOMAIN,
  response: RECORD,
  handle: ({ actor, ids }, { database }) =>
    database.read(async (connection) => {
      const domain = await findDomain(connection, actor.accountId, ids['domainId'] as number)
      const record = domain && (await findRecord(connection, domain.id, ids['recordId'] as number))
      if (record === null) throw notFound()
      return record
    }),
})

const update = defineRoute<RecordBody>({
  method: 'PUT',
  path: '/domains/{domainId}/records/{recordId}',
  summary: 'Update a record',
  scope: 'domains:read_write',
  grants: WRITE_DOMAIN,
  body: RECORD_UPDATE,
  response: RECORD,
  valueProblems: ({ actor, ids, body, remoteAddress }, { database }) =>
    database.read(async (connection) => {
      const domain = await findDomain(connection, actor.accountId, ids['domainId'] as number)
      const existing = domain && (await findRecord(connection, domain.id, ids['recordId'] as number))
      if (domain === null || existing === null) return []
      return collectProblems(() => recordToUpdate(existing, body, { domain: zoneNameOf(domain.domain), remoteAddress }))
    }),
  handle: ({ body, remoteAddress, ...call }, service) =>
    changeRecords(call, service, 0, async (connection, domain) => {
      const existing = await findRecord(connection, domain.id, call.ids['recordId'] as number)
      if (existing === null) throw notFound()
      const { id, created: _created, updated: _updated, ...fields } = existing
      const desired = recordToUpdate(fields, body, { domain: zoneNameOf(domain.domain), remoteAddress })
      await checkConflicts(connection, domain.id, id, desired)
      return updateRecord(connection, id, desired, service.now())
    }),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/domains/{domainId}/records/{recordId}',
  summary: 'Delete a record',
  errors: ['400'],
  scope: 'domains:read_write',
  grants: WRITE_DOMAIN,
  response: EMPTY,
  handle: (call, service) =>
    changeRecords(call, service, -1, async (connection, domain) => {
      if (!(await deleteRecord(connection, domain.id, call.ids['recordId'] as number))) throw notFound()
      return {}
    }),
})

export const RECORD_ROUTES = [list, create, get, update, remove] as const

interface LockedDomain {
  readonly id: number
  readonly domain: string
}

/**
 * Changes records of a domain and their number by `count`. Updating the number first locks the domain, so the limit and conflict checks stay valid
 * until the commit.
 */
async function changeRecords<T>(
  { actor, ids }: Pick<Call<unknown>, 'actor' | 'ids'>,
  { database, limits, now, zoneChanged }: Service,
  count: 1 | 0 | -1,
  work: (connection: Connection, domain: LockedDomain) => Promise<T>,
): Promise<T> {
  const id = ids['domainId'] as number
  const result = await database.write(async (connection) => {
    const domain = await changeRecordCount(connection, actor.accountId, id, count, now())
    if (domain === null) throw notFound()
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
