/** The text of a zone file as a zone, and back. */
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { type DomainName, isAtOrBelow, ROOT } from '../../dns/domain-name.ts'
import { emailToName, findSoaMailbox, nameToEmail, restoreMailboxCase } from '../../dns/mailbox.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { NEW_TO_BIND } from '../../dns/rdata/rdata-types.ts'
import { type DefinedRecord, isApexNs, type ResourceRecord, recordKey } from '../../dns/record.ts'
import { type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import { SIGNING_TYPES } from '../../dns/signer-records.ts'
import { DEFAULT_SOA_TIMES, hostmasterOf, SOA_TIMES } from '../../dns/soa.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import { printZoneFile } from '../../dns/zone-file/print-zone-file.ts'
import { scanComments } from '../../dns/zone-file/scan-comments.ts'
import type { ReadZoneInclude } from '../../dns/zone-file/scope.ts'
import type { ReadOnlyReason } from '../../plan/make-plan.ts'
import { MAX_RECORDS } from './capabilities.ts'

/** The first line of every file that Zonewright writes. */
const HEADER = '; Written by Zonewright. The next apply overwrites other changes.'

/** The fields of an SOA record (RFC 1035 section 3.3.13). */
export interface Soa {
  readonly primary: string
  readonly mailbox: string
  readonly serial: SerialNumber
  /** Refresh, retry, expire, minimum, in seconds. */
  readonly times: readonly number[]
  readonly ttl: Ttl
}

export interface ServedZone {
  readonly name: DomainName
  readonly soa: Soa
  /** Without the SOA record and duplicates. */
  readonly records: readonly ResourceRecord[]
  /** Why the file must not be replaced; absent if it may be. */
  readonly readOnly?: ReadOnlyReason | undefined
}

export interface ParseOptions {
  /** The file as messages show it. */
  readonly file: string
  readonly include: ReadZoneInclude
  /** Whether a file may be replaced although comments and directives in it are then gone. */
  readonly adopt: boolean
}

/** Reads the file of a zone, or says what is wrong with it, with its place. */
export function parseServedZone(text: string, zone: DomainName, options: ParseOptions): Result<ServedZone> {
  const { file, include } = options
  const parsed = parseZoneFile(text, { origin: zone, file, include, maxRecords: MAX_RECORDS })
  const error = parsed.diagnostics.find(isError)
  const soas = parsed.records.filter(({ type }) => type === 'SOA')
  // The message may quote the file, which without an SOA record is perhaps no zone file but one with secrets.
  if (error !== undefined) return failure(`${placeOf(error)}${soas.length > 0 ? error.message : `this is not a zone file (${error.code})`}`)
  const [first] = soas
  if (first === undefined) return failure(`${file} has no SOA record`)
  const other = soas.find(({ name }) => name !== zone)
  if (other !== undefined) return failure(`${placeOf(other)}the file of ${zone} has the SOA record of ${other.name}`)
  const outside = parsed.records.find(({ name }) => !isAtOrBelow(name, zone))
  const inZone = parsed.records.filter(({ name, type }) => type !== 'SOA' && isAtOrBelow(name, zone))
  const records = new Map(inZone.map((record) => [recordKey(record), record]))
  const readOnly = outside === undefined ? whyReadOnly(text, first, [...records.values()], options) : outsideReason(outside)
  const soa = soaOf(asWritten(first, text, file))
  // Only records before the SOA can lack a TTL: they get the minimum (RFC 1035 section 3.3.13).
  return ok({
    name: zone,
    soa,
    records: [...records.values()].map(({ name, type, ttl, data }) => ({ name, type, ttl: ttl ?? soa.ttl, data })),
    ...(readOnly === null ? {} : { readOnly }),
  })
}

const placeOf = ({ at }: Pick<Diagnostic, 'at'>): string => (at === undefined ? '' : `${at.file}:${at.line}:${at.column}: `)

const outsideReason = ({ name, type, at }: DefinedRecord): ReadOnlyReason => ({
  reason: `its file has a record outside the zone, ${name} ${type} (${at.file}:${at.line})`,
  hint: 'remove the record from the file',
})

/** The SOA record with its mailbox in the case of the file: mail addresses keep capital letters, names do not. */
function asWritten(soa: DefinedRecord, text: string, file: string): ResourceRecord {
  const mailbox = soa.at.file === file ? findSoaMailbox(text, soa.at) : null
  return mailbox === null ? soa : { ...soa, data: restoreMailboxCase(soa.data, mailbox) }
}

function soaOf({ ttl, data }: ResourceRecord): Soa {
  const [primary = ROOT, mailbox = ROOT, serial, ...times] = rdataFields(data)
  const seconds = times.map(Number)
  return { primary, mailbox, serial: serialNumber(Number(serial)), times: seconds, ttl: ttl ?? ((seconds[3] ?? 0) as Ttl) }
}

/** The names of fields, and times in words, that many programs write beside the numbers of an SOA record. */
const SOA_FIELD =
  /^\s*(?:serial|refresh|retry|expire|minimum|min|ttl|negative[ -]?(?:cache )?ttl)\s*(?:\((?:[0-9]+ ?(?:second|minute|hour|day|week|[smhdw])s? ?)+\))?\s*$/i

function whyReadOnly(
  text: string,
  soa: DefinedRecord,
  records: readonly ResourceRecord[],
  { file, adopt }: ParseOptions,
): ReadOnlyReason | null {
  const signed = records.find(({ type }) => SIGNING_TYPES.has(type))
  if (signed !== undefined) {
    const reason = `its file has ${signed.type} records, which a change would invalidate`
    return { reason, hint: 'let the server sign the zone (BIND: inline-signing), and keep the unsigned file here' }
  }
  if (adopt) return null
  const isOurs = text.startsWith(HEADER)
  const hint =
    'add "adopt: true" to the provider in the config, once the definition has all that is to stay ("zonewright import zonefile" takes over comments)'
  if (isOurs && !/^\$(?:INCLUDE|GENERATE)\b/im.test(text)) return null
  const lost = (what: string): ReadOnlyReason => ({ reason: `${file} has ${what}, which would be lost`, hint })
  for (const item of scanComments(text)) {
    if (item.kind === 'entry' && (item.directive === '$INCLUDE' || item.directive === '$GENERATE'))
      return lost(`${item.directive} on line ${item.line}`)
    if (isOurs) continue
    const comments = item.kind === 'entry' ? item.comments.map(({ text: one }) => one) : item.text === null ? [] : [item.text]
    const isSoa = item.kind === 'entry' && item.line === soa.at.line && file === soa.at.file
    const comment = comments.find((one) => !(isSoa && SOA_FIELD.test(one)))
    if (comment !== undefined) return lost(`the comment ${quoted(comment.trim() || ';')}`)
  }
  return null
}

/** The settings that an SOA record has. */
export function settingsOf({ mailbox, times }: Soa): ZoneSettings {
  const email = nameToEmail(mailbox)
  const seconds = SOA_TIMES.flatMap(([, key], index) => {
    const time = times[index] as number
    return time <= MAX_TTL ? [[key, time]] : []
  })
  return { type: 'master', ...(email === null ? {} : { soa_email: email }), ...Object.fromEntries(seconds) }
}

/** The SOA record with other settings; absent ones stay. */
export function withSettings(soa: Soa, settings: ZoneSettings): Soa {
  const mailbox = settings.soa_email === undefined ? null : emailToName(settings.soa_email)
  return {
    ...soa,
    mailbox: mailbox ?? soa.mailbox,
    times: SOA_TIMES.map(([, key], index) => settings[key] ?? (soa.times[index] as number)),
  }
}

/** The SOA record of a new zone. Its primary is the first name server of the zone if `primary` is null. */
export function newSoa(zone: DomainName, settings: ZoneSettings, records: readonly ResourceRecord[], primary: DomainName | null): Soa {
  const servers = records.filter((record) => isApexNs(record, zone)).map(({ data }) => data)
  const times = SOA_TIMES.map(([, key]) => DEFAULT_SOA_TIMES[key])
  const ttl = (settings.ttl_sec || DEFAULT_SOA_TIMES.ttl_sec) as Ttl
  const mailbox = zone === ROOT ? ROOT : hostmasterOf(zone)
  return withSettings({ primary: primary ?? servers.sort()[0] ?? ROOT, mailbox, serial: serialNumber(1), times, ttl }, settings)
}

const soaRecord = (zone: DomainName, { primary, mailbox, serial, times, ttl }: Soa): ResourceRecord => ({
  name: zone,
  type: 'SOA',
  ttl,
  data: [primary, mailbox, serial, ...times].join(' '),
})

/** The text of the file of a zone. */
export function printServedZone({ name, soa, records }: Pick<ServedZone, 'name' | 'soa' | 'records'>): string {
  const all = [soaRecord(name, soa), ...records]
  return `${HEADER}\n${printZoneFile(all, { origin: name, style: 'pretty', genericTypes: NEW_TO_BIND })}`
}
