/**
 * What DNSControl does after it has run a program: it checks the configuration, completes names and applies transformations. The result has the form of
 * `dnscontrol print-ir`. Written from the public reference and from programs with their results.
 */
import { domainToASCII, domainToUnicode } from 'node:url'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { quoted } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress, parseIpv4, parseIpv6 } from '../../dns/ip-address.ts'
import { parseReferencedType } from '../../dns/record-type.ts'
import { classlessBlock, reverseName } from '../../dns/reverse-name.ts'
import { isObject, type JsonObject, positionOf } from './json-object.ts'
import { translateRedirect } from './redirects.ts'
import { flattenSpf, type SpfLookUp, splitSpf } from './spf.ts'

export interface CheckedProgram {
  /** As `dnscontrol print-ir` writes it. Incomplete if a diagnostic is an error. */
  readonly config: JsonObject
  readonly diagnostics: readonly Diagnostic[]
}

/** A record while it is checked. */
type Rec = Record<string, unknown> & { type: string; name: string; target: string; ttl: number; meta: Record<string, string> }

interface Domain {
  readonly raw: JsonObject
  readonly name: string
  readonly tag: string
  readonly uniqueName: string
  readonly meta: Record<string, string>
  records: Rec[]
  /** Records that follow all others. */
  readonly later: Rec[]
}

/** Unsigned integers by their size in bits. A field that is not here is a text. */
const BITS: Readonly<Record<string, number>> = Object.fromEntries([
  ...'caaflag tlsausage tlsaselector tlsamatchingtype smimeausage smimeaselector smimeamatchingtype sshfpalgorithm sshfpfingerprint dnskeyprotocol dnskeyalgorithm locsize lochorizpre locvertpre'
    .split(' ')
    .map((key) => [key, 8]),
  ...'mxpreference srvpriority srvweight srvport naptrorder naptrpreference svcpriority dnskeyflags'.split(' ').map((key) => [key, 16]),
  ...'ttl soarefresh soaretry soaexpire soaminttl loclatitude loclongitude localtitude'.split(' ').map((key) => [key, 32]),
])

const RELATIVE_TARGET = /^(?:ALIAS|CNAME|MX|NS|SRV)$/
const NAME_TARGET = /^(?:ALIAS|CNAME|DNAME|MX|NAPTR|NS|PTR|SRV)$/
const LOWER_CASE_TARGET = /^(?:ALIAS|AKAMAI.*|AZURE_ALIAS|CNAME|DNAME|MX|NAPTR|NS|PTR|SMIMEA|SOA|SRV|TLSA)$/
const CAA_TAGS = /^(?:issue|issuewild|iodef|issuemail|issuevmc|contactemail|contactphone)$/
const DEFAULT_TTL = 300

/** Something is wrong with a domain or record; the message names it. */
class ProgramProblem extends Error {}

const refuse = (message: string): never => {
  throw new ProgramProblem(message)
}

/** Checks the configuration that a program has made. `lookUpSpf` has the answers for SPF flattening. */
export function checkProgram(raw: unknown, file: string, lookUpSpf: SpfLookUp): CheckedProgram {
  const diagnostics: Diagnostic[] = []
  /** Runs a step; a problem becomes a diagnostic at the place of a record. */
  const attempt = <T>(source: JsonObject, step: () => T): T | null => {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof ProgramProblem)) throw error
      diagnostics.push({
        severity: 'error',
        code: 'schema-value',
        message: error.message,
        at: positionOf(source['filepos'], { file, line: 1, column: 1 }),
      })
      return null
    }
  }
  const root = isObject(raw) ? raw : {}
  const [registrars, providers] = [objects(root['registrars']), objects(root['dns_providers'])]
  const domains = objects(root['domains']).flatMap((domain) => attempt(domain, () => openDomain(domain, registrars, providers)) ?? [])
  const names = new Map<string, Domain>()
  for (const domain of domains) {
    attempt(domain.raw, () => (names.has(domain.uniqueName) ? refuse(`the domain ${domain.uniqueName} is declared twice`) : null))
    names.set(domain.uniqueName, domain)
    domain.records = objects(domain.raw['records']).flatMap((record) => attempt(record, () => checkRecord(record, domain)) ?? [])
    const laterRecords = objects(domain.raw['rawrecords']).flatMap((record) => attempt(record, () => checkRawRecord(record, domain)) ?? [])
    domain.later.push(...laterRecords)
  }
  for (const domain of domains)
    domain.records = domain.records.flatMap((record) => attempt(record, () => transformAddress(record, domain)) ?? [])
  for (const domain of domains)
    domain.records = domain.records.flatMap((record) => attempt(record, () => expandSpf(record, domain, lookUpSpf)) ?? [])
  for (const domain of domains) for (const record of domain.records) attempt(record, () => importTransform(record, domain, names))
  for (const domain of domains) {
    domain.records = [...domain.records.filter(({ type }) => type !== 'IMPORT_TRANSFORM'), ...domain.later]
    checkTogether(domain, attempt)
  }
  const config = { registrars, dns_providers: providers, domains: domains.map((domain) => attempt(domain.raw, () => printDomain(domain))) }
  return { config, diagnostics }
}

const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** A name in lower case, with labels outside ASCII as A-labels. */
const asciiName = (text: string): string => (/^[ -~]*$/.test(text) ? text.toLowerCase() : domainToASCII(text) || text.toLowerCase())

function openDomain(raw: JsonObject, registrars: readonly JsonObject[], providers: readonly JsonObject[]): Domain {
  const written = textOf(raw['name'])
  const at = written.indexOf('!')
  const [plain, tag] = at === -1 ? [written, ''] : [written.slice(0, at), written.slice(at + 1)]
  const name = asciiName(plain)
  const registrar = textOf(raw['registrar'])
  if (!registrars.some((one) => one['name'] === registrar))
    refuse(`the registrar ${quoted(registrar)} of ${name} is not declared: use NewRegistrar before D`)
  for (const [provider, count] of Object.entries(isObject(raw['dnsProviders']) ? raw['dnsProviders'] : {})) {
    if (!providers.some((one) => one['name'] === provider))
      refuse(`the DNS provider ${quoted(provider)} of ${name} is not declared: use NewDnsProvider before D`)
    if (!Number.isInteger(count)) refuse(`${name}: the number of name servers of ${quoted(provider)} is not a whole number`)
  }
  const uniqueName = at === -1 ? name : `${name}!${tag}`
  const meta = {
    dnscontrol_nameraw: plain,
    dnscontrol_nameunicode: /xn--/i.test(plain) ? domainToUnicode(plain) : lowerAscii(plain),
    dnscontrol_uniquename: uniqueName,
    ...(tag !== '' && { dnscontrol_tag: tag }),
    ...readMeta(raw['meta'], name),
  }
  return { raw, name, tag, uniqueName, meta, records: [], later: [] }
}

/** Metadata, whose values are texts. */
function readMeta(meta: unknown, subject: string): Record<string, string> {
  const entries = Object.entries(isObject(meta) ? meta : {})
  for (const [key, value] of entries)
    if (value !== null && typeof value !== 'string') refuse(`${subject}: the metadata ${quoted(key)} is no text: write "${String(value)}"`)
  return Object.fromEntries(entries.map(([key, value]) => [key, textOf(value)]))
}

/** Reads a record of the program and completes and checks its name and data. */
function checkRecord(raw: JsonObject, domain: Domain): Rec {
  const record = readRecord(raw, `${textOf(raw['type'])} ${textOf(raw['name'])} of ${domain.name}`)
  if (record.type === 'IMPORT_TRANSFORM') return record
  record.name = record.type === 'PTR' ? reverseLabel(record.name, domain.name) : record.name
  record.name = checkLabel(record, domain)
  const subject = `${record.type} ${record.name} of ${domain.name}`
  if (NAME_TARGET.test(record.type)) record.target = completeTarget(record, domain, subject)
  if (LOWER_CASE_TARGET.test(record.type)) record.target = record.target.toLowerCase()
  checkData(record, domain, subject)
  return record
}

function readRecord(raw: JsonObject, subject: string): Rec {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(raw)) {
    const bits = BITS[key]
    if (bits === undefined) fields[key] = value
    else if (value !== null && !fits(value, bits))
      refuse(`${subject}: ${key} is ${quoted(String(value))}, not a whole number below ${2 ** bits}`)
    else fields[key] = value ?? 0
  }
  const ttl = Number(fields['ttl'] ?? 0) || DEFAULT_TTL
  return {
    ...fields,
    type: textOf(raw['type']),
    name: textOf(raw['name']),
    target: textOf(raw['target']),
    ttl,
    meta: readMeta(raw['meta'], subject),
  }
}

/** Whether a value is an unsigned integer of that many bits. */
const fits = (value: unknown, bits: number): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** bits

/** A label of the zone: absolute names are shortened. */
function checkLabel({ type, name, meta }: Rec, domain: Domain): string {
  const label = name.toLowerCase()
  const zone = domain.name
  if (label === '') return refuse(`the ${type} record of ${zone} has an empty label: the zone itself is "@"`)
  if (label === `${zone}.`) return '@'
  if (label.endsWith(`.${zone}.`)) return label.slice(0, -zone.length - 2)
  if (label.endsWith('.')) return refuse(`the label ${quoted(name)} is not in ${zone}`)
  if ((label === zone || label.endsWith(`.${zone}`)) && meta['skip_fqdn_check'] === undefined)
    return refuse(`the label ${quoted(name)} repeats the zone: end it with a dot, or add DISABLE_REPEATED_DOMAIN_CHECK`)
  return label
}

/** The label of a PTR record whose name is an address or a name of the reverse tree. */
function reverseLabel(label: string, zone: string): string {
  const address = /^[\d.]+$/.test(label) && label.split('.').length !== 4 ? null : canonicalAddress(label)
  if (!/\.(?:in-addr|ip6)\.arpa$/.test(zone)) return label
  if (address === null) return /\.(?:in-addr|ip6)\.arpa$/i.test(label) ? `${label}.` : label
  const name = reverseName(address).slice(0, -1)
  const outside = (): never => refuse(`the PTR record ${label} is not in ${zone}`)
  const block = classlessBlock(`${zone}.` as DomainName)
  const [, first, dash, bits, parent] = /^(\d+)([-/])(\d+)\.(.*)$/.exec(zone) ?? []
  if (block === null && parent === undefined)
    return name === zone ? '@' : name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : outside()
  const above = block === null ? `${parent}` : block.parent.slice(0, -1)
  if (!name.endsWith(`.${above}`)) return outside()
  const below = name.slice(0, -above.length - 1)
  const octet = Number(below.split('.').at(-1))
  // RFC 4183: the label has the length of a prefix that ends within any octet.
  const size = 2 ** (8 - (Number(bits) % 8))
  const [low, high] = block === null ? [Number(first), Number(first) + (dash === undefined ? 0 : size - 1)] : [block.first, block.last]
  return octet < low || octet > high ? outside() : below
}

/** Completes a target with the zone, or with the subdomain of a D_EXTEND. */
function completeTarget({ type, target, subdomain }: Rec, domain: Domain, subject: string): string {
  const origin = subdomain === undefined ? domain.name : `${textOf(subdomain)}.${domain.name}`
  if (target === '' && type === 'NAPTR') return '.'
  if (target === '') refuse(`${subject}: the target is empty: the zone itself is "@"`)
  if (target === '@') return RELATIVE_TARGET.test(type) ? `${origin}.` : target
  if (/[\p{Cc}\s"'(),:;<>@[\\\]{}|]/u.test(target)) refuse(`${subject}: the target ${quoted(target)} has a character that no name has`)
  if (target.endsWith('.')) return target
  if (target.includes('.')) refuse(`${subject}: the target ${quoted(target)} must end with a dot`)
  return RELATIVE_TARGET.test(type) ? `${target}.${origin}.` : target
}

function checkData(record: Rec, domain: Domain, subject: string): void {
  const { type, name, target } = record
  const number = (key: string): number => Number(record[key] ?? 0)
  const address = type === 'A' ? parseIpv4(target) : type === 'AAAA' ? parseIpv6(target) : null
  if (address !== null) record.target = address.ok ? address.value : refuse(`${subject}: ${address.message}`)
  if (type === 'CNAME' && name === '@') refuse(`${subject}: the zone itself cannot have a CNAME record`)
  if (type === 'CNAME' && target.toLowerCase() === `${name}.${domain.name}.`) refuse(`${subject}: its target is itself`)
  if (type === 'NS' && name === '@') refuse(`${subject}: use NAMESERVER for the zone itself`)
  if (type === 'CAA' && !CAA_TAGS.test(textOf(record['caatag'])))
    refuse(`${subject}: the tag ${quoted(textOf(record['caatag']))} is unknown`)
  if (type === 'LUA' && !parseReferencedType(textOf(record['luartype'])).ok)
    refuse(`${subject}: ${quoted(textOf(record['luartype']))} is no record type`)
  if (type === 'OPENPGPKEY') record.target = openPgpKey(target) ?? refuse(`${subject}: the key is neither hexadecimal nor base64`)
  if (type === 'SOA') {
    const mailbox = textOf(record['soambox']).toLowerCase()
    if (name !== '@') refuse(`${subject}: only the zone itself has an SOA record`)
    if (mailbox.includes('@')) refuse(`${subject}: the mailbox is written with a dot in place of @`)
    for (const key of ['soarefresh', 'soaretry', 'soaexpire', 'soaminttl']) if (number(key) === 0) refuse(`${subject}: ${key} is 0`)
    record['soambox'] = mailbox
  }
  for (const prefix of type === 'TLSA' || type === 'SMIMEA' ? [type.toLowerCase()] : []) {
    if (number(`${prefix}usage`) > 3 || number(`${prefix}selector`) > 1 || number(`${prefix}matchingtype`) > 2)
      refuse(`${subject}: usage, selector or matching type is out of range`)
  }
}

/** A key in base64. */
function openPgpKey(text: string): string | null {
  if (/^(?:[\da-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex').toString('base64')
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? text : null
}

/** DS, RP and redirects of Cloudflare, which DNSControl reads by another path: a D_EXTEND adds no subdomain. */
function checkRawRecord(raw: JsonObject, domain: Domain): Rec {
  const [kind, ...args] = (Array.isArray(raw['args']) ? raw['args'] : []) as unknown[]
  const meta = Object.fromEntries(Object.entries(isObject(raw['meta']) ? raw['meta'] : {}).map(([key, value]) => [key, String(value)]))
  const { args: _, ...rest } = raw
  const written = kind === 'DS' || kind === 'RP' ? args.shift() : '@'
  if (typeof written !== 'string') refuse(`${textOf(kind)} of ${domain.name}: the label is no text`)
  const record = readRecord({ ...rest, meta, name: textOf(written) }, `${textOf(kind)} ${textOf(written)} of ${domain.name}`)
  record.name = asciiName(checkLabel(record, domain))
  const subject = `${record.type} ${record.name} of ${domain.name}`
  const wants = (count: number): void => void (args.length < count && refuse(`${subject}: it has ${args.length} of ${count} values`))
  if (kind === 'DS') {
    wants(4)
    const [tag, algorithm, digestType, digest] = args
    if (!fits(tag, 16) || !fits(algorithm, 8) || !fits(digestType, 8)) refuse(`${subject}: a number does not fit in its field`)
    if (typeof digest !== 'string' || !/^[\da-f]*$/i.test(digest)) refuse(`${subject}: the digest is not hexadecimal`)
    const data = `${tag} ${algorithm} ${digestType} ${digest}`
    const fields = { dskeytag: tag, dsalgorithm: algorithm, dsdigesttype: digestType, dsdigest: digest }
    return { ...record, ...fields, comparable: data, zonfefilepartial: data }
  }
  if (kind === 'RP') {
    wants(2)
    const data = args
      .slice(0, 2)
      .map((name) => (typeof name === 'string' ? name : refuse(`${subject}: a name is no text`)))
      .map((name) => (name === '@' ? `${domain.name}.` : name.endsWith('.') ? name : `${name}.${domain.name}.`))
      .join(' ')
    return { ...record, comparable: data, zonfefilepartial: data }
  }
  wants(kind === 'CF_SINGLE_REDIRECT' ? 4 : 2)
  const redirect = translateRedirect(textOf(kind), args)
  if (!redirect.ok) return refuse(`${subject}: ${redirect.message}`)
  return { ...record, ttl: 1, target: redirect.value, comparable: redirect.value, zonfefilepartial: redirect.value }
}

const numberOfAddress = (address: string): number => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)

/** Rows `LOW ~ HIGH ~ NEW BASE ~ NEW ADDRESSES`, joined by `;`. */
function readTable(text: string): readonly { low: number; high: number; bases: number[]; addresses: string[] }[] {
  const numberOf = (address: string): number => {
    if (!parseIpv4(address).ok) refuse(`${quoted(address)} in a table of addresses is no IPv4 address`)
    return numberOfAddress(address)
  }
  const rows = text.split(';').filter((row) => row.trim() !== '')
  return rows.map((row) => {
    const [low = '', high = '', base = '', address = ''] = row.split('~').map((part) => part.trim())
    const list = (part: string): string[] =>
      part
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean)
    const read = { low: numberOf(low), high: numberOf(high), bases: list(base).map(numberOf), addresses: list(address) }
    if (read.low > read.high) refuse(`the row ${row.trim()} of a table of addresses ends before it begins`)
    if (read.bases.length > 0 === read.addresses.length > 0) refuse(`the row ${row.trim()} of a table of addresses needs newBase or newIP`)
    for (const one of read.addresses) numberOf(one)
    return read
  })
}

/** The addresses that a table makes of one: itself if no row contains it. */
function mapAddress(address: string, table: ReturnType<typeof readTable>): string[] {
  const number = numberOfAddress(address)
  const row = table.find(({ low, high }) => number >= low && number <= high)
  if (row === undefined) return [address]
  const moved = row.bases.map((base) => base + number - row.low)
  const dotted = (value: number): string => [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join('.')
  return [...row.addresses, ...moved.map(dotted)]
}

/** Applies the metadata `transform` of an A record. Further addresses follow all other records. */
function transformAddress(record: Rec, domain: Domain): Rec {
  const table = record.meta['transform']
  if (record.type !== 'A' || table === undefined) return record
  const [first = record.target, ...more] = mapAddress(record.target, readTable(table))
  domain.later.push(...more.map((target) => ({ ...record, target })))
  return { ...record, target: first }
}

/** Applies the metadata `flatten` and `split` of SPF_BUILDER. Further records of a chain follow all other records. */
function expandSpf(record: Rec, domain: Domain, lookUpSpf: SpfLookUp): Rec {
  const { flatten, split, overhead1 = '0', txtMaxSize = '255' } = record.meta
  if (record.type !== 'TXT' || (flatten === undefined && split === undefined)) return record
  const flattened = flatten === undefined ? null : flattenSpf(record.target, flatten.split(','), lookUpSpf)
  if (flattened?.ok === false) return refuse(`the SPF record ${record.name} of ${domain.name}: ${flattened.message}`)
  const flat = flattened?.value ?? record.target
  if (split === undefined) return { ...record, target: flat }
  const sizes = [Number(txtMaxSize) - Number(overhead1), Number(txtMaxSize)] as const
  const parts = splitSpf(flat, sizes, (index) => `${split.replace('%d', String(index))}.${domain.name}`)
  if (!parts.ok) return refuse(`the SPF record ${record.name} of ${domain.name}: ${parts.message}`)
  if (parts.value.length > 1 && !split.includes('%d'))
    refuse(`the SPF record ${record.name} of ${domain.name}: its overflow ${quoted(split)} has no %d`)
  const [first = flat, ...more] = parts.value
  domain.later.push(...more.map((target, i) => ({ ...record, name: split.replace('%d', String(i + 1)), target })))
  return { ...record, target: first }
}

/** Copies the A and CNAME records of another domain (IMPORT_TRANSFORM). */
function importTransform(record: Rec, domain: Domain, names: ReadonlyMap<string, Domain>): void {
  if (record.type !== 'IMPORT_TRANSFORM') return
  const source =
    names.get(lowerAscii(record.target)) ?? refuse(`IMPORT_TRANSFORM of ${domain.name}: ${quoted(record.target)} is not declared`)
  const table = readTable(record.meta['transform_table'] ?? '')
  const suffix = record.meta['transform_suffixstrip']
  const strip = (name: string): string => {
    if (suffix === undefined) return name
    const ending = `.${suffix}`
    return name.endsWith(ending)
      ? name.slice(0, -ending.length)
      : refuse(`IMPORT_TRANSFORM_STRIP of ${domain.name}: ${name} does not end with ${ending}`)
  }
  for (const one of source.records) {
    if ((one.type !== 'A' && one.type !== 'CNAME') || one.meta['import_transform_skip'] !== undefined) continue
    const name = strip(one.name === '@' ? source.name : `${one.name}.${source.name}`)
    if (
      [...domain.records, ...domain.later].some(
        (other) => other.name === name && other.type === one.type && other !== one && other['copied'] === undefined,
      )
    )
      continue
    const targets = one.type === 'A' ? mapAddress(one.target, table) : [`${strip(one.target.slice(0, -1))}.${domain.name}.`]
    domain.later.push(
      ...targets.map((target) => ({ type: one.type, name, target, ttl: record.ttl, meta: {}, filepos: record['filepos'], copied: true })),
    )
  }
}

/** Checks records that depend on each other. */
function checkTogether(domain: Domain, attempt: <T>(source: JsonObject, step: () => T) => T | null): void {
  const seen = new Set<string>()
  const cnames = new Map<string, Rec>()
  const weights = new Map<string, string>()
  for (const record of domain.records) {
    const { ttl: _ttl, meta, filepos: _place, subdomain: _subdomain, ...data } = record
    const key = JSON.stringify([data, meta['r53_set_identifier']])
    attempt(record, () =>
      seen.has(key) ? refuse(`the record ${record.name} ${record.type} ${quoted(record.target)} of ${domain.name} is there twice`) : null,
    )
    seen.add(key)
    if (record.type === 'CNAME' && !/^(?:on|full)$/.test(meta['cloudflare_proxy'] ?? '')) {
      const other = cnames.get(record.name)
      if (other !== undefined && meta['r53_weight'] === undefined)
        attempt(record, () => refuse(`${record.name} of ${domain.name} has more than one CNAME record`))
      cnames.set(record.name, record)
    }
    const set = meta['r53_set_identifier'] === undefined ? null : `${record.name} ${record.type} ${meta['r53_set_identifier']}`
    const weight = meta['r53_weight'] ?? ''
    if (set !== null && weights.has(set) && weights.get(set) !== weight)
      attempt(record, () => refuse(`the weighted set ${set} of ${domain.name} has the weights ${weights.get(set)} and ${weight}`))
    if (set !== null) weights.set(set, weight)
  }
  for (const record of domain.records) {
    if (record.type !== 'CNAME' && record.type !== 'AKAMAICDN' && cnames.has(record.name))
      attempt(record, () => refuse(`${record.name} of ${domain.name} has a CNAME record beside its ${record.type} record`))
  }
}

function printDomain({ raw, name, tag, uniqueName, meta, records }: Domain): JsonObject {
  const servers = objects(raw['nameservers']).map((server) => {
    const written = textOf(server['name'])
    if (written === '' || (written.includes('.') && !written.endsWith('.')))
      refuse(`the NAMESERVER ${quoted(written)} of ${name} must end with a dot`)
    return { name: written.endsWith('.') ? written.slice(0, -1) : `${written}.${name}` }
  })
  const flags = ['keepunknown', 'unmanaged_disable_safety_check', 'ignore_external_dns', 'external_dns_prefix', 'auto_dnssec']
  const absent = objects(raw['recordsabsent'])
  const unmanaged = objects(raw['unmanaged'])
  return {
    name,
    ...(tag !== '' && { tag }),
    uniquename: uniqueName,
    filepos: raw['filepos'],
    registrar: raw['registrar'],
    dnsProviders: raw['dnsProviders'],
    meta,
    records: records.map(printRecord),
    ...(absent.length > 0 && { recordsabsent: absent.map(printRecord) }),
    ...(servers.length > 0 && { nameservers: servers }),
    ...(unmanaged.length > 0 && { unmanaged: unmanaged.map(withoutEmpty) }),
    ...withoutEmpty(Object.fromEntries(flags.map((key) => [key, raw[key]]))),
  }
}

/** Leaves out what is empty, false or 0, as Go does. */
const withoutEmpty = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value && !(isObject(value) && Object.keys(value).length === 0)))

const printRecord = ({ target, copied: _, ...record }: JsonObject): JsonObject => ({ ...withoutEmpty(record), target: target ?? '' })
