/** The operations on the records of a domain. */
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
import { GRANTED_DOMAIN } from '../grants.ts'
import { badRequest, collectProblems, notFound, orNotFound, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Call, Limits, Route, Service } from '../route.ts'
import { zoneNameOf } from './domain-input.ts'
import { type RecordBody, recordToCreate, recordToUpdate } from './record-input.ts'

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

interface LockedDomain {
  readonly id: number
  readonly domain: string
}

/**
 * Changes records of a domain and their number by `count`. Updating the number first locks the domain, so the limit and conflict checks stay valid
 * until the commit.
 */
async function changeRecords<T>(
  { actor, ids: { domainId: id } }: Pick<Call<unknown>, 'actor'> & { readonly ids: { readonly domainId: number } },
  { database, limits, now, zoneChanged }: Service,
  count: 1 | 0 | -1,
  work: (connection: Connection, domain: LockedDomain) => Promise<T>,
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
