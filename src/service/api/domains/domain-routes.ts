/** The operations on domains. */
import DOMAIN from '../../../../schemas/service/domain.json' with { type: 'json' }
import DOMAIN_CLONE from '../../../../schemas/service/domain-clone.json' with { type: 'json' }
import DOMAIN_CREATE from '../../../../schemas/service/domain-create.json' with { type: 'json' }
import DOMAIN_UPDATE from '../../../../schemas/service/domain-update.json' with { type: 'json' }
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import ZONE_FILE from '../../../../schemas/service/zone-file.json' with { type: 'json' }
import { lockAccountRow } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import {
  changeRecordCount,
  DOMAIN_FILTER_FIELDS,
  type DomainSettings,
  deleteDomain,
  findDomain,
  insertDomain,
  listDomains,
  type StoredDomain,
  updateDomain,
} from '../../store/domain-store.ts'
import { copyRecords, longestRecordName } from '../../store/record-store.ts'
import { deleteTransferredZone, requestTransfer } from '../../store/secondary-store.ts'
import { findZoneFile } from '../../store/zone-file-store.ts'
import { type ClaimedName, claimZoneName, findNameConflict, lockZoneName, type NameLock } from '../../store/zone-name-store.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota, withinTagQuota } from '../check-quota.ts'
import { grantToCreator, READ_DOMAIN, WRITE_DOMAIN } from '../grants.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { badRequest, collectProblems, notFound } from '../request-error.ts'
import { defineRoute, type Service } from '../route.ts'
import {
  type DomainBody,
  domainToClone,
  domainToCreate,
  domainToUpdate,
  nameConflictError,
  nameToUpdate,
  problemsOfCreate,
  zoneNameOf,
} from './domain-input.ts'
import { fitsNameLimit } from './name-input.ts'

const list = defineRoute({
  method: 'GET',
  path: '/domains',
  summary: 'List domains',
  scope: 'domains:read_only',
  grants: null,
  filter: DOMAIN_FILTER_FIELDS,
  response: pageSchema(DOMAIN),
  handle: async ({ actor, query }, { database }) =>
    pageOf(query, await database.read((connection) => listDomains(connection, actor, query))),
})

const create = defineRoute<DomainBody & Pick<DomainSettings, 'domain' | 'type'>>({
  method: 'POST',
  path: '/domains',
  summary: 'Create a domain',
  scope: 'domains:read_write',
  grants: { global: 'add_domains' },
  body: DOMAIN_CREATE,
  response: DOMAIN,
  valueProblems: async ({ body }) => problemsOfCreate(body),
  handle: async ({ actor, body }, service) => {
    const settings = domainToCreate(body)
    const { database } = service
    const domain = await database.write(async (connection) => {
      // Checking before locking keeps a refused name from blocking others. The claim decides.
      const conflict = await findNameConflict(connection, actor, settings.domain)
      if (conflict !== null) throw nameConflictError(conflict)
      const lock = await lockZoneName(connection, settings.domain)
      return insert(connection, lock, actor, settings, service)
    })
    return afterChange(domain, service)
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/domains/{domainId}',
  summary: 'Read a domain',
  scope: 'domains:read_only',
  grants: READ_DOMAIN,
  response: DOMAIN,
  handle: ({ actor, ids }, { database }) => database.read((connection) => find(connection, actor.accountId, ids['domainId'])),
})

const update = defineRoute<DomainBody>({
  method: 'PUT',
  path: '/domains/{domainId}',
  summary: 'Update a domain',
  scope: 'domains:read_write',
  grants: WRITE_DOMAIN,
  body: DOMAIN_UPDATE,
  response: DOMAIN,
  valueProblems: async ({ actor, ids, body }, { database }) => {
    const existing = await database.read((connection) => findDomain(connection, actor.accountId, ids['domainId'] as number))
    return existing === null ? [] : collectProblems(() => domainToUpdate(existing, body))
  },
  handle: async ({ actor, ids, body }, service) => {
    const { database, quotas, now } = service
    const newName = nameToUpdate(body)
    const change = async (connection: Connection, lock: NameLock | null): Promise<StoredDomain> => {
      if (body.tags) await lockAccountRow(connection, actor.accountId)
      const { id } = await lockDomain(connection, actor.accountId, ids['domainId'], now())
      const existing = await find(connection, actor.accountId, id)
      const settings = domainToUpdate(existing, body)
      let name: ClaimedName | null = null
      if (lock !== null && settings.domain !== existing.domain) {
        name = await claim(connection, lock, actor, settings.domain, id)
        await checkRecordNames(connection, id, name)
      }
      if (settings.type === 'slave') await refreshSlave(connection, existing, settings)
      return updateDomain(connection, actor.accountId, id, name, settings, now())
    }
    const domain = await database.write(async (connection) => {
      const lock = newName === null ? null : await lockZoneName(connection, newName)
      return withinTagQuota(connection, actor, quotas, body.tags, () => change(connection, lock))
    })
    return afterChange(domain, service)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/domains/{domainId}',
  summary: 'Delete a domain with its records',
  scope: 'domains:read_write',
  grants: WRITE_DOMAIN,
  response: EMPTY,
  handle: async ({ actor, ids }, { database, zoneChanged }) => {
    const id = ids['domainId'] as number
    if (!(await database.write((connection) => deleteDomain(connection, actor.accountId, id)))) throw notFound()
    zoneChanged(id)
    return {}
  },
})

const clone = defineRoute<{ readonly domain: string }>({
  method: 'POST',
  path: '/domains/{domainId}/clone',
  summary: 'Clone a domain with its records',
  scope: 'domains:read_write',
  grants: { ...WRITE_DOMAIN, global: 'add_domains' },
  body: DOMAIN_CLONE,
  response: DOMAIN,
  handle: async ({ actor, ids, body }, service) => {
    const { database, now } = service
    const name = domainToClone(body)
    const domain = await database.write(async (connection) => {
      const lock = await lockZoneName(connection, name)
      const source = await find(connection, actor.accountId, ids['domainId'])
      const cloned = await insert(connection, lock, actor, { ...source, domain: name, status: 'active' }, service)
      await checkRecordNames(connection, source.id, name)
      const copied = await copyRecords(connection, source.id, cloned.id, now())
      await changeRecordCount(connection, actor.accountId, cloned.id, copied, now())
      return cloned
    })
    return afterChange(domain, service)
  },
})

const zoneFile = defineRoute({
  method: 'GET',
  path: '/domains/{domainId}/zone-file',
  summary: 'Read the zone as it was rendered last',
  scope: 'domains:read_only',
  grants: READ_DOMAIN,
  response: ZONE_FILE,
  handle: async ({ actor, ids }, { database }) => {
    const file = await database.read(async (connection) => {
      const domain = await findDomain(connection, actor.accountId, ids['domainId'] as number)
      if (domain === null) throw notFound()
      return findZoneFile(connection, domain.id)
    })
    return { zone_file: file === null ? [] : file.text.split('\n') }
  },
})

export const DOMAIN_ROUTES = [list, create, get, update, remove, clone, zoneFile] as const

/** Starts the work that follows a committed change; returns the domain for the response. */
function afterChange(domain: StoredDomain, { zoneChanged, transfers }: Service): StoredDomain {
  zoneChanged(domain.id)
  if (domain.type === 'slave') transfers.wake()
  return domain
}

async function find(connection: Connection, accountId: number, id: number | undefined): Promise<StoredDomain> {
  const domain = await findDomain(connection, accountId, id as number)
  if (domain === null) throw notFound()
  return domain
}

/** Locks the domain against other writers until the transaction ends. */
async function lockDomain(
  connection: Connection,
  accountId: number,
  id: number | undefined,
  now: string,
): Promise<{ readonly id: number }> {
  const domain = await changeRecordCount(connection, accountId, id as number, 0, now)
  if (domain === null) throw notFound()
  return domain
}

async function insert(
  connection: Connection,
  lock: NameLock,
  actor: Actor,
  settings: DomainSettings,
  { quotas, now }: Pick<Service, 'quotas' | 'now'>,
): Promise<StoredDomain> {
  await checkQuota(connection, actor, 'domains', quotas)
  const { domain, type, status, description, group, tags, soa_email, master_ips, axfr_ips } = settings
  const { expire_sec, refresh_sec, retry_sec, ttl_sec } = settings
  const times = { expire_sec, refresh_sec, retry_sec, ttl_sec }
  const row = { domain, type, status, description, group, tags, soa_email, master_ips, axfr_ips, ...times }
  const name = await claim(connection, lock, actor, domain)
  const add = () => insertDomain(connection, actor.accountId, name, row, now())
  const inserted = await withinTagQuota(connection, actor, quotas, tags, add)
  await grantToCreator(connection, actor, 'domain', inserted.id)
  return inserted
}

/** Claims a zone name. Throws 400 if the actor may not have it; `id` is the zone that is renamed. */
async function claim(connection: Connection, lock: NameLock, actor: Actor, domain: string, id?: number): Promise<ClaimedName> {
  const claimed = await claimZoneName(connection, lock, actor, domain, id)
  if (!claimed.ok) throw nameConflictError(claimed.conflict)
  return claimed.name
}

/** Requests a transfer at once if a slave is renamed, gets other masters or becomes active. A renamed slave first loses its old zone. */
async function refreshSlave(connection: Connection, existing: StoredDomain, desired: DomainSettings): Promise<void> {
  const renamed = desired.domain !== existing.domain
  if (renamed) await deleteTransferredZone(connection, existing.id)
  const isActivated = desired.status === 'active' && existing.status !== 'active'
  const hasOtherMasters = desired.master_ips.join() !== existing.master_ips.join()
  if (renamed || isActivated || hasOtherMasters) await requestTransfer(connection, existing.id)
}

async function checkRecordNames(connection: Connection, id: number, domain: string): Promise<void> {
  if (fitsNameLimit(await longestRecordName(connection, id), zoneNameOf(domain))) return
  throw badRequest({ field: 'domain', reason: 'domain is too long for the names of its records' })
}
