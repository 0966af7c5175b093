/** Rules for CAA records. */
import { unescapeString } from '../../dns/character-string.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { Finding, ZoneIndex } from './zone-index.ts'

/** The tags in the IANA registry of CAA properties (RFC 8659, RFC 8657, RFC 9495 and the contact tags of the CA/Browser Forum). */
const REGISTERED_TAGS: ReadonlySet<string> = new Set([
  'issue',
  'issuewild',
  'iodef',
  'issuemail',
  'issuevmc',
  'contactemail',
  'contactphone',
])

/** Tags with an issuer as their value, in the syntax of RFC 8659 section 4.2. */
const ISSUER_TAGS: ReadonlySet<string> = new Set(['issue', 'issuewild', 'issuemail', 'issuevmc'])

/** The only defined flag, "issuer critical" (RFC 8659 section 4.1). */
const CRITICAL = 128

const LABEL = '[A-Za-z0-9](?:-*[A-Za-z0-9])*'
const ISSUER = new RegExp(`^[ \\t]*(?:${LABEL}(?:\\.${LABEL})*)?[ \\t]*(?:;.*)?$`)
const PARAMETER = /^[ \t]*[A-Za-z0-9](?:-*[A-Za-z0-9])*[ \t]*=[ \t]*(?:[\x21-\x3a\x3c-\x7e]+[ \t]*)?$/

const REPORT_URL = /^(?:mailto:[^\s@]+@[^\s@]+|https?:\/\/[^\s/].*)$/i

/** Reports flags other than 0 and 128, since all other bits are reserved. A common mistake is to write 1 for critical. */
export function* caaFlagsReserved({ ofType }: ZoneIndex): Iterable<Finding> {
  for (const { record, flags } of caaRecords(ofType('CAA'))) {
    if (flags === 0 || flags === CRITICAL) continue
    yield {
      message: `${record.name} CAA: the flags are ${flags}, but only 0 and 128 (critical) are defined`,
      at: record.at,
      hint: 'write 128 if an issuer must refuse certificates when it does not know the tag, otherwise 0',
    }
  }
}

/** Reports unregistered tags: issuers ignore them, or refuse every certificate if the record is critical. */
export function* caaTagUnknown({ ofType }: ZoneIndex): Iterable<Finding> {
  for (const { record, flags, tag } of caaRecords(ofType('CAA'))) {
    if (REGISTERED_TAGS.has(tag)) continue
    yield {
      message: `${record.name} CAA: the tag "${tag}" is not registered, so issuers ${flags >= CRITICAL ? 'refuse every certificate' : 'ignore it'}`,
      at: record.at,
      hint: `registered tags are ${[...REGISTERED_TAGS].join(', ')}`,
    }
  }
}

/**
 * Reports issuers with invalid syntax, which match no certificate authority (RFC 8659 section 4.2), and invalid report URLs. Name servers accept any value,
 * so such records exist.
 */
export function* caaValueInvalid({ ofType }: ZoneIndex): Iterable<Finding> {
  for (const { record, tag, value } of caaRecords(ofType('CAA'))) {
    const { name, at } = record
    const shown = `${name} CAA: the ${tag} value ${JSON.stringify(value)}`
    if (ISSUER_TAGS.has(tag) && !isIssuerValue(value))
      yield { message: `${shown} is not a valid issuer, so it allows no authority to issue certificates`, at, hint: ISSUER_HINT }
    if (tag === 'iodef' && !REPORT_URL.test(value)) yield { message: `${shown} is not a mailto:, http: or https: URL`, at }
  }
}

const ISSUER_HINT = 'write the domain name of the issuer without a final dot, such as "ca.example", or ";" to allow no issuer'

function isIssuerValue(value: string): boolean {
  if (!ISSUER.test(value)) return false
  const [, ...parameters] = value.split(';')
  // A semicolon at the end is valid: an empty last parameter is accepted.
  return parameters.every((parameter, i) => PARAMETER.test(parameter) || (i === parameters.length - 1 && parameter.trim() === ''))
}

interface CaaFields {
  readonly record: DefinedRecord
  readonly flags: number
  readonly tag: string
  readonly value: string
}

function caaRecords(records: readonly DefinedRecord[]): CaaFields[] {
  const found: CaaFields[] = []
  for (const record of records) {
    const [flags = '', tag = '', quoted = ''] = rdataFields(record.data)
    const octets = unescapeString(quoted.slice(1, -1))
    if (octets.ok) found.push({ record, flags: Number(flags), tag, value: Buffer.from(octets.value).toString('latin1') })
  }
  return found
}
