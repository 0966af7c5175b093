import type { OutputFile } from '../../definition/imported-zone.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, labelsOf, nameFromLabels, ROOT } from '../../dns/domain-name.ts'
import { emailToName } from '../../dns/mailbox.ts'
import { type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { typeCode } from '../../dns/record-type.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { printZoneFile } from '../../dns/zone-file/print-zone-file.ts'
import { verifyZoneDigest } from '../../dns/zone-file/zone-digest.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { type ExportedFiles, type Exporter, unsupportedFeaturesOf } from '../exporter.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

const HELD = { settings: new Set(['soa_email', 'ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'] as const) }

/** What 0, and saying nothing, stand for (interface, Domain), in seconds. */
const DEFAULTS = { refresh: 14_400, retry: 14_400, expire: 1_209_600, ttl: 86_400 } as const

/** A zone file for each zone, which name servers take as it is: with an SOA record of the settings, and NS records at the apex. */
export const exportZoneFiles: Exporter = (zones, options): ExportedFiles => {
  const files: OutputFile[] = []
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const names = new Set<string>()
  for (const zone of zones) {
    if (zone.settings.type === 'slave' || zone.absent) {
      const what = zone.absent ? 'that the zone is to be deleted' : 'a slave zone: its records are those of its masters'
      dropped.push({ zone: zone.name, name: null, type: null, what, at: zone.at })
      continue
    }
    dropped.push(...unsupportedFeaturesOf(zone, HELD), ...pseudoRecords(zone))
    const held = zone.records.filter(({ type }) => typeCode(type) !== null)
    const defaultTtl = (zone.settings.ttl_sec || DEFAULTS.ttl) as Ttl
    const own = held.filter(({ name, type }) => name === zone.name && type === 'NS')
    const served = own.length > 0 ? own : options.nameservers.map((data) => ({ name: zone.name, type: 'NS', ttl: defaultTtl, data }))
    if (served.length === 0) diagnostics.push(withoutServers(zone))
    const records: ResourceRecord[] = [soaOf(zone, served, defaultTtl, options.serial), ...held]
    if (own.length === 0) records.push(...served)
    diagnostics.push(...withoutDigest(zone, records, defaultTtl))
    const isBare = records.some(({ ttl }) => ttl === null)
    const text = printZoneFile(records, { origin: zone.name, style: options.style, defaultTtl: isBare ? defaultTtl : null })
    files.push({ path: zoneFileName(zone.name, names), text })
  }
  return { files, isSingleFile: false, dropped, diagnostics }
}

/** Records of types that only providers know, each RRset once. */
function pseudoRecords({ name: zone, records }: DesiredZone): UnsupportedFeature[] {
  const sets = new Map(records.filter(({ type }) => typeCode(type) === null).map((record) => [rrsetKey(record), record]))
  return [...sets.values()].map(({ name, type, at }) => ({ zone, name, type, what: `${type} records, which no name server knows`, at }))
}

const withoutServers = (zone: DesiredZone): Diagnostic => ({
  severity: 'warning',
  code: 'zone-without-ns',
  message: `${zone.name} has no NS records at its apex, so that name servers refuse its file`,
  at: zone.at,
  hint: 'name its servers with --ns NAME',
})

/** A digest is of one serial, and of an SOA record that is made anew here. */
function withoutDigest(zone: DesiredZone, records: readonly ResourceRecord[], defaultTtl: Ttl): Diagnostic[] {
  if (!zone.records.some(({ name, type }) => name === zone.name && type === 'ZONEMD')) return []
  const printed = records.map((record) => (record.ttl === null ? { ...record, ttl: defaultTtl } : record))
  const verdict = verifyZoneDigest(printed, zone.name)
  if (verdict.kind !== 'mismatch') return []
  return verdict.reasons.map(({ message }) => ({
    severity: 'warning',
    code: 'zonemd-mismatch',
    message: `${zone.name} ZONEMD does not verify in its zone file: ${message}`,
    at: zone.at,
    hint: 'name the serial with --serial N, or have the digest made anew where the zone is served',
  }))
}

/** The SOA record of a zone's settings; its primary is the first name server of the definition, the root where there is none. */
function soaOf({ name, settings }: DesiredZone, servers: readonly ResourceRecord[], ttl: Ttl, serial: number): ResourceRecord {
  const primary = servers[0]?.data ?? ROOT
  const mailbox = settings.soa_email === undefined ? hostmasterOf(name) : emailToName(settings.soa_email)
  if (mailbox === null) throw new Error(`not a mail address: ${settings.soa_email}`)
  const times = [settings.refresh_sec || DEFAULTS.refresh, settings.retry_sec || DEFAULTS.retry, settings.expire_sec || DEFAULTS.expire]
  return { name, type: 'SOA', ttl, data: `${primary} ${mailbox} ${serial} ${times.join(' ')} ${ttl}` }
}

const hostmasterOf = (zone: DomainName): DomainName => nameFromLabels([Buffer.from('hostmaster'), ...labelsOf(zone)])
