/** The service's rules for single records, applied in order. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { isWildcard, relativeName } from '../../dns/domain-name.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { RecordRule } from '../../plan/capabilities.ts'
import { splitSrvOwner } from './record-codec.ts'

/** Maximum characters of a record's name relative to the zone. */
const MAX_NAME = 100
const MAX_TARGET = 65_535
const MAX_PRIORITY = 255

type RuleResult = ReturnType<RecordRule>

const accept = (record: DefinedRecord): RuleResult => ({ record, diagnostics: [] })

const refuse = (record: DefinedRecord, why: string, code: Diagnostic['code'] = 'record-unsupported'): RuleResult => ({
  record: null,
  diagnostics: [{ severity: 'error', code, message: `${record.name} ${record.type}: ${why}`, at: record.at }],
})

const nameCharacters: RecordRule = (record, zone) => {
  const relative = relativeName(record.name, zone)
  if (relative.length > MAX_NAME) {
    return refuse(record, `the name is ${relative.length} characters long; the service accepts ${MAX_NAME}`, 'limit-exceeded')
  }
  if (!/^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)?$/.test(relative)) {
    return refuse(record, 'the service accepts names of letters, digits, hyphens and underscores, with a leading "*" at most')
  }
  return accept(record)
}

const targetCharacters: RecordRule = (record) => {
  const target = targetName(record.type, record.data)
  if (target === null) return accept(record)
  // A null MX (RFC 7505), or a service that is not available (RFC 2782).
  if (target === '.' && (record.type === 'MX' || record.type === 'SRV')) return accept(record)
  if (target === '.') return refuse(record, 'the service does not support the root as a target')
  return /^(?:[a-z0-9_-]+\.)+$/.test(target) ? accept(record) : refuse(record, `the service does not support the target ${target}`)
}

const nullMx: RecordRule = (record) =>
  record.type === 'MX' && record.data.endsWith(' .') && record.data !== '0 .'
    ? refuse(record, 'a null MX has preference 0 (RFC 7505)')
    : accept(record)

const priorityLimit: RecordRule = (record) => {
  if (record.type !== 'MX' && record.type !== 'SRV') return accept(record)
  const priority = Number(rdataFields(record.data)[0])
  return priority > MAX_PRIORITY
    ? refuse(
        record,
        `the ${record.type === 'MX' ? 'preference' : 'priority'} is ${priority}; the service accepts 0 to ${MAX_PRIORITY}`,
        'limit-exceeded',
      )
    : accept(record)
}

const srvOwner: RecordRule = (record, zone) => {
  if (record.type !== 'SRV') return accept(record)
  const owner = splitSrvOwner(record.name, zone)
  if (owner === null)
    return refuse(record, 'the service composes the name of an SRV record from its service and protocol: _service._protocol')
  if (!owner.protocol.includes('.')) return accept(record)
  const message = `${record.name} SRV is stored with protocol "${owner.protocol}", which puts it below the apex`
  return { record, diagnostics: [{ severity: 'notice', code: 'srv-protocol-subname', message, at: record.at }] }
}

const wildcardNs: RecordRule = (record) =>
  record.type === 'NS' && isWildcard(record.name) ? refuse(record, 'the service has no NS records at a wildcard') : accept(record)

const apexCname: RecordRule = (record, zone) =>
  record.type === 'CNAME' && record.name === zone ? refuse(record, 'the service has no CNAME at the apex') : accept(record)

/** One string of printable ASCII, which the service keeps unchanged. */
const PLAIN_TEXT = /^"[ !#-[\]-~]{1,255}"$/

/** The service stores the text and splits it into strings of 255 octets itself, so the definition's split is not kept. */
const textStrings: RecordRule = (record) => {
  if (record.type !== 'TXT' || PLAIN_TEXT.test(record.data)) return accept(record)
  const octets = txtRdataToOctets(record.data)
  if (octets.length === 0) return refuse(record, 'the service accepts no empty TXT')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets)
  } catch {
    return refuse(record, 'the text is not UTF-8, and the service accepts text')
  }
  if (text.includes('\0')) return refuse(record, 'the service accepts no text with the character NUL')
  if (text.length > MAX_TARGET)
    return refuse(record, `the text is ${text.length} characters long; the service accepts ${MAX_TARGET}`, 'limit-exceeded')
  const data = octetsToTxtRdata(octets)
  return accept(data === record.data ? record : { ...record, data })
}

/** A host name of at least two labels, which the service accepts as a domain name in a CAA record. */
const CA_HOST = '(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'

/** The domain name of a certification authority, or `;` for none. */
const CA_DOMAIN = new RegExp(`^(?:;|(?=.{1,253}$)${CA_HOST})$`, 'i')

/** A URL of printable ASCII, or a host name. */
const IODEF = new RegExp(
  `^(?:mailto:[!#-?A-[\\]-~]+@[a-z0-9-]+(?:\\.[a-z0-9-]+)*|https?://[a-z0-9[][!#-[\\]-~]*|(?=.{1,253}$)${CA_HOST})$`,
  'i',
)

const caa: RecordRule = (record) => {
  if (record.type !== 'CAA') return accept(record)
  const [flags = '', tag = '', quoted = ''] = rdataFields(record.data)
  if (flags !== '0') return refuse(record, `the service has no CAA flags, so the flag ${flags} would be dropped`)
  // Octets that are not UTF-8 become U+FFFD, which no name or URL contains.
  const value = Buffer.from(txtRdataToOctets(quoted)).toString('utf8')
  if (value.includes('\0') || value.includes('\ufffd')) return refuse(record, `the service does not support ${quoted} for ${tag}`)
  if (tag === 'iodef') return IODEF.test(value) ? accept(record) : refuse(record, `the service does not support ${quoted} for iodef`)
  if (tag !== 'issue' && tag !== 'issuewild') return refuse(record, `the service has the tags issue, issuewild and iodef, not ${tag}`)
  return CA_DOMAIN.test(value) ? accept(record) : refuse(record, `the service accepts a domain name or ";" for ${tag}, not ${quoted}`)
}

export const CLOUD_RECORD_RULES: readonly RecordRule[] = [
  nameCharacters,
  targetCharacters,
  nullMx,
  priorityLimit,
  srvOwner,
  wildcardNs,
  apexCname,
  textStrings,
  caa,
]
