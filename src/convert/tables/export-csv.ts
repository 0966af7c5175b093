import { rdataFields } from '../../dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { compareRecords } from '../../dns/record.ts'
import { typeCode } from '../../dns/record-type.ts'
import { genericForm } from '../../dns/wire/generic-form.ts'
import type { Exported, Exporter } from '../conversion.ts'
import { unsupportedFeaturesOf } from '../unsupported-features.ts'

const HEADER = ['zone', 'name', 'type', 'ttl', 'data']

/**
 * Records as a table (RFC 4180): one line a record, data as in a zone file, an empty TTL for the zone's default. No cell begins with a
 * character that makes a spreadsheet take it for a formula (`=`, `+`, `-`, `@`): a name begins with the escape of that character
 * (RFC 1035 section 5.1), other data are written as octets (RFC 3597). Every reader of zone files takes both for the same.
 */
export const exportCsv: Exporter = (zones): Exported => {
  const rows = [HEADER]
  for (const zone of zones) {
    for (const { name, type, ttl, data } of zone.records.toSorted(compareRecords))
      rows.push([safeName(zone.name), safeName(name), type, ttl === null ? '' : String(ttl), safeData(type, data)])
  }
  return {
    files: [{ path: 'zones.csv', text: rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('') }],
    isSingleFile: true,
    dropped: zones.flatMap((zone) => unsupportedFeaturesOf(zone, { settings: new Set() })),
    diagnostics: [],
  }
}

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const isFormula = (text: string): boolean => /^[=+\-@]/.test(text)

const safeName = (name: string): string => (isFormula(name) ? `\\${String(name.charCodeAt(0)).padStart(3, '0')}${name.slice(1)}` : name)

function safeData(type: string, data: string): string {
  if (!isFormula(data)) return data
  const [first] = rdataFields(data)
  if (RDATA_TYPES.get(type)?.fields[0]?.kind === 'name' && first !== undefined) return safeName(data)
  // Only types of providers have no octets, and their data begin with a name or a quote.
  return typeCode(type) === null ? data : genericForm(type, data)
}
