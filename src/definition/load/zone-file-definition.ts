import { type Diagnostic, hasErrors, type SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import { findSoaMailbox, nameToEmail, restoreMailboxCase } from '../../dns/mailbox.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord, ResourceRecord } from '../../dns/record.ts'
import { recordKey } from '../../dns/record.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ZoneSettings } from '../../dns/zone.ts'
import { parseZoneFile, type ZoneFileOptions } from '../../dns/zone-file/parse-zone-file.ts'
import { checkZoneDigest } from '../../dns/zone-file/zone-digest.ts'
import { counted } from '../../report/english.ts'

/** Records of a zone with all that its file includes: what a file as large as a definition may be holds, and hardly a zone ever has. */
const MAX_RECORDS = 500_000

export interface ZoneFileDefinition {
  /** Null where nothing says which zone the file is of, and where it has more records than are read. */
  readonly zone: DesiredZone | null
  /** All records of the files in the order of reading, the SOA and those that are repeated with them. */
  readonly read: readonly DefinedRecord[]
  readonly includedFiles: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * A zone file as a definition. The zone is the owner of the SOA, else the first `$ORIGIN`, else `zoneName`. The SOA becomes settings
 * of the zone (its serial is the target's affair); records outside the zone are faults. Records that are equal are one.
 */
export function zoneFileDefinition(
  text: string,
  zoneName: DomainName | null,
  options: Omit<ZoneFileOptions, 'origin' | 'defaultTtl' | 'maxRecords'>,
): ZoneFileDefinition {
  const parsed = parseZoneFile(text, { ...options, origin: zoneName, maxRecords: MAX_RECORDS })
  const { includedFiles } = parsed
  const found = toldOnce(parsed.diagnostics)
  // What is said of half a zone would be misleading.
  if (parsed.records.length === MAX_RECORDS && hasErrors(found)) return { zone: null, read: [], includedFiles, diagnostics: found }
  const read = [...parsed.records]
  const name = read.find((record) => record.type === 'SOA')?.name ?? firstOrigin(text, zoneName) ?? parsed.origin
  const start = { file: options.file, line: 1, column: 1 }
  if (name === null || name === ROOT) {
    const message = 'nothing says which zone the file is of'
    const hint = 'write $ORIGIN, or name the file after its zone, such as example.com.zone'
    return {
      zone: null,
      read,
      includedFiles,
      diagnostics: [...found, { severity: 'error', code: 'zone-name', message, at: start, hint }],
    }
  }
  const soa = read.find((record) => record.type === 'SOA' && record.name === name)
  const inZone: DefinedRecord[] = []
  const diagnostics: Diagnostic[] = [...found]
  for (const record of read) {
    if (!isAtOrBelow(record.name, name)) diagnostics.push(outside(record, name))
    else if (record.type !== 'SOA') inZone.push(record)
    // A zone transfer written down ends with the SOA it began with.
    else if (soa === undefined || record.name !== name || record.data !== soa.data) diagnostics.push(otherSoa(record, name, soa))
  }
  const { records, diagnostics: repeats } = removeDuplicateRecords(inZone)
  diagnostics.push(...repeats)
  // Without the records that have faults no digest could fit.
  if (!hasErrors(diagnostics)) diagnostics.push(...checkZoneDigest(read, name))
  const zone: DesiredZone = {
    ...DEFAULT_ZONE_OPTIONS,
    name,
    at: soa?.at ?? start,
    settings: soa ? settingsOfSoa(soa.at.file === options.file ? asWritten(soa, text) : soa) : {},
    records,
  }
  return { zone, read, includedFiles, diagnostics }
}

/** The same words at the same place once: a file that is included many times has its faults as often. */
function toldOnce(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const told = new Map<string, Diagnostic>()
  for (const one of diagnostics) {
    const key = `${one.at?.file}:${one.at?.line}:${one.at?.column} ${one.code} ${one.message}`
    if (!told.has(key)) told.set(key, one)
  }
  return [...told.values()]
}

/** The first `$ORIGIN`, unless it only leads below the zone that the file is named after. */
function firstOrigin(text: string, zoneName: DomainName | null): DomainName | null {
  const origin = parseDomainName(/^\$ORIGIN[ \t]+([^\s;]+)/im.exec(text)?.[1] ?? '', zoneName)
  if (!origin.ok) return zoneName
  return zoneName !== null && isAtOrBelow(origin.value, zoneName) ? zoneName : origin.value
}

const outside = (record: DefinedRecord, zone: DomainName): Diagnostic => ({
  severity: 'error',
  code: 'name-outside-zone',
  message: `${record.name} ${record.type} is not in the zone ${zone}`,
  at: record.at,
})

/** A zone has one SOA record, at its apex (RFC 2181 section 6.1). */
function otherSoa(record: DefinedRecord, zone: DomainName, soa: DefinedRecord | undefined): Diagnostic {
  const isAtApex = record.name === zone
  const message = isAtApex ? `${zone} has two SOA records that differ` : `${record.name} has an SOA record, and the zone is ${zone}`
  return {
    severity: 'error',
    code: isAtApex ? 'singleton-multiple' : 'soa-in-definition',
    message,
    at: record.at,
    hint: isAtApex ? 'remove one of the two' : 'a zone of its own has a file of its own',
    ...(soa && { related: [{ message: 'the SOA record of the zone', at: soa.at }] }),
  }
}

/** The SOA record with the capital letters that its mailbox has in the file: an address has them, a name has not. */
function asWritten(soa: DefinedRecord, text: string): ResourceRecord {
  const mailbox = findSoaMailbox(text, soa.at)
  return mailbox === null ? soa : { ...soa, data: restoreMailboxCase(soa.data, mailbox) }
}

/** The fields of an SOA as settings, its mailbox with the capital letters it has there: `minimum`, the time a missing name is remembered (RFC 2308), is the zone's default TTL. */
export function settingsOfSoa(soa: ResourceRecord): ZoneSettings {
  const [, rname = '', , refresh, retry, expire, minimum] = rdataFields(soa.data)
  const email = nameToEmail(rname)
  return {
    ...(email !== null && { soa_email: email }),
    refresh_sec: Number(refresh),
    retry_sec: Number(retry),
    expire_sec: Number(expire),
    ttl_sec: Number(minimum),
  }
}

/** Repetitions that are told one by one; those of a file that is included many times are many. */
const TOLD = 100

interface SingleRecords {
  readonly records: readonly DefinedRecord[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The records each once, as name servers load them (RFC 2181 section 5): of those that are equal in owner, type and data the first stays,
 * with its TTL. A warning names both places.
 */
export function removeDuplicateRecords(all: readonly DefinedRecord[]): SingleRecords {
  const firsts = new Map<string, DefinedRecord>()
  /** Pairs of places that were told: a file that is included twice repeats all records of a line. */
  const places = new Set<string>()
  const records: DefinedRecord[] = []
  const diagnostics: Diagnostic[] = []
  let untold = 0
  let lastUntold: DefinedRecord | null = null
  for (const record of all) {
    const key = recordKey(record)
    const first = firsts.get(key)
    if (first === undefined) {
      firsts.set(key, record)
      records.push(record)
      continue
    }
    const pair = `${placeText(first.at)} ${placeText(record.at)}`
    if (diagnostics.length < TOLD && !places.has(pair)) {
      places.add(pair)
      diagnostics.push(repeated(record, first))
    } else {
      untold += 1
      lastUntold = record
    }
  }
  if (lastUntold !== null) {
    const message = `${counted(untold, 'more record is', 'more records are')} given twice, the last of them here; the first is taken`
    diagnostics.push({ severity: 'warning', code: 'record-duplicate', message, at: lastUntold.at })
  }
  return { records, diagnostics }
}

const placeText = ({ file, line, column }: SourcePosition): string => `${file}:${line}:${column}`

function repeated({ name, type, data, ttl, at }: DefinedRecord, first: DefinedRecord): Diagnostic {
  const shown = data.length > 80 ? `${data.slice(0, 80)}…` : data
  const ttls = ttl === first.ttl ? '' : `, with TTL ${first.ttl ?? 'of the zone'}, not ${ttl ?? 'that of the zone'}`
  return {
    severity: 'warning',
    code: 'record-duplicate',
    message: `${name} has the ${type} record ${shown} twice; the first is taken${ttls}`,
    at,
    hint: 'remove one of the two',
    related: [{ message: 'the same record', at: first.at }],
  }
}
