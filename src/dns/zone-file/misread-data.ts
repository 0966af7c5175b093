import { rdataFields } from '../rdata/canonical.ts'
import { svcParamKey } from '../rdata/svc-param-forms.ts'
import { typeCode } from '../record-type.ts'

/** By the type, what one server or another refuses, or takes for something else. */
const MISREAD: Readonly<Record<string, RegExp>> = {
  // ldns wants another certificate type than 0, types, a key and services.
  CERT: /^0 /,
  CSYNC: /^\S+ \S+$/,
  KEY: /^\S+ \S+ \S+$/,
  WKS: /^\S+ \S+$/,
  // NSD reads escapes in the gateway twice; ldns wants a key.
  IPSECKEY: /\\|^\S+ \S+ \S+ \S+$/,
}

/** ldns reads the origin for a name in data whose first label is `@`, however that is written. */
const AT_LABEL = /(?:^| )\\@\./

/** `dohpath` (RFC 9461): most servers know no names of later keys. */
const LAST_KNOWN_KEY = 7

/** Whether the canonical data of the type has to be in the generic form (RFC 3597 section 5) for every server to take them for what they are. */
export function isMisread(type: string, data: string): boolean {
  if (data.startsWith('\\#') || type === 'SOA' || typeCode(type) === null) return false
  if (MISREAD[type]?.test(data) || AT_LABEL.test(data)) return true
  return (type === 'SVCB' || type === 'HTTPS') && rdataFields(data).slice(2).some(hasLateName)
}

function hasLateName(param: string): boolean {
  const [name = ''] = param.split('=')
  return !name.startsWith('key') && (svcParamKey(name) ?? 0) > LAST_KNOWN_KEY
}
