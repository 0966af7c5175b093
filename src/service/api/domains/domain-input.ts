import { isIPv4, isIPv6 } from 'node:net'
import type { DomainName } from '../../../dns/domain-name.ts'
import type { DomainSettings } from '../../store/domain-store.ts'
import type { NameConflict } from '../../store/zone-name-store.ts'
import { isPublicSuffix } from '../../store/zone-name-store.ts'
import { collectProblems, invalid, type RequestError, type RequestProblem } from '../request-error.ts'
import { parseEmail, parseZoneName } from './name-input.ts'

/** The body of a request about a domain, as its schema lets it through. */
export interface DomainBody extends Partial<Omit<DomainSettings, 'tags' | 'master_ips' | 'axfr_ips'>> {
  readonly tags?: readonly string[] | null
  readonly master_ips?: readonly string[] | null
  readonly axfr_ips?: readonly string[] | null
}

/** Characters of all addresses of a list together (interface, Domain). */
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

/** The settings of the domain a create asks for. Throws 400 with every fault. */
export const domainToCreate = (body: DomainBody & Pick<DomainSettings, 'domain' | 'type'>): DomainSettings =>
  readSettings({ ...DEFAULTS, domain: '', type: body.type }, body)

/** The settings of a domain in a seed, which may be a public suffix if the service has it already. Throws 400 with every other fault. */
export const domainToSeed = (body: DomainBody & Pick<DomainSettings, 'domain' | 'type'>): DomainSettings =>
  readSettings({ ...DEFAULTS, domain: '', type: body.type }, body, () => true)

/** What is wrong with the values of a create that may lack any field. Where the type is missing, its rules are silent. */
export const problemsOfCreate = (body: DomainBody): readonly RequestProblem[] =>
  collectProblems(() => domainToCreate(body as Parameters<typeof domainToCreate>[0]))

/** The existing settings with what an update changes of them. Throws 400 with every fault. */
export const domainToUpdate = (existing: DomainSettings, body: DomainBody): DomainSettings =>
  readSettings(existing, body, (name) => name === existing.domain)

/**
 * The name that an update asks for; null if it asks for none that is valid. A public suffix is not: nobody is given one, and a lock on it would
 * keep all names below it waiting.
 */
export function nameToUpdate({ domain }: DomainBody): string | null {
  const name = domain === undefined ? null : readStoredName(domain)
  return name === null || isPublicSuffix(name) ? null : name
}

/** The name a clone asks for. Throws 400 where it is none. */
export function domainToClone({ domain }: { readonly domain: string }): string {
  const problems: RequestProblem[] = []
  const name = parseNewName(domain, problems)
  if (problems.length > 0) throw invalid(...problems)
  return name
}

/** The reasons say nothing about the other zone: not whose it is, and not whether it lies above or below. */
const CONFLICTS: Readonly<Record<NameConflict, RequestProblem>> = {
  taken: { field: 'domain', reason: 'DNS zone already exists.' },
  overlap: { field: 'domain', reason: 'A DNS zone above or below this name exists, and you may not change it.' },
  'public-suffix': { field: 'domain', reason: 'domain is a public suffix' },
}

export const nameConflictError = (conflict: NameConflict): RequestError => invalid(CONFLICTS[conflict])

/** The name of a stored domain. */
export const zoneNameOf = (domain: string): DomainName => `${domain}.` as DomainName

/** Which names may be a public suffix all the same: none, unless a zone has the name already. */
type MayBeSuffix = (name: string) => boolean

function readSettings(base: DomainSettings, body: DomainBody, mayBeSuffix?: MayBeSuffix): DomainSettings {
  const problems: RequestProblem[] = []
  if (body.type !== undefined && body.type !== base.type) problems.push({ field: 'type', reason: 'type cannot be changed' })
  const settings: DomainSettings = {
    type: base.type,
    domain: body.domain === undefined ? base.domain : parseNewName(body.domain, problems, mayBeSuffix),
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
  if (problems.length > 0) throw invalid(...problems)
  return settings
}

/** A name as it is stored: without the final dot. Null if it is not valid. */
const readStoredName = (text: string): string | null => parseZoneName(text)?.slice(0, -1) ?? null

/** The name that a zone is to have, as it is stored. Adds to the faults if no zone can have it. */
export function parseNewName(text: string, problems: RequestProblem[], mayBeSuffix: MayBeSuffix = () => false): string {
  const name = readStoredName(text)
  if (name === null) problems.push({ field: 'domain', reason: 'domain is not valid' })
  else if (isPublicSuffix(name) && !mayBeSuffix(name)) problems.push(CONFLICTS['public-suffix'])
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

/** Seconds that times of a domain and TTLs of records can have, beside 0 for the default (interface, Domain). */
const VALID = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200] as const

const LONGEST = 2419200

/** A domain's time: 0 stays, all else is rounded up to a valid value, and what is above them all is the longest. */
export const roundDomainTime = (seconds: number): number => (seconds === 0 ? 0 : (VALID.find((valid) => valid >= seconds) ?? LONGEST))

/** A record's TTL: 0 stays, all else becomes the nearest valid value, the lower of two as near. */
export function roundRecordTtl(seconds: number): number {
  if (seconds === 0 || seconds >= LONGEST) return Math.min(seconds, LONGEST)
  let nearest: number = VALID[0]
  for (const valid of VALID) if (Math.abs(valid - seconds) < Math.abs(nearest - seconds)) nearest = valid
  return nearest
}
