/** The service's rules for single records, applied in order. */
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { isWildcard, relativeName } from '../../dns/domain-name.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { RecordRule } from '../../plan/capabilities.ts'
import { splitSrvOwner } from './record-codec.ts'

/** Maximum length of a record's name relative to the zone in characters (API, Domain record). */
const MAX_NAME = 100
const MAX_TARGET = 65_535
const MAX_PRIORITY = 255

type Ruled = ReturnType<RecordRule>

const pass = (record: DefinedRecord): Ruled => ({ record, diagnostics: [] })

const cannot = (record: DefinedRecord, why: string, code: Diagnostic['code'] = 'record-unsupported'): Ruled => ({
  record: null,
  diagnostics: [{ severity: 'error', code, message: `${record.name} ${record.type}: ${why}`, at: record.at }],
})

const nameCharacters: RecordRule = (record, zone) => {
  const relative = relativeName(record.name, zone)
  if (relative.length > MAX_NAME) {
    return cannot(record, `the name is ${relative.length} characters long; the service holds ${MAX_NAME}`, 'limit-exceeded')
  }
  if (!/^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)?$/.test(relative)) {
    return cannot(record, 'the service holds names of letters, digits, hyphens and underscores, with a leading "*" at most')
  }
  return pass(record)
}

const targetCharacters: RecordRule = (record) => {
  const target = targetName(record.type, record.data)
  if (target === null || (record.type === 'MX' && target === '.')) return pass(record)
  if (target === '.') return cannot(record, 'the service cannot hold the root as a target')
  return /^(?:[a-z0-9_-]+\.)+$/.test(target) ? pass(record) : cannot(record, `the service cannot hold the target ${target}`)
}

const nullMx: RecordRule = (record) =>
  record.type === 'MX' && record.data.endsWith(' .') && record.data !== '0 .'
    ? cannot(record, 'a null MX has preference 0 (RFC 7505)')
    : pass(record)

const priorityLimit: RecordRule = (record) => {
  if (record.type !== 'MX' && record.type !== 'SRV') return pass(record)
  const priority = Number(rdataFields(record.data)[0])
  return priority > MAX_PRIORITY
    ? cannot(
        record,
        `the ${record.type === 'MX' ? 'preference' : 'priority'} is ${priority}; the service holds 0 to ${MAX_PRIORITY}`,
        'limit-exceeded',
      )
    : pass(record)
}

const srvOwner: RecordRule = (record, zone) => {
  if (record.type !== 'SRV') return pass(record)
  const owner = splitSrvOwner(record.name, zone)
  if (owner === null)
    return cannot(record, 'the service composes the name of an SRV record from its service and protocol: _service._protocol')
  if (!owner.protocol.includes('.')) return pass(record)
  const message = `${record.name} SRV is stored with protocol "${owner.protocol}", which puts it below the apex`
  return { record, diagnostics: [{ severity: 'notice', code: 'srv-protocol-subname', message, at: record.at }] }
}

const wildcardNs: RecordRule = (record) =>
  record.type === 'NS' && isWildcard(record.name) ? cannot(record, 'the service has no NS records at a wildcard') : pass(record)

const apexCname: RecordRule = (record, zone) =>
  record.type === 'CNAME' && record.name === zone ? cannot(record, 'the service has no CNAME at the apex') : pass(record)

/** One string of printable ASCII, which the service keeps unchanged. */
const PLAIN_TEXT = /^"[ !#-[\]-~]{1,255}"$/

/** The service stores the text and splits it into strings of 255 octets itself, so the definition's split is not kept. */
const textStrings: RecordRule = (record) => {
  if (record.type !== 'TXT' || PLAIN_TEXT.test(record.data)) return pass(record)
  const octets = txtRdataToOctets(record.data)
  if (octets.length === 0) return cannot(record, 'the service holds no empty TXT')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets)
  } catch {
    return cannot(record, 'the text is not UTF-8, and the service holds text')
  }
  if (text.includes('\0')) return cannot(record, 'the service holds no text with the character NUL')
  if (text.length > MAX_TARGET)
    return cannot(record, `the text is ${text.length} characters long; the service holds ${MAX_TARGET}`, 'limit-exceeded')
  const data = octetsToTxtRdata(octets)
  return pass(data === record.data ? record : { ...record, data })
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
  if (record.type !== 'CAA') return pass(record)
  const [flags = '', tag = '', quoted = ''] = rdataFields(record.data)
  if (flags !== '0') return cannot(record, `the service has no CAA flags, so the flag ${flags} would be dropped`)
  // Octets that are not UTF-8 become U+FFFD, which no name or URL contains.
  const value = Buffer.from(txtRdataToOctets(quoted)).toString('utf8')
  if (value.includes('\0') || value.includes('\ufffd')) return cannot(record, `the service cannot hold ${quoted} for ${tag}`)
  if (tag === 'iodef') return IODEF.test(value) ? pass(record) : cannot(record, `the service cannot hold ${quoted} for iodef`)
  if (tag !== 'issue' && tag !== 'issuewild') return cannot(record, `the service has the tags issue, issuewild and iodef, not ${tag}`)
  return CA_DOMAIN.test(value) ? pass(record) : cannot(record, `the service holds a domain name or ";" for ${tag}, not ${quoted}`)
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
