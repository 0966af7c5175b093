/** The service's rules for single records, applied in order. */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { isWildcard, relativeName } from '../../dns/domain-name.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import type { RecordRule } from '../../plan/capabilities.ts'
import { joinedTexts, refuseIf } from '../record-rules.ts'
import { splitSrvOwner } from './record-codec.ts'

/** Maximum characters of a record's name relative to the zone. */
const MAX_NAME = 100
const MAX_TARGET = 65_535
const MAX_PRIORITY = 255

const nameCharacters = refuseIf(({ name }, zone) => {
  const relative = relativeName(name, zone)
  if (relative.length > MAX_NAME)
    return ['limit-exceeded', `the name is ${relative.length} characters long; the service accepts ${MAX_NAME}`]
  return /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)?$/.test(relative)
    ? null
    : 'the service accepts names of letters, digits, hyphens and underscores, with a leading "*" at most'
})

const targetCharacters = refuseIf(({ type, data }) => {
  const target = targetName(type, data)
  // A null MX (RFC 7505), or a service that is not available (RFC 2782).
  if (target === null || (target === '.' && (type === 'MX' || type === 'SRV'))) return null
  if (target === '.') return 'the service does not support the root as a target'
  return /^(?:[a-z0-9_-]+\.)+$/.test(target) ? null : `the service does not support the target ${target}`
})

const nullMx = refuseIf(({ type, data }) =>
  type === 'MX' && data.endsWith(' .') && data !== '0 .' ? 'a null MX has preference 0 (RFC 7505)' : null,
)

const priorityLimit = refuseIf(({ type, data }) => {
  const priority = type === 'MX' || type === 'SRV' ? Number(rdataFields(data)[0]) : 0
  const called = type === 'MX' ? 'preference' : 'priority'
  return priority > MAX_PRIORITY ? ['limit-exceeded', `the ${called} is ${priority}; the service accepts 0 to ${MAX_PRIORITY}`] : null
})

const srvOwner = refuseIf(({ name, type }, zone) =>
  type === 'SRV' && splitSrvOwner(name, zone) === null
    ? 'the service composes the name of an SRV record from its service and protocol: _service._protocol'
    : null,
)

const srvProtocol: RecordRule = (record, zone) => {
  const protocol = record.type === 'SRV' ? (splitSrvOwner(record.name, zone)?.protocol ?? '') : ''
  if (!protocol.includes('.')) return { record, diagnostics: [] }
  const message = `${record.name} SRV is stored with protocol "${protocol}", which puts it below the apex`
  return { record, diagnostics: [{ severity: 'notice', code: 'srv-protocol-subname', message, at: record.at }] }
}

const wildcardNs = refuseIf(({ name, type }) => (type === 'NS' && isWildcard(name) ? 'the service has no NS records at a wildcard' : null))

const apexCname = refuseIf(({ name, type }, zone) => (type === 'CNAME' && name === zone ? 'the service has no CNAME at the apex' : null))

/** One string of printable ASCII, which the service keeps unchanged. */
const PLAIN_TEXT = /^"[ !#-[\]-~]{1,255}"$/

const storableText = refuseIf(({ type, data }) => {
  if (type !== 'TXT' || PLAIN_TEXT.test(data)) return null
  const octets = txtRdataToOctets(data)
  if (octets.length === 0) return 'the service accepts no empty TXT'
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets)
  } catch {
    return 'the text is not UTF-8, and the service accepts text'
  }
  if (text.includes('\0')) return 'the service accepts no text with the character NUL'
  return text.length > MAX_TARGET
    ? ['limit-exceeded', `the text is ${text.length} characters long; the service accepts ${MAX_TARGET}`]
    : null
})

/** A host name of at least two labels, which the service accepts as a domain name in a CAA record. */
const CA_HOST = '(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'

/** The domain name of a certification authority, or `;` for none. */
const CA_DOMAIN = new RegExp(`^(?:;|(?=.{1,253}$)${CA_HOST})$`, 'i')

/** A URL of printable ASCII, or a host name. */
const IODEF = new RegExp(
  `^(?:mailto:[!#-?A-[\\]-~]+@[a-z0-9-]+(?:\\.[a-z0-9-]+)*|https?://[a-z0-9[][!#-[\\]-~]*|(?=.{1,253}$)${CA_HOST})$`,
  'i',
)

const caa = refuseIf(({ type, data }) => {
  if (type !== 'CAA') return null
  const [flags = '', tag = '', quoted = ''] = rdataFields(data)
  if (flags !== '0') return `the service has no CAA flags, so the flag ${flags} would be dropped`
  // Octets that are not UTF-8 become U+FFFD, which no name or URL contains.
  const value = Buffer.from(txtRdataToOctets(quoted)).toString('utf8')
  if (value.includes('\0') || value.includes('\ufffd')) return `the service does not support ${quoted} for ${tag}`
  if (tag === 'iodef') return IODEF.test(value) ? null : `the service does not support ${quoted} for iodef`
  if (tag !== 'issue' && tag !== 'issuewild') return `the service has the tags issue, issuewild and iodef, not ${tag}`
  return CA_DOMAIN.test(value) ? null : `the service accepts a domain name or ";" for ${tag}, not ${quoted}`
})

/** The service splits texts into strings itself, so the definition's split is not kept. */
export const CLOUD_RECORD_RULES: readonly RecordRule[] = [
  nameCharacters,
  targetCharacters,
  nullMx,
  priorityLimit,
  srvOwner,
  srvProtocol,
  wildcardNs,
  apexCname,
  storableText,
  joinedTexts,
  caa,
]
