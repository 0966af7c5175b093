/** The SOA record of a zone (RFC 1035 section 3.3.13) as settings of a definition, and back. */
import { type DomainName, labelsOf, nameFromLabels } from './domain-name.ts'
import { isMailAddress, nameToEmail } from './mailbox.ts'
import { rdataFields } from './rdata/canonical.ts'
import type { ResourceRecord } from './record.ts'
import { type SerialNumber, serialNumber } from './serial-number.ts'
import { MAX_TTL } from './ttl.ts'
import type { SoaFields, ZoneSettings } from './zone.ts'

/** The times of an SOA record, in its order, with the settings that have the same meaning. */
export const SOA_TIMES = [
  ['refresh', 'refresh_sec'],
  ['retry', 'retry_sec'],
  ['expire', 'expire_sec'],
  ['minimum', 'ttl_sec'],
] as const satisfies readonly (readonly [keyof SoaFields, keyof ZoneSettings])[]

/** The times of an SOA record for which a definition has no setting, or 0, in seconds. */
export const DEFAULT_SOA_TIMES = { refresh_sec: 14_400, retry_sec: 14_400, expire_sec: 1_209_600, ttl_sec: 86_400 } as const

/** The usual mailbox of a zone without one (RFC 2142): `hostmaster` below its name. */
export const hostmasterOf = (zone: DomainName): DomainName => nameFromLabels([Buffer.from('hostmaster'), ...labelsOf(zone)])

/** All fields, in the order of a definition. */
export const SOA_FIELDS = [
  'primary',
  'mailbox',
  'serial',
  'refresh',
  'retry',
  'expire',
  'minimum',
  'ttl',
] as const satisfies readonly (keyof SoaFields)[]

export interface ZoneOfSoa {
  readonly settings: ZoneSettings
  readonly soa: SoaFields
}

/**
 * Splits an SOA record into settings and the fields that settings cannot express: the primary, the serial, a mailbox that is not a mail address, and
 * times of 0 (which means the default in settings) or above the maximum TTL. `minimum`, the time for which a missing name is cached (RFC 2308), is
 * also the default TTL of the zone.
 */
export function splitSoa({ ttl, data }: Pick<ResourceRecord, 'ttl' | 'data'>): ZoneOfSoa {
  const [primary = '', mailbox = '', serial, ...seconds] = rdataFields(data)
  const email = nameToEmail(mailbox)
  const isAddress = email !== null && isMailAddress(email)
  const times: Partial<Record<(typeof SOA_TIMES)[number][1], number>> = {}
  const soa: Partial<Record<keyof SoaFields, string | number>> = { primary }
  if (!isAddress) soa.mailbox = mailbox.toLowerCase()
  soa.serial = serialNumber(Number(serial))
  for (const [i, [field, setting]] of SOA_TIMES.entries()) {
    const time = Number(seconds[i])
    if (time > 0 && time <= MAX_TTL) times[setting] = time
    else soa[field] = time
  }
  if (ttl !== null && ttl !== Number(seconds[3])) soa.ttl = ttl
  return { settings: isAddress ? { soa_email: email, ...times } : times, soa: soa as SoaFields }
}

/** The serial of an SOA record. */
export const serialOf = ({ data }: Pick<ResourceRecord, 'data'>): SerialNumber => serialNumber(Number(rdataFields(data)[2]))
