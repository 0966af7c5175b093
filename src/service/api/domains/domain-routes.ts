/** The operations on domains. Times and TTLs in a body are rounded as the API does. */
import { isIPv4, isIPv6 } from 'node:net'
import DOMAIN from '../../../../schemas/service/domain.json' with { type: 'json' }
import DOMAIN_CLONE from '../../../../schemas/service/domain-clone.json' with { type: 'json' }
import DOMAIN_CREATE from '../../../../schemas/service/domain-create.json' with { type: 'json' }
import DOMAIN_UPDATE from '../../../../schemas/service/domain-update.json' with { type: 'json' }
import ZONE_FILE from '../../../../schemas/service/zone-file.json' with { type: 'json' }
import type { DomainName } from '../../../dns/domain-name.ts'
import { lockAccountRow } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import {
  type ClaimedName,
  changeRecordCount,
  claimZoneName,
  DOMAIN_FILTER_FIELDS,
  type DomainSettings,
  deleteDomain,
  findDomain,
  findNameConflict,
  insertDomain,
  isPublicSuffix,
  listDomains,
  lockZoneName,
  type NameConflict,
  type NameLock,
  type StoredDomain,
  updateDomain,
} from '../../store/domain-store.ts'
import { copyRecords, longestRecordName } from '../../store/record-store.ts'
import { deleteTransferredZone, requestTransfer } from '../../store/secondary-store.ts'
import { findZoneFile } from '../../store/zone-file-store.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota, withinTagQuota } from '../check-quota.ts'
import { GRANTED_DOMAIN, grantToCreator } from '../grants.ts'
import { badRequest, collectProblems, orNotFound, type RequestError, type RequestProblem } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route, Service } from '../route.ts'
import { fitsNameLimit, parseEmail, parseZoneName } from './name-input.ts'

/** The body of a domain request that its schema has accepted. */
interface DomainBody extends Partial<Omit<DomainSettings, 'tags' | 'master_ips' | 'axfr_ips'>> {
  readonly tags?: readonly string[] | null
  readonly master_ips?: readonly string[] | null
  readonly axfr_ips?: readonly string[] | null
}

/** Maximum length of all addresses of a list together in characters (API, Domain). */
const MAX_ADDRESSES = 1000

const DEFAULTS: Omit<DomainSettings, 'domain' | 'type'> = {
  status: 'active',
  description: '',
  group: '',
  tags: [],
  soa_email: '',
  master_ips: [],
  axfr_ips: [],
  expire_sec: 0,
  refresh_sec: 0,
  retry_sec: 0,
  ttl_sec: 0,
}

/** Returns the settings of a new domain. Throws 400 with every error. */
const domainToCreate = (body: DomainBody & Pick<DomainSettings, 'domain' | 'type'>): DomainSettings =>
  readSettings({ ...DEFAULTS, domain: '', type: body.type }, body)

/** Returns the settings of a domain in a seed. A public suffix passes here, since the service may have the domain already. Throws 400 with every error. */
export const domainToSeed = (body: DomainBody & Pick<DomainSettings, 'domain' | 'type'>): DomainSettings =>
  readSettings({ ...DEFAULTS, domain: '', type: body.type }, body, () => true)

/** The semantic errors of a create body that may lack any field. Without a type, rules that depend on it are skipped. */
const problemsOfCreate = (body: DomainBody): readonly RequestProblem[] =>
  collectProblems(() => domainToCreate(body as Parameters<typeof domainToCreate>[0]))

/** Returns the existing settings with the changes of an update. Throws 400 with every error. */
const domainToUpdate = (existing: DomainSettings, body: DomainBody): DomainSettings =>
  readSettings(existing, body, (name) => name === existing.domain)

/**
 * The name that an update asks for; null if it has no valid one. A public suffix is not valid: no zone gets it, and locking it would block all
 * names below it.
 */
function nameToUpdate({ domain }: DomainBody): string | null {
  const name = domain === undefined ? null : parseStoredName(domain)
  return name === null || isPublicSuffix(name) ? null : name
}

/** The name that a clone asks for. Throws 400 if it is not valid. */
function domainToClone({ domain }: { readonly domain: string }): string {
  const problems: RequestProblem[] = []
  const name = parseNewName(domain, problems)
  if (problems.length > 0) throw badRequest(...problems)
  return name
}

/** The reasons reveal neither the owner of the other zone nor whether it is above or below. */
const CONFLICTS: Readonly<Record<NameConflict, RequestProblem>> = {
  taken: { field: 'domain', reason: 'DNS zone already exists.' },
  overlap: { field: 'domain', reason: 'A DNS zone above or below this name exists, and you may not change it.' },
  'public-suffix': { field: 'domain', reason: 'domain is a public suffix' },
}

export const nameConflictError = (conflict: NameConflict): RequestError => badRequest(CONFLICTS[conflict])

/** The zone name of a stored domain. */
export const zoneNameOf = (domain: string): DomainName => `${domain}.` as DomainName

/** Whether a name is allowed although it is a public suffix. */
type AllowsSuffix = (name: string) => boolean

function readSettings(base: DomainSettings, body: DomainBody, allowsSuffix?: AllowsSuffix): DomainSettings {
  const problems: RequestProblem[] = []
  if (body.type !== undefined && body.type !== base.type) problems.push({ field: 'type', reason: 'type cannot be changed' })
  const settings: DomainSettings = {
    type: base.type,
    domain: body.domain === undefined ? base.domain : parseNewName(body.domain, problems, allowsSuffix),
    status: body.status ?? base.status,
    description: body.description ?? base.description,
    group: body.group ?? base.group,
    tags: body.tags ?? base.tags,
    soa_email: body.soa_email === undefined ? base.soa_email : readSoaEmail(body.soa_email, problems),
    master_ips: body.master_ips ? readAddresses('master_ips', body.master_ips, problems) : base.master_ips,
    axfr_ips: body.axfr_ips ? readAddresses('axfr_ips', body.axfr_ips, problems) : base.axfr_ips,
    expire_sec: body.expire_sec === undefined ? base.expire_sec : roundDomainTime(body.expire_sec),
    refresh_sec: body.refresh_sec === undefined ? base.refresh_sec : roundDomainTime(body.refresh_sec),
    retry_sec: body.retry_sec === undefined ? base.retry_sec : roundDomainTime(body.retry_sec),
    ttl_sec: body.ttl_sec === undefined ? base.ttl_sec : roundDomainTime(body.ttl_sec),
  }
  if (settings.type === 'master' && settings.soa_email === '') {
    problems.push({ field: 'soa_email', reason: 'soa_email required when type=master' })
  }
  if (settings.type === 'slave' && settings.master_ips.length === 0) {
    problems.push({ field: 'master_ips', reason: 'You need at least one master DNS server IP address for this zone.' })
  }
  if (problems.length > 0) throw badRequest(...problems)
  return settings
}

/** A domain name in its stored form, without the final dot. Null if it is not valid. */
const parseStoredName = (text: string): string | null => parseZoneName(text)?.slice(0, -1) ?? null

/** The stored form of a new zone's name. Adds a problem if no zone can have the name. */
export function parseNewName(text: string, problems: RequestProblem[], allowsSuffix: AllowsSuffix = () => false): string {
  const name = parseStoredName(text)
  if (name === null) problems.push({ field: 'domain', reason: 'domain is not valid' })
  else if (isPublicSuffix(name) && !allowsSuffix(name)) problems.push(CONFLICTS['public-suffix'])
  return name ?? text
}

function readSoaEmail(text: string, problems: RequestProblem[]): string {
  if (text === '') return ''
  const email = parseEmail(text)
  if (email === null) problems.push({ field: 'soa_email', reason: 'soa_email is not valid' })
  return email ?? text
}

function readAddresses(field: string, addresses: readonly string[], problems: RequestProblem[]): readonly string[] {
  if (addresses.reduce((sum, { length }) => sum + length, 0) > MAX_ADDRESSES) {
    problems.push({ field, reason: `Length must be 0-${MAX_ADDRESSES} characters` })
  } else if (!addresses.every((address) => isIPv4(address) || (isIPv6(address) && !address.includes('%')))) {
    problems.push({ field, reason: 'Invalid IPv4 or IPv6 address' })
  }
  return addresses
}

/** The valid times of domains and TTLs of records, in seconds, besides 0 for the default (API, Domain). */
const VALID = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200] as const

const LONGEST = 2419200

/** Rounds a domain's time up to a valid value, at most the longest; 0 stays. */
export const roundDomainTime = (seconds: number): number => (seconds === 0 ? 0 : (VALID.find((valid) => valid >= seconds) ?? LONGEST))

/** Rounds a record's TTL to the nearest valid value, the lower one if two are equally near; 0 stays. */
export function roundRecordTtl(seconds: number): number {
  if (seconds === 0 || seconds >= LONGEST) return Math.min(seconds, LONGEST)
  let nearest: number = VALID[0]
  for (const valid of VALID) if (Math.abs(valid - seconds) < Math.abs(nearest - seconds)) nearest = valid
  return nearest
}

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
