/** The operations on domains. */
import DOMAIN from '../../../../schemas/service/domain.json' with { type: 'json' }
import DOMAIN_CLONE from '../../../../schemas/service/domain-clone.json' with { type: 'json' }
import DOMAIN_CREATE from '../../../../schemas/service/domain-create.json' with { type: 'json' }
import DOMAIN_UPDATE from '../../../../schemas/service/domain-update.json' with { type: 'json' }
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
import { GRANTED_DOMAIN, grantToCreator } from '../grants.ts'
import { badRequest, collectProblems, orNotFound } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route, Service } from '../route.ts'
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

export const DOMAINS = resource({
  path: '/domains',
  parameter: 'domainId',
  family: 'domains',
  object: GRANTED_DOMAIN,
  schema: DOMAIN,
  filter: DOMAIN_FILTER_FIELDS,
})

export const DOMAIN_ROUTES: readonly Route[] = [
  DOMAINS.list('List domains', (connection, { actor, query }) => listDomains(connection, actor, query)),
  DOMAINS.create<DomainBody & Pick<DomainSettings, 'domain' | 'type'>>(
    'Create a domain',
    DOMAIN_CREATE,
    async ({ actor, body }, service) => {
      const settings = domainToCreate(body)
      const domain = await service.database.write(async (connection) => {
        // Checking before locking keeps a refused name from blocking others. The claim decides.
        const conflict = await findNameConflict(connection, actor, settings.domain)
        if (conflict !== null) throw nameConflictError(conflict)
        const lock = await lockZoneName(connection, settings.domain)
        return insert(connection, lock, actor, settings, service)
      })
      return afterChange(domain, service)
    },
    { global: 'add_domains', valueProblems: async ({ body }) => problemsOfCreate(body) },
  ),
  DOMAINS.get('Read a domain', (connection, { actor, ids }) => findDomain(connection, actor.accountId, ids.domainId)),
  DOMAINS.update<DomainBody>(
    'Update a domain',
    DOMAIN_UPDATE,
    async ({ actor, ids, body }, service) => {
      const { database, quotas, now } = service
      const newName = nameToUpdate(body)
      const change = async (connection: Connection, lock: NameLock | null): Promise<StoredDomain> => {
        if (body.tags) await lockAccountRow(connection, actor.accountId)
        // Changing the count by nothing locks the domain until the transaction ends.
        const { id } = orNotFound(await changeRecordCount(connection, actor.accountId, ids.domainId, 0, now()))
        const existing = orNotFound(await findDomain(connection, actor.accountId, id))
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
    {
      valueProblems: async ({ actor, ids, body }, { database }) => {
        const existing = await database.read((connection) => findDomain(connection, actor.accountId, ids.domainId))
        return existing === null ? [] : collectProblems(() => domainToUpdate(existing, body))
      },
    },
  ),
  DOMAINS.remove(
    'Delete a domain with its records',
    (connection, { actor, ids }) => deleteDomain(connection, actor.accountId, ids.domainId),
    {
      after: ({ ids }, { zoneChanged }) => zoneChanged(ids.domainId),
    },
  ),
  DOMAINS.action<{ readonly domain: string }>(
    'POST',
    '/domains/{domainId}/clone',
    'Clone a domain with its records',
    async ({ actor, ids, body }, service) => {
      const { database, now } = service
      const name = domainToClone(body)
      const domain = await database.write(async (connection) => {
        const lock = await lockZoneName(connection, name)
        const source = orNotFound(await findDomain(connection, actor.accountId, ids.domainId))
        const cloned = await insert(connection, lock, actor, { ...source, domain: name, status: 'active' }, service)
        await checkRecordNames(connection, source.id, name)
        const copied = await copyRecords(connection, source.id, cloned.id, now())
        await changeRecordCount(connection, actor.accountId, cloned.id, copied, now())
        return cloned
      })
      return afterChange(domain, service)
    },
    { body: DOMAIN_CLONE, response: DOMAIN, global: 'add_domains' },
  ),
  DOMAINS.action(
    'GET',
    '/domains/{domainId}/zone-file',
    'Read the zone as it was rendered last',
    async ({ actor, ids }, { database }) => {
      const file = await database.read(async (connection) =>
        findZoneFile(connection, orNotFound(await findDomain(connection, actor.accountId, ids.domainId)).id),
      )
      return { zone_file: file === null ? [] : file.text.split('\n') }
    },
    { response: ZONE_FILE },
  ),
]

/** Starts the work that follows a committed change; returns the domain for the response. */
function afterChange(domain: StoredDomain, { zoneChanged, transfers }: Service): StoredDomain {
  zoneChanged(domain.id)
  if (domain.type === 'slave') transfers.wake()
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
