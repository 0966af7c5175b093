/** Parses the body of a domain request, and rounds times and TTLs as the API does. */
import { isIPv4, isIPv6 } from 'node:net'
import type { DomainName } from '../../../dns/domain-name.ts'
import type { DomainSettings } from '../../store/domain-store.ts'
import type { NameConflict } from '../../store/zone-name-store.ts'
import { isPublicSuffix } from '../../store/zone-name-store.ts'
import { badRequest, collectProblems, type RequestError, type RequestProblem } from '../request-error.ts'
import { parseEmail, parseZoneName } from './name-input.ts'

/** The body of a domain request that its schema has accepted. */
export interface DomainBody extends Partial<Omit<DomainSettings, 'tags' | 'master_ips' | 'axfr_ips'>> {
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
export const domainToCreate = (body: DomainBody & Pick<DomainSettings, 'domain' | 'type'>): DomainSettings =>
  readSettings({ ...DEFAULTS, domain: '', type: body.type }, body)

/** Returns the settings of a domain in a seed. A public suffix passes here, since the service may have the domain already. Throws 400 with every error. */
export const domainToSeed = (body: DomainBody & Pick<DomainSettings, 'domain' | 'type'>): DomainSettings =>
  readSettings({ ...DEFAULTS, domain: '', type: body.type }, body, () => true)

/** The semantic errors of a create body that may lack any field. Without a type, rules that depend on it are skipped. */
export const problemsOfCreate = (body: DomainBody): readonly RequestProblem[] =>
  collectProblems(() => domainToCreate(body as Parameters<typeof domainToCreate>[0]))

/** Returns the existing settings with the changes of an update. Throws 400 with every error. */
export const domainToUpdate = (existing: DomainSettings, body: DomainBody): DomainSettings =>
  readSettings(existing, body, (name) => name === existing.domain)

/**
 * The name that an update asks for; null if it has no valid one. A public suffix is not valid: no zone gets it, and locking it would block all
 * names below it.
 */
export function nameToUpdate({ domain }: DomainBody): string | null {
  const name = domain === undefined ? null : parseStoredName(domain)
  return name === null || isPublicSuffix(name) ? null : name
}

/** The name that a clone asks for. Throws 400 if it is not valid. */
export function domainToClone({ domain }: { readonly domain: string }): string {
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
