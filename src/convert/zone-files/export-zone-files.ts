/** Exports zones as zone files. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { Result } from '../../base/result.ts'
import { ROOT } from '../../dns/domain-name.ts'
import { emailToName } from '../../dns/mailbox.ts'
import { NEW_TO_BIND } from '../../dns/rdata/rdata-types.ts'
import { type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { typeCode } from '../../dns/record-type.ts'
import type { SerialNumber } from '../../dns/serial-number.ts'
import { DEFAULT_SOA_TIMES, hostmasterOf, SOA_TIMES } from '../../dns/soa.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { chooseSerial, compareExisting, type ExistingZoneFile } from '../../dns/zone-file/choose-serial.ts'
import { type PrintOptions, printZoneFile } from '../../dns/zone-file/print-zone-file.ts'
import { verifyZoneDigest } from '../../dns/zone-file/zone-digest.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import type { OutputFile } from '../../files/write-files.ts'
import { type ExportedFiles, type Exporter, type ExportOptions, unsupportedFeaturesOf } from '../exporter.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

const SUPPORTED = {
  settings: new Set(['soa_email', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'] as const),
  others: new Set(['soa'] as const),
}

/** Exports a zone file per zone that name servers load as it is, with an SOA record made from the settings and NS records at the apex. */
export const exportZoneFiles: Exporter = (zones, options): ExportedFiles => {
  const files: OutputFile[] = []
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const names = new Set<string>()
  for (const zone of zones) {
    if (zone.settings.type === 'slave' || zone.absent) {
      const what = zone.absent ? 'the deletion of the zone' : 'a slave zone, whose records come from its masters'
      dropped.push({ zone: zone.name, name: null, type: null, what, at: zone.at })
      continue
    }
    dropped.push(...unsupportedFeaturesOf(zone, SUPPORTED), ...pseudoRecords(zone))
    const supported = zone.records.filter(({ type }) => typeCode(type) !== null)
    const defaultTtl = defaultTtlOf(zone)
    const apexNs = supported.filter(({ name, type }) => name === zone.name && type === 'NS')
    const servers = apexNs.length > 0 ? apexNs : options.nameservers.map((data) => ({ name: zone.name, type: 'NS', ttl: defaultTtl, data }))
    if (servers.length === 0) diagnostics.push(missingServers(zone))
    const others = apexNs.length > 0 ? supported : [...supported, ...servers]
    const recordsWith = (serial: SerialNumber): ResourceRecord[] => [soaRecord(zone, servers, defaultTtl, serial), ...others]
    const printOptions: PrintOptions = {
      origin: zone.name,
      style: options.style,
      defaultTtl: others.some(({ ttl }) => ttl === null) ? defaultTtl : null,
      genericTypes: NEW_TO_BIND,
    }
    const textWith = (serial: SerialNumber): string => printZoneFile(recordsWith(serial), printOptions)
    const path = zoneFileName(zone.name, names)
    const text = options.existing?.(path) ?? null
    const existing = text === null ? null : compareExisting(zone.name, text, textWith)
    const serial = serialOf(zone, existing, options)
    if (!serial.ok) {
      diagnostics.push(serialError(zone, serial.message))
      continue
    }
    diagnostics.push(...digestWarnings(zone, recordsWith(serial.value), defaultTtl))
    files.push({ path, text: textWith(serial.value), ...(text !== null && existing?.isReplaceable && { replaces: text }) })
  }
  return { files, isSingleFile: false, dropped, diagnostics }
}

function serialOf({ soa }: DesiredZone, existing: ExistingZoneFile | null, options: ExportOptions): Result<SerialNumber> {
  const mayGoBack = options.force === true && typeof options.serial === 'number'
  return chooseSerial(options.serial, soa?.serial ?? null, mayGoBack ? null : existing)
}

const serialError = ({ name, at }: DesiredZone, reason: string): Diagnostic => ({
  severity: 'error',
  code: 'serial-not-newer',
  message: `${name}: ${reason}`,
  at,
  hint: 'secondary servers would ignore the file; name a newer serial, leave --serial out, or use --force',
})

/** The TTL of records without one: the minimum of the SOA record. */
function defaultTtlOf({ settings, soa }: DesiredZone): Ttl {
  const minimum = settings.ttl_sec ?? soa?.minimum
  const isOwn = settings.ttl_sec === undefined && minimum !== undefined && minimum <= MAX_TTL
  return (isOwn ? minimum : settings.ttl_sec || DEFAULT_SOA_TIMES.ttl_sec) as Ttl
}

/** One item per RRset of a pseudo type that only providers know. */
function pseudoRecords({ name: zone, records }: DesiredZone): UnsupportedFeature[] {
  const sets = new Map(records.filter(({ type }) => typeCode(type) === null).map((record) => [rrsetKey(record), record]))
  return [...sets.values()].map(({ name, type, at }) => ({ zone, name, type, what: `${type} records, which no name server supports`, at }))
}

const missingServers = (zone: DesiredZone): Diagnostic => ({
  severity: 'warning',
  code: 'zone-without-ns',
  message: `${zone.name} has no NS records at its apex, so name servers refuse its file`,
  at: zone.at,
  hint: 'name its servers with --ns NAME',
})

/** A zone digest covers the SOA record, which this export generates. */
function digestWarnings(zone: DesiredZone, records: readonly ResourceRecord[], defaultTtl: Ttl): Diagnostic[] {
  if (!zone.records.some(({ name, type }) => name === zone.name && type === 'ZONEMD')) return []
  const printed = records.map((record) => (record.ttl === null ? { ...record, ttl: defaultTtl } : record))
  const verdict = verifyZoneDigest(printed, zone.name)
  if (verdict.kind !== 'mismatch') return []
  return verdict.reasons.map(({ message }) => ({
    severity: 'warning',
    code: 'zonemd-mismatch',
    message: `${zone.name} ZONEMD does not verify in its zone file: ${message}`,
    at: zone.at,
    hint: 'name the serial with --serial N, or regenerate the digest where the zone is served',
  }))
}

/**
 * The SOA record made from the definition's `soa` and settings. Without a primary it has the first name server of the zone, or the root if there is
 * none.
 */
function soaRecord(
  { name, settings, soa = {} }: DesiredZone,
  servers: readonly ResourceRecord[],
  ttl: Ttl,
  serial: SerialNumber,
): ResourceRecord {
  const mailbox = soa.mailbox ?? (settings.soa_email === undefined ? hostmasterOf(name) : emailToName(settings.soa_email))
  if (mailbox === null) throw new Error(`not an e-mail address: ${settings.soa_email}`)
  const times = SOA_TIMES.map(([field, key]) => soa[field] ?? (settings[key] || DEFAULT_SOA_TIMES[key]))
  return { name, type: 'SOA', ttl: soa.ttl ?? ttl, data: [soa.primary ?? servers[0]?.data ?? ROOT, mailbox, serial, ...times].join(' ') }
}
