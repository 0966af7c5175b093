/** Converts a zone file to a definition. */
import { type Diagnostic, hasErrors, type SourcePosition } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { hasLookalikes, lookalikeWarnings } from '../base/lookalikes.ts'
import { excerpt } from '../base/text.ts'
import { MAX_RECORDS } from '../definition/parse/parse-state.ts'
import { type DomainName, isAtOrBelow, parseDomainName, ROOT } from '../dns/domain-name.ts'
import { findSoaMailbox, restoreMailboxCase } from '../dns/mailbox.ts'
import type { DefinedRecord, ResourceRecord } from '../dns/record.ts'
import { recordKey } from '../dns/record.ts'
import { splitSoa } from '../dns/soa.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone } from '../dns/zone.ts'
import { parseZoneFile, type ZoneFileOptions } from '../dns/zone-file/parse-zone-file.ts'
import { checkZoneDigest } from '../dns/zone-file/zone-digest.ts'
import { isMisspelt, isNamedAfterOther } from '../dns/zone-file/zone-file-name.ts'

export interface ZoneFileDefinition {
  /** Records outside the zone, which `zone` does not have. They are no diagnostics yet. */
  readonly outside: readonly DefinedRecord[]
  /** Null if the zone's name is unknown, or if there are more than `MAX_RECORDS` records. */
  readonly zone: DesiredZone | null
  /** All records in file order, including the SOA and duplicates. */
  readonly read: readonly DefinedRecord[]
  readonly includedFiles: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Reads a zone file as a definition. The zone is the owner of the SOA, otherwise the first `$ORIGIN`, otherwise `zoneName`. The SOA becomes
 * settings and fields of `soa`. Duplicates are removed.
 */
export function zoneFileDefinition(
  text: string,
  zoneName: DomainName | null,
  options: Omit<ZoneFileOptions, 'origin' | 'defaultTtl' | 'maxRecords'>,
): ZoneFileDefinition {
  const parsed = parseZoneFile(text, { ...options, origin: zoneName, maxRecords: MAX_RECORDS })
  const { includedFiles } = parsed
  const start = { file: options.file, line: 1, column: 1 }
  const hint = 'give a definition in YAML a name that ends in .yaml'
  const yaml = [{ severity: 'error', code: 'zonefile-syntax', message: 'the file is YAML, not a zone file', at: start, hint }] as const
  const found =
    hasErrors(parsed.diagnostics) && /^(?:domain|records):/m.test(text)
      ? yaml
      : distinctDiagnostics([...parsed.diagnostics, ...lookalikesOf(text, options.file)])
  // Checks of an incomplete zone would be misleading.
  if (parsed.records.length === MAX_RECORDS && hasErrors(found))
    return { zone: null, read: [], outside: [], includedFiles, diagnostics: found }
  const read = [...parsed.records]
  const name = read.find((record) => record.type === 'SOA')?.name ?? firstOrigin(text, zoneName) ?? parsed.origin
  if (name === null) {
    const message = 'the file does not say which zone it defines'
    const hint = 'write $ORIGIN, or name the file after its zone, such as example.com.zone'
    return {
      zone: null,
      read,
      outside: [],
      includedFiles,
      diagnostics: [...found, { severity: 'error', code: 'zone-name', message, at: start, hint }],
    }
  }
  const soa = read.find((record) => record.type === 'SOA' && record.name === name)
  const inZone: DefinedRecord[] = []
  const outside: DefinedRecord[] = []
  const diagnostics: Diagnostic[] = [...found]
  for (const record of read) {
    if (!isAtOrBelow(record.name, name)) outside.push(record)
    else if (record.type !== 'SOA') inZone.push(record)
    // A saved zone transfer ends with the SOA that it begins with.
    else if (soa === undefined || record.name !== name || record.data !== soa.data) diagnostics.push(otherSoa(record, name, soa))
  }
  if (read.length === 0 && !hasErrors(diagnostics)) diagnostics.push(emptyZoneFile(name, start))
  const { records, diagnostics: repeats } = removeDuplicateRecords(inZone)
  diagnostics.push(...repeats)
  // Without the invalid records no digest can match.
  if (!hasErrors(diagnostics)) {
    const digested = outside.length === 0 ? read : read.filter((record) => isAtOrBelow(record.name, name))
    diagnostics.push(...checkZoneDigest(digested, name, parsed.lowered.size > 0), ...unverifiable(digested, parsed.lowered, name))
  }
  const zone: DesiredZone = {
    ...DEFAULT_ZONE_OPTIONS,
    name,
    at: soa?.at ?? start,
    ...(soa ? splitSoa(soa.at.file === options.file ? asWritten(soa, text) : soa) : { settings: {} }),
    records,
  }
  return { zone, read, outside, includedFiles, diagnostics }
}

/** Characters of a line that are searched: a longer match could exhaust the stack of the matcher. */
const MAX_CODE = 100_000

/** A line of a zone file without its comment. */
const CODE = /^(?:[^;"\\]|\\.|"(?:[^"\\]|\\.)*(?:"|$))*/

function lookalikesOf(text: string, file: string): Diagnostic[] {
  if (!hasLookalikes(text)) return []
  const codeOf = (line: string): string => CODE.exec(line.slice(0, MAX_CODE))?.[0] ?? ''
  return text.split(/\r?\n/).flatMap((line, i) => lookalikeWarnings(codeOf(line), { file, line: i + 1, column: 1 }))
}

/** A warning if signatures cover capital letters, which definitions do not keep (docs/decisions/0020-letter-case-of-names.md). */
function unverifiable(read: readonly DefinedRecord[], lowered: ReadonlySet<string>, zone: DomainName): Diagnostic[] {
  const signatures = read.filter(({ name, type, data }) => type === 'RRSIG' && lowered.has(`${name} ${data.slice(0, data.indexOf(' '))}`))
  const [first] = signatures
  if (first === undefined) return []
  const covered = `${first.name} ${first.data.slice(0, first.data.indexOf(' '))}`
  const more = signatures.length === 1 ? '' : ` and ${counted(signatures.length - 1, 'other')}`
  const message = `${zone}: the signature of ${covered}${more} will not verify: it covers capital letters, and a definition has lower case`
  return [{ severity: 'warning', code: 'rrsig-mismatch', message, at: first.at, hint: 'sign the zone where it is served' }]
}

const emptyZoneFile = (zone: DomainName, at: SourcePosition): Diagnostic => ({
  severity: 'warning',
  code: 'definition-empty',
  message: `${zone}: the zone file has no records`,
  at,
  hint: 'write the records of the zone, or remove the file',
})

/** Removes repeated diagnostics: a file that is included several times repeats them. */
function distinctDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const distinct = new Map<string, Diagnostic>()
  for (const one of diagnostics) {
    const key = `${one.at?.file}:${one.at?.line}:${one.at?.column} ${one.code} ${one.message}`
    if (!distinct.has(key)) distinct.set(key, one)
  }
  return [...distinct.values()]
}

/** The first `$ORIGIN`, unless it is relative, the root, or within the zone that the file is named after. */
function firstOrigin(text: string, zoneName: DomainName | null): DomainName | null {
  const origin = parseDomainName(/^\$ORIGIN[ \t]+([^\s;]+)/im.exec(text)?.[1] ?? '')
  if (!origin.ok || origin.value === ROOT) return zoneName
  return zoneName !== null && isAtOrBelow(origin.value, zoneName) ? zoneName : origin.value
}

/** The errors for records outside a zone. */
export const outsideErrors = (records: readonly DefinedRecord[], zone: DomainName): Diagnostic[] =>
  records.map(({ name, type, at }) => ({
    severity: 'error',
    code: 'name-outside-zone',
    message: `${name} ${type} is outside the zone ${zone}`,
    at,
  }))

/** A warning if a zone file has the name of another zone than the one that it defines. */
export const misnamedWarnings = (named: DomainName | null, zone: DomainName | null, at: SourcePosition): Diagnostic[] =>
  named !== null && zone !== null && isNamedAfterOther(named, zone) ? [misnamed(named, zone, at, 'its $ORIGIN or SOA record')] : []

/** A warning if a definition in YAML has nearly the name of its zone: one of them has a typing mistake. */
export const misspeltWarnings = (named: DomainName | null, zone: DesiredZone | null): Diagnostic[] =>
  named !== null && zone !== null && isMisspelt(named, zone.name) ? [misnamed(named, zone.name, zone.at, '"domain:"')] : []

const misnamed = (named: DomainName, zone: DomainName, at: SourcePosition, place: string): Diagnostic => ({
  severity: 'warning',
  code: 'zone-name',
  message: `the file is named after ${named}, but it defines ${zone}`,
  at,
  hint: `rename the file, or correct ${place}`,
})

/** A zone has one SOA record, at its apex (RFC 2181 section 6.1). */
function otherSoa(record: DefinedRecord, zone: DomainName, soa: DefinedRecord | undefined): Diagnostic {
  const isAtApex = record.name === zone
  const message = isAtApex
    ? `${zone} has two different SOA records`
    : `${record.name} SOA: the zone is ${zone}, which has its SOA at the apex`
  return {
    severity: 'error',
    code: isAtApex ? 'singleton-multiple' : 'soa-in-definition',
    message,
    at: record.at,
    hint: isAtApex ? 'remove one of them' : 'write another zone into its own file',
    ...(soa && { related: [{ message: 'the SOA record of the zone', at: soa.at }] }),
  }
}

/** The SOA record with its mailbox in the case of the file: mail addresses keep capital letters, names do not. */
function asWritten(soa: DefinedRecord, text: string): ResourceRecord {
  const mailbox = findSoaMailbox(text, soa.at)
  return mailbox === null ? soa : { ...soa, data: restoreMailboxCase(soa.data, mailbox) }
}

/** Maximum number of duplicates reported one by one: a file that is included several times has many. */
const MAX_REPORTED = 100

interface SingleRecords {
  readonly records: readonly DefinedRecord[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Removes duplicate records, as name servers do (RFC 2181 section 5): of those with the same owner, type and data the first stays, with its
 * TTL. A warning gives both positions.
 */
export function removeDuplicateRecords(all: readonly DefinedRecord[]): SingleRecords {
  const firsts = new Map<string, DefinedRecord>()
  /** The pairs of positions reported: a file that is included twice repeats all its duplicates. */
  const reported = new Set<string>()
  const records: DefinedRecord[] = []
  const diagnostics: Diagnostic[] = []
  let unreported = 0
  let lastUnreported: DefinedRecord | null = null
  for (const record of all) {
    const key = recordKey(record)
    const first = firsts.get(key)
    if (first === undefined) {
      firsts.set(key, record)
      records.push(record)
      continue
    }
    const pair = `${positionText(first.at)} ${positionText(record.at)}`
    if (diagnostics.length < MAX_REPORTED && !reported.has(pair)) {
      reported.add(pair)
      diagnostics.push(repeated(record, first))
    } else {
      unreported += 1
      lastUnreported = record
    }
  }
  if (lastUnreported !== null) {
    const message = `${counted(unreported, 'more record is', 'more records are')} given twice, the last one here; the first of each is used`
    diagnostics.push({ severity: 'warning', code: 'record-duplicate', message, at: lastUnreported.at })
  }
  return { records, diagnostics }
}

const positionText = ({ file, line, column }: SourcePosition): string => `${file}:${line}:${column}`

function repeated({ name, type, data, ttl, at }: DefinedRecord, first: DefinedRecord): Diagnostic {
  const ttls = ttl === first.ttl ? '' : `, with TTL ${first.ttl ?? 'of the zone'} instead of ${ttl ?? 'that of the zone'}`
  return {
    severity: 'warning',
    code: 'record-duplicate',
    message: `${name} ${type}: the value ${excerpt(data, 80)} is given twice; the first one is used${ttls}`,
    at,
    hint: 'remove one of them',
    related: [{ message: 'the same record', at: first.at }],
  }
}
