/** Exports definitions: loads them, converts them and reports unsupported features. */
import { join } from 'node:path'
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import type { AcceptedLosses } from '../checks/accepted-losses.ts'
import { type Config, unknownProvider } from '../config/config.ts'
import type { LoadedZone } from '../config/configured-zone.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { DesiredZone } from '../dns/zone.ts'
import { fromDisplayPath, resolveLinks } from '../files/file-path.ts'
import { readTextSync } from '../files/read-text.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import type { OutputFile } from '../files/write-files.ts'
import { loadDefinitions } from '../load/load-definitions.ts'
import { capabilitiesOf } from '../providers/registry.ts'
import type { ExportedFiles, ExportOptions } from './exporter.ts'
import { exporterOf } from './formats.ts'
import { extrasAsUnsupported, unsupportedFeatureDiagnostics } from './unsupported-features.ts'

export interface ExportZonesRequest {
  /** One of `EXPORT_FORMATS`. */
  readonly format: string
  /** The zones to export as the command line names them; empty for all. */
  readonly zones: readonly string[]
  /** Only the zones of this target; undefined for all. */
  readonly target?: string | undefined
  readonly config: Config
  /** The unsupported features that are dropped with a warning instead of refused. */
  readonly lossy: AcceptedLosses
  readonly options: Omit<ExportOptions, 'existing'>
  /** The absolute folder that the files are for; null for standard output. */
  readonly folder: string | null
}

export interface ExportZonesResult extends Pick<ExportedFiles, 'files' | 'isSingleFile'> {
  readonly zones: number
  /** Definitions that were not exported: they are disabled, or no rule matches their zone. Empty if zones were named. */
  readonly skippedFiles: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Loads definitions and converts them to another format. Writes nothing; if a diagnostic is an error, the files must not be written. */
export async function exportZones({
  format,
  zones,
  target,
  config,
  lossy,
  options,
  folder,
}: ExportZonesRequest): Promise<ExportZonesResult> {
  const exporter = await exporterOf(format)
  if (exporter === null) throw new Error(`no exporter for ${format}`)
  const loaded = await loadDefinitions(config, { zones })
  const selected = loaded.zones.filter(({ targets }) => target === undefined || targets.includes(target))
  // A zone without a target can be exported, so this is no error here.
  const diagnostics = [
    ...loaded.diagnostics.filter(({ code }) => code !== 'target-missing'),
    ...selectionProblems(selected, format, target, config),
  ]
  const skippedFiles = zones.length === 0 ? loaded.skipped : []
  if (hasErrors(diagnostics)) return { files: [], isSingleFile: false, zones: 0, skippedFiles, diagnostics }
  const { files, isSingleFile, dropped, ...exported } = exporter(
    withTargets(selected).map((zone) => withDefaultTtls(zone, config)),
    { ...options, existing: folder === null ? undefined : existingTexts(folder, config) },
  )
  const sources = new Set(loaded.files.map((file) => resolveLinks(fromDisplayPath(file, config.cwd))))
  return {
    files: files.map((file) => (folder !== null && sources.has(resolveLinks(join(folder, file.path))) ? withoutReplacing(file) : file)),
    isSingleFile,
    zones: selected.length,
    skippedFiles,
    diagnostics: [
      ...extrasAsUnsupported(diagnostics, lossy),
      ...exported.diagnostics,
      ...unsupportedFeatureDiagnostics(dropped, 'export-lossy', format, lossy),
    ],
  }
}

/** Errors for a target that does not exist or has no zones, and for zones with several definitions, unless the format can tell them apart. */
function selectionProblems(zones: readonly LoadedZone[], format: string, target: string | undefined, { providers }: Config): Diagnostic[] {
  if (target !== undefined && !providers.has(target)) return [unknownProvider(target, providers.keys(), undefined)]
  if (target !== undefined && zones.length === 0)
    return [{ severity: 'error', code: 'target-missing', message: `no exported zone has the target ${target}` }]
  const first = new Map<DomainName, LoadedZone>()
  return zones.flatMap((loaded): Diagnostic[] => {
    const { zone, targets } = loaded
    const earlier = first.get(zone.name)
    first.set(zone.name, earlier ?? loaded)
    if (earlier === undefined || format === 'json') return []
    const message = `${zone.name} has several definitions, and ${format} cannot tell them apart`
    const hint = `choose one with --target, such as --target ${earlier.targets[0]} or --target ${targets[0]}`
    return [
      {
        severity: 'error',
        code: 'zone-duplicate',
        message,
        at: zone.at,
        hint,
        related: [{ message: 'the other definition', at: earlier.zone.at }],
      },
    ]
  })
}

/** The zones, with their targets where several definitions have the same name. */
function withTargets(zones: readonly LoadedZone[]): LoadedZone[] {
  const counts = new Map<DomainName, number>()
  for (const { zone } of zones) counts.set(zone.name, (counts.get(zone.name) ?? 0) + 1)
  return zones.map((loaded) => {
    const { zone, targets } = loaded
    return counts.get(zone.name) === 1 ? loaded : { ...loaded, zone: { ...zone, targets } }
  })
}

/** A reader of zone files in a folder: their text by path, or null if there is none. */
function existingTexts(folder: string, config: Config): (path: string) => string | null {
  const policy = sourcePolicy(config, 'allowed')
  return (path) => {
    const text = readTextSync(join(folder, path), path, policy, 'zone-file')
    return text.ok ? text.value : null
  }
}

/** The file that replaces no other unless the user insists: the existing one is a definition. */
const withoutReplacing = ({ path, text }: OutputFile): OutputFile => ({ path, text })

/**
 * Returns the zone with `null` for TTLs of 0 if on all its targets a TTL of 0 means the zone's default. In other formats 0 would mean 0
 * seconds.
 */
function withDefaultTtls({ zone, targets }: LoadedZone, { providers }: Config): DesiredZone {
  const hasTtlDefault = (target: string): boolean => capabilitiesOf(providers.get(target))?.ttlDefault === true
  if (targets.length === 0 || !targets.every(hasTtlDefault)) return zone
  return { ...zone, records: zone.records.map((record) => (record.ttl === 0 ? { ...record, ttl: null } : record)) }
}
