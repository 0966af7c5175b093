/** Imports zones from CSV and JSON, as `export-tables.ts` writes them. */
import { resolve } from 'node:path'
import { validate } from '../../generated/export-schema.js'
import { parseCsv } from '../base/csv.ts'
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { quoted } from '../base/text.ts'
import type { ImportedRecord, ImportedZone } from '../definition/imported-zone.ts'
import { printDefinition } from '../definition/print/print-definition.ts'
import { printEntry, type YamlData } from '../definition/yaml/print-yaml.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName } from '../dns/domain-name.ts'
import { type Ownership, ownershipOf } from '../dns/ownership.ts'
import { parseRdata } from '../dns/rdata/canonical.ts'
import { parseRecordType } from '../dns/record-type.ts'
import { parseTtl } from '../dns/ttl.ts'
import { zoneFileName } from '../dns/zone-file/zone-file-name.ts'
import { displayPath } from '../files/file-path.ts'
import { readText, similarFile } from '../files/read-text.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { failedImport, type ImportedZones, type Importer, type ImportRequest, missingZones } from './importer.ts'

/** Imports a table of records: the columns zone, name, type, ttl and data in any order (RFC 4180). An empty TTL is the zone's default. */
export const importCsv: Importer = (request) =>
  importTable(request, (text, file, refuse) => {
    const table = parseCsv(text)
    if (!table.ok) return refuse(1, `line ${table.line}: ${table.message}`)
    const [header, ...lines] = table.rows
    const columns = COLUMNS.map((name) => header?.cells.indexOf(name) ?? -1)
    if (columns.includes(-1)) return refuse(1, `the first line must name the columns ${COLUMNS.join(', ')}`)
    const zones = new Map<DomainName, ImportedRecord[]>()
    for (const { cells, line } of lines) {
      if (cells.length !== header?.cells.length) {
        refuse(line, `the row has ${cells.length} values, the first one has ${header?.cells.length}`)
        continue
      }
      const [zone = '', name = '', type = '', ttl = '', data = ''] = columns.map((column) => cells[column])
      const at = { file, line, column: 1 }
      const owner = parseAbsoluteName(zone)
      if (!owner.ok) {
        refuse(line, `${quoted(zone)}: ${owner.message}`)
        continue
      }
      const record = recordOf({ name, type, ttl: ttl === '' ? null : ttl, data }, owner.value, at)
      const records = zones.get(owner.value) ?? []
      zones.set(owner.value, records)
      if (record.ok) records.push(record.value)
      else refuse(line, record.message)
    }
    return [...zones].map(([name, records]) => ({ name, settings: {}, records }))
  })

const COLUMNS = ['zone', 'name', 'type', 'ttl', 'data'] as const

/** Imports the document of `export json`, with everything that it has. */
export const importJson: Importer = (request) =>
  importTable(request, (text, file, refuse) => {
    const document = parseJson(text)
    if (!document.ok || !validate(document.value)) {
      const [error] = validate.errors ?? []
      const message = document.ok ? `${error?.instancePath ?? ''} ${error?.message ?? 'is invalid'}` : document.message
      return refuse(1, `this is no document of "export json": ${message}`)
    }
    return (document.value as { readonly zones: readonly ExportedZone[] }).zones.flatMap((zone) => {
      const name = parseAbsoluteName(zone.zone)
      if (!name.ok) return refuse(1, `${quoted(zone.zone)}: ${name.message}`)
      const records = zone.records.flatMap((one) => {
        const record = recordOf(one, name.value, { file, line: 1, column: 1 })
        if (!record.ok) return refuse(1, record.message)
        const { provider_settings: providerSettings, ignore, auto_ptr: autoPtr } = one
        const more = { ...(providerSettings && { providerSettings }), ...(ignore && { ignore }), ...(autoPtr !== undefined && { autoPtr }) }
        return { ...record.value, ...ownershipOf(one), ...more } as ImportedRecord
      })
      return zoneOf(zone, name.value, records)
    })
  })

/** A zone of the document, as `schemas/export.schema.json` describes it. */
interface ExportedZone extends Pick<ImportedZone, 'settings' | 'soa' | 'targets' | 'policy' | 'unmanaged' | 'owner' | 'expires'> {
  readonly zone: string
  readonly apex_ns?: ImportedZone['apexNs']
  readonly scopes?: ImportedZone['rrsetTargets']
  readonly absent?: YamlData
  readonly auto_ptr?: YamlData
  readonly allow?: YamlData
  readonly unsupported?: YamlData
  readonly ignore?: YamlData
  readonly records: readonly (RecordText &
    Ownership & { readonly provider_settings?: object; readonly ignore?: object; readonly auto_ptr?: boolean })[]
}

function zoneOf(zone: ExportedZone, name: DomainName, records: readonly ImportedRecord[]): ImportedZone {
  const { settings, soa, targets, policy, unmanaged, apex_ns: apexNs, scopes: rrsetTargets, absent, allow, unsupported, ignore } = zone
  const imported: ImportedZone = { name, settings, soa, targets, policy, unmanaged, apexNs, rrsetTargets, records, ...ownershipOf(zone) }
  // What no other format has.
  const others = Object.entries({ absent, allow, unsupported, ignore, auto_ptr: zone.auto_ptr }).filter(([, value]) => value !== undefined)
  if (others.length === 0) return imported
  const lines = others.map(([key, value]) => printEntry(key, value as YamlData, 0)).join('')
  const text = printDefinition(imported).replace(/^domain: .*\n/m, (domain) => domain + lines)
  return { ...imported, files: [{ path: zoneFileName(name, new Set(), 'yaml'), text }] }
}

interface RecordText {
  readonly name: string
  readonly type: string
  readonly ttl: number | string | null
  readonly data: string
}

/** Names in data end with a dot: one without might be meant relative to the zone. */
const readTarget = (text: string): Result<DomainName> =>
  text.endsWith('.') ? parseAbsoluteName(text) : failure(`${quoted(text)} must be an absolute name, with a final dot`)

function recordOf({ name, type, ttl, data }: RecordText, zone: DomainName, at: SourcePosition): Result<ImportedRecord> {
  const subject = `${quoted(name)} ${quoted(type)}`
  const owner = parseAbsoluteName(name)
  if (!owner.ok) return failure(`${subject}: ${owner.message}`)
  if (!isAtOrBelow(owner.value, zone)) return failure(`${subject}: the name is not in ${zone}; names are absolute, such as www.${zone}`)
  const known = parseRecordType(type)
  if (!known.ok) return failure(`${subject}: ${known.message}`)
  const seconds = ttl === null ? ok(null) : parseTtl(String(ttl))
  if (!seconds.ok) return failure(`${subject}: ${seconds.message}`)
  const rdata = parseRdata(known.value, data, readTarget)
  return rdata.ok
    ? ok({ name: owner.value, type: known.value, ttl: seconds.value, data: rdata.value, at })
    : failure(`${subject}: ${rdata.message}`)
}

/** `refuse` adds an error, and returns nothing. */
type ReadTable = (text: string, file: string, refuse: (line: number, message: string) => []) => ImportedZone[]

async function importTable({ source, zones: wanted, cwd, config }: ImportRequest, read: ReadTable): Promise<ImportedZones> {
  const path = resolve(cwd, source)
  const file = displayPath(path, cwd)
  const text = await readText(path, file, sourcePolicy({ ...config, cwd }, 'allowed'))
  if (!text.ok) return failedImport({ hint: similarFile(path, cwd) ?? 'name the file with the records', ...text.problem })
  const diagnostics: Diagnostic[] = []
  const zones = read(text.text, file, (line, message) => {
    diagnostics.push({ severity: 'error', code: 'value-invalid', message, at: { file, line, column: 1 } })
    return []
  })
  const selected = zones.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  return {
    zones: selected,
    dropped: [],
    diagnostics: [...diagnostics, ...(diagnostics.length > 0 ? [] : missingZones(wanted, zones, file))],
  }
}

/** A JSON document; the failure never quotes it, because it may have secrets. */
export function parseJson(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text))
  } catch (error) {
    // V8 quotes the file, which may have secrets.
    return failure((error as Error).message.replace(/, (?:\.\.\.)?".*/s, ''))
  }
}
