/**
 * Which records octoDNS's own checks refuse though they are good DNS, so that its file says `lenient: true` for them. After the
 * validators of octoDNS 1.22 (octodns/record/*.py, its set `legacy`, which is the default); where a look decides, on the safe side: too
 * much leniency costs nothing.
 */
import { rdataToText } from '../../dns/character-string.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../dns/record.ts'

const SINGLE_DOT_TYPES: ReadonlySet<string> = new Set(['HTTPS', 'MX', 'SVCB', 'SRV'])

/** At least two labels of letters, digits, hyphens and underscores, no hyphen at an end (its package fqdn). */
const HOST = /^(?:(?!-)[-_a-z0-9]{1,63}(?<!-)\.){1,126}(?!-)[-_a-z0-9]{1,63}(?<!-)\.$/

const SERVICE_NAME = /^(?:\*|_[^.]+)\.[^.]+/

/** Whether octoDNS takes the record only as lenient; `name` is relative to the zone. */
export function needsLenient({ name: owner, type, data }: ResourceRecord, name: string): boolean {
  if (owner.length > 253 || name.split('.').some((label) => label.length > 63)) return true
  const fields = rdataFields(data)
  const target = targetOf(type, data, fields)
  if (target !== null && !isHost(target, type)) return true
  switch (type) {
    case 'CNAME':
      return name === ''
    case 'ALIAS':
      return name !== ''
    case 'SRV':
    case 'URI':
      return !SERVICE_NAME.test(name)
    case 'TXT':
    case 'SPF':
      return isOddText(rdataToText(data))
    case 'SSHFP':
      return !/^[1-4] (?:1 [0-9a-f]{40}|2 [0-9a-f]{64})$/.test(data)
    case 'TLSA':
      return !/^[0-3] [01] [0-2] /.test(data)
    case 'NAPTR':
      return !/^"[SAUP]"$/i.test(fields[2] ?? '')
    case 'SVCB':
    case 'HTTPS':
      return fields[0] === '0' && fields.length > 2
    case 'URLFWD':
      return !/^30[12] [0-2] [01]$/.test(fields.slice(2).join(' '))
    default:
      return false
  }
}

const targetOf = (type: string, data: string, fields: readonly string[]): string | null =>
  type === 'SVCB' || type === 'HTTPS' ? (fields[1] ?? '') : targetName(type, data)

const isHost = (target: string, type: string): boolean =>
  target === '.' ? SINGLE_DOT_TYPES.has(type) : target.length <= 254 && HOST.test(target) && !/^[0-9.]+$/.test(target)

/** Text that is not ASCII, is empty, or has a backslash before a semicolon, which octoDNS takes for an escape escaped. */
const isOddText = (octets: Uint8Array): boolean =>
  octets.length === 0 || octets.some((octet) => octet > 0x7e) || Buffer.from(octets).includes('\\;')
