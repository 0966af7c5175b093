/** The records that DNSControl refuses or changes (pkg/normalize, pkg/transform and models of versions 4 and 5). */

export interface GivenRecord {
  readonly type: string
  /** Relative to the domain; `@` for the apex. */
  readonly label: string
  /** The arguments of its function after the label. */
  readonly values: readonly unknown[]
  readonly ttl: number
  readonly meta: Record<string, unknown>
  readonly caaFlag: number
}

export function refuseUnless(holds: boolean, message: string): void {
  if (!holds) throw new Error(message)
}

/** Refuses a name that no record may point to. */
export function checkTarget(target: string): void {
  refuseUnless(target !== '' && !/['" +,|!£$%&()=?^*ç°§;:<>[\]@]/.test(target), `the target ${target} has characters it may not have`)
  refuseUnless(!target.includes('/') || target.endsWith('.in-addr.arpa.'), `the target ${target} has a slash`)
  refuseUnless(!target.includes('.') || target.endsWith('.'), `the target ${target} has no dot at its end`)
}

/** The position of the value that is a target, by type. */
const TARGETS: Readonly<Record<string, number>> = { CNAME: 0, DNAME: 0, MX: 1, NAPTR: 5, NS: 0, PTR: 0, SOA: 0, SRV: 3 }
const CAA_TAGS = 'issue issuewild iodef contactemail contactphone issuemail issuevmc'.split(' ')

/** The maximum of each numeric value. */
const LIMITS: Readonly<Record<string, readonly number[]>> = {
  DNSKEY: [65_535, 255, 255],
  DS: [65_535, 255, 255],
  HTTPS: [65_535],
  MX: [65_535],
  NAPTR: [65_535, 65_535],
  SMIMEA: [3, 1, 2],
  SRV: [65_535, 65_535, 65_535],
  SSHFP: [255, 255],
  SVCB: [65_535],
  TLSA: [3, 1, 2],
}

/** Returns the records of a domain after the checks, which may change labels. Throws at the first refused record. */
export function checkRecords(records: readonly GivenRecord[], domain: string): GivenRecord[] {
  const checked = records.map((record) => checkRecord({ ...record, label: ownLabel(record, domain) }, domain))
  const aliases = checked.filter(({ type }) => type === 'CNAME').map(({ label }) => label)
  refuseUnless(new Set(aliases).size === aliases.length, 'two CNAMEs of one name')
  for (const { type, label } of checked) refuseUnless(type === 'CNAME' || !aliases.includes(label), `a CNAME and ${type} of one name`)
  const texts = checked.map(({ type, label, values }) => `${label} ${type} ${JSON.stringify(values)}`)
  refuseUnless(new Set(texts).size === texts.length, 'a record twice')
  return checked
}

/** In a reverse zone, removes the zone name from the end of labels, and reverses the labels of PTR records that are addresses. */
function ownLabel({ type, label }: GivenRecord, domain: string): string {
  if (!/\.(?:in-addr|ip6)\.arpa$/.test(domain)) return label
  const own = label.endsWith(`.${domain}`) ? label.slice(0, -domain.length - 1) : label
  const isAddress = type === 'PTR' && /^\d{1,3}(?:\.\d{1,3}){3}$/.test(own)
  const reversed = `${own.split('.').reverse().join('.')}.in-addr.arpa`
  refuseUnless(!isAddress || reversed.endsWith(`.${domain}`), `the address ${own} is of another zone`)
  return isAddress ? reversed.slice(0, -domain.length - 1) : own
}

function checkRecord(record: GivenRecord, domain: string): GivenRecord {
  const { type, label, values, meta, ttl } = record
  refuseUnless(label !== '' && !label.endsWith('.'), `the label ${label}`)
  refuseUnless(meta['skip_fqdn_check'] === 'true' || !`.${label}`.endsWith(`.${domain}`), `the label ${label} repeats the domain`)
  refuseUnless(Number.isInteger(ttl) && ttl > 0 && ttl < 2 ** 32, `the TTL ${ttl}`)
  const target = TARGETS[type] === undefined ? null : String(values[TARGETS[type]])
  if (target !== null) checkTarget(target)
  for (const [i, limit] of (LIMITS[type] ?? []).entries()) refuseUnless(isWhole(values[i], limit), `${type} with ${values[i]}`)
  switch (type) {
    case 'CAA':
      refuseUnless(CAA_TAGS.includes(String(values[0])), `the tag ${values[0]}`)
      break
    case 'CNAME':
      refuseUnless(label !== '@', 'a CNAME at the apex')
      refuseUnless(target !== `${label}.${domain}.`, 'a CNAME to itself')
      break
    case 'NS':
      refuseUnless(label !== '@', 'NS at the apex is NAMESERVER')
      break
    case 'SOA':
      refuseUnless(label === '@', 'an SOA below the apex')
      refuseUnless(values[1] !== '' && !String(values[1]).includes('@'), `the mailbox ${values[1]}`)
      for (const time of values.slice(2)) refuseUnless(time !== 0 && isWhole(time, 2 ** 32 - 1), `a time of ${time} in an SOA`)
      return { ...record, values: values.map((value, i) => (i === 1 ? String(value).toLowerCase() : value)) }
    case 'HTTPS':
    case 'SVCB': {
      const params = String(values[2]).split(' ')
      refuseUnless(params.length < 2 || params.every((param) => /=./.test(param)), 'bad SVCB key')
      break
    }
    case 'OPENPGPKEY':
      return { ...record, values: [keyOf(String(values[0]))] }
  }
  return record
}

const isWhole = (value: unknown, limit: number): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= limit

/** A key as base64. Text that could be either is taken for hexadecimal. */
function keyOf(text: string): string {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex').toString('base64')
  refuseUnless(Buffer.from(text, 'base64').toString('base64') === text, 'a key that is neither hexadecimal nor base64')
  return text
}
