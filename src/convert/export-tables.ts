/** Exports zones as CSV and as JSON. */
import { ownershipOf } from '../dns/ownership.ts'
import { toGenericForm } from '../dns/rdata/generic-form.ts'
import { RDATA_TYPES } from '../dns/rdata/rdata-types.ts'
import { compareRecords, type DefinedRecord } from '../dns/record.ts'
import { typeCode } from '../dns/record-type.ts'
import { suppressionsData } from '../dns/suppression.ts'
import { plainSelector } from '../dns/unmanaged.ts'
import { type DesiredZone, ZONE_SETTINGS } from '../dns/zone.ts'
import { type ExportedFiles, type Exporter, unsupportedFeaturesOf } from './exporter.ts'

const HEADER = ['zone', 'name', 'type', 'ttl', 'data']

/**
 * Exports records as a table (RFC 4180): one row per record, data as in a zone file, and an empty TTL for the zone's default.
 * Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a formula. In such a name the first character is escaped (RFC 1035 section 5.1);
 * other data is written in the generic form (RFC 3597 section 5). Zone file parsers accept both.
 */
export const exportCsv: Exporter = (zones): ExportedFiles => {
  const rows = [HEADER]
  for (const zone of zones) {
    for (const { name, type, ttl, data } of zone.records.toSorted(compareRecords))
      rows.push([
        escapeFormulaName(zone.name),
        escapeFormulaName(name),
        type,
        ttl === null ? '' : String(ttl),
        escapeFormulaData(type, data),
      ])
  }
  return {
    files: [{ path: 'zones.csv', text: rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('') }],
    isSingleFile: true,
    dropped: zones.flatMap((zone) => unsupportedFeaturesOf(zone, { settings: new Set() })),
    diagnostics: [],
  }
}

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const looksLikeFormula = (text: string): boolean => /^[=+\-@]/.test(text)

const escapeFormulaName = (name: string): string =>
  looksLikeFormula(name) ? `\\${String(name.charCodeAt(0)).padStart(3, '0')}${name.slice(1)}` : name

function escapeFormulaData(type: string, data: string): string {
  if (!looksLikeFormula(data)) return data
  // The data begins with a name, which can be escaped.
  if (RDATA_TYPES.get(type)?.fields[0]?.kind === 'name') return escapeFormulaName(data)
  // Types without a code are pseudo types of providers. Their data begins with a name or a quotation mark.
  return typeCode(type) === null ? data : toGenericForm(type, data)
}

/** The version of `schemas/export.schema.json`. */
const EXPORT_VERSION = 1

/** Exports zones as one JSON document with everything that a definition can say. */
export const exportJson: Exporter = (zones): ExportedFiles => {
  const document = { format: 'zonewright-zones', version: EXPORT_VERSION, zones: zones.map(zoneJson) }
  return {
    files: [{ path: 'zones.json', text: `${JSON.stringify(document, null, 2)}\n` }],
    isSingleFile: true,
    dropped: zones.flatMap((zone) => unsupportedFeaturesOf(zone, SUPPORTED)),
    diagnostics: [],
  }
}

/** Every part that `zoneJson` writes. */
const SUPPORTED = {
  settings: new Set(ZONE_SETTINGS),
  others: new Set([
    'absent',
    'unmanaged',
    'targets',
    'policy',
    'allow',
    'apexNs',
    'unsupported',
    'rrsetTargets',
    'soa',
    'recordSettings',
    'recordIgnore',
    'ignore',
  ] as const),
}

const recordJson = ({ name, type, ttl, data, providerSettings, ignore, autoPtr, ...ownership }: DefinedRecord): object => ({
  name,
  type,
  ttl,
  data,
  ...ownershipOf(ownership),
  ...(autoPtr !== undefined && { auto_ptr: autoPtr }),
  ...(providerSettings !== undefined && { provider_settings: providerSettings }),
  ...(ignore !== undefined && { ignore: suppressionsData({ ignore }) }),
})

const zoneJson = (zone: DesiredZone): object => ({
  zone: zone.name,
  ...(zone.absent && { absent: true }),
  ...ownershipOf(zone),
  ...(zone.autoPtr !== undefined && { auto_ptr: zone.autoPtr }),
  settings: Object.fromEntries(ZONE_SETTINGS.flatMap((key) => (zone.settings[key] === undefined ? [] : [[key, zone.settings[key]]]))),
  ...(zone.soa !== undefined && { soa: zone.soa }),
  ...(zone.targets !== null && { targets: zone.targets }),
  ...(zone.policy !== null && { policy: zone.policy }),
  ...(zone.allow.length > 0 && { allow: zone.allow }),
  ...(zone.apexNs !== 'keep' && { apex_ns: zone.apexNs }),
  ...(zone.unsupported !== 'error' && { unsupported: zone.unsupported }),
  ...(zone.unmanaged.length > 0 && { unmanaged: zone.unmanaged.map(plainSelector) }),
  ...(zone.ignore !== undefined &&
    zone.ignore.length > 0 && { ignore: zone.ignore.map(({ code, reason, name, type }) => ({ code, reason, name, type })) }),
  ...(zone.rrsetTargets.length > 0 && { scopes: zone.rrsetTargets }),
  records: zone.records.toSorted(compareRecords).map(recordJson),
})
