/** Imports zones: reads them, prints definitions and checks these against the source. */
import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { type Diagnostic, hasErrors, isError } from '../base/diagnostic.ts'
import { counted, listed } from '../base/english.ts'
import type { AcceptedLosses } from '../checks/accepted-losses.ts'
import { CONFIG_FILE, type Config } from '../config/config.ts'
import { createRuleLookup, targetsOf } from '../config/configured-zone.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import { printDefinition } from '../definition/print/print-definition.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { SOA_TIMES } from '../dns/soa.ts'
import type { SoaFields } from '../dns/zone.ts'
import { zoneFileName } from '../dns/zone-file/zone-file-name.ts'
import { displayPath } from '../files/file-path.ts'
import type { OutputFile } from '../files/write-files.ts'
import { capabilitiesOf } from '../providers/registry.ts'
import { checkImport, errorsOfRun } from './check-import.ts'
import { importerOf } from './formats.ts'
import type { ImportedZones, ImportRequest } from './importer.ts'
import { unsupportedFeatureDiagnostics } from './unsupported-features.ts'

export interface ImportZonesRequest extends ImportRequest {
  /** One of `IMPORT_FORMATS`. */
  readonly format: string
  /** The unsupported features that are dropped with a warning instead of refused. */
  readonly lossy: AcceptedLosses
  /** Whether existing files may be replaced. */
  readonly overwrite: boolean
  /** Whether a source without zones is accepted. */
  readonly allowEmpty?: boolean
  /** Asks whether the provider may create zones (`viaService`, `clone`). `action` is a sentence without a final period. */
  readonly confirmCopy?: (action: string) => Promise<boolean>
}

export interface ImportZonesResult {
  readonly zones: readonly ImportedZone[]
  /** Whether the source stays the definition of the zones. */
  readonly keepsSource: boolean
  /** The absolute folder that the files are relative to: the one for the definitions, or that of a new config above it. */
  readonly folder: string
  /** If a diagnostic is an error, they must not be written. */
  readonly files: readonly OutputFile[]
  readonly diagnostics: readonly Diagnostic[]
  /** Paragraphs for the user after the files are written. */
  readonly nextSteps?: readonly string[] | undefined
}

/**
 * Reads zones and returns definitions for them that have been loaded and compared with their source. Writes nothing. Returns null if
 * `confirmCopy` declines.
 */
export async function importZones(request: ImportZonesRequest): Promise<ImportZonesResult | null> {
  const { format, config, cwd, options } = request
  const importer = await importerOf(format)
  if (importer === null) throw new Error(`no importer for ${format}`)
  if (options.viaService !== undefined || options.clone !== undefined) {
    const existing = request.overwrite ? [] : await existingFiles(request)
    if (existing.length > 0) return { zones: [], keepsSource: false, folder: cwd, files: [], diagnostics: existing }
    if ((await request.confirmCopy?.(copyAction(request))) === false) return null
  }
  const imported = await importer(request)
  const definitions = resolve(cwd, options.out ?? '.')
  const folder = imported.newConfig?.folder ?? definitions
  const { keepsSource = false } = imported
  const written = keepsSource ? { ...imported, zones: [] } : imported
  const { files, paths, diagnostics: fileDiagnostics } = importFiles(written, relative(folder, definitions))
  const diagnostics: Diagnostic[] = [
    ...imported.diagnostics,
    ...unsupportedFeatureDiagnostics(imported.dropped, 'import-lossy', format, request.lossy),
    ...fileDiagnostics,
  ]
  if (imported.zones.length === 0 && request.allowEmpty !== true && !hasErrors(diagnostics))
    diagnostics.push({ severity: 'error', code: 'no-definitions', message: `${request.source} has no zones` })
  if (imported.newConfig !== undefined && folder !== cwd) {
    const message = `commands use ${displayPath(join(folder, CONFIG_FILE), cwd)} only in its folder and below, or if -c names it`
    diagnostics.push({ severity: 'notice', code: 'import-aside', message })
  }
  if (!hasErrors(diagnostics) && keepsSource) {
    if (imported.newConfig !== undefined) diagnostics.push(...(await errorsOfRun(imported.newConfig.text, folder, config)))
  } else if (!hasErrors(diagnostics)) {
    const shownPath = (path: string): string => displayPath(resolve(folder, path), cwd)
    const found = await checkImport(imported.zones, files, { ...config, ...imported.octodnsSettings }, shownPath)
    diagnostics.push(...withoutRepeats(found, diagnostics))
    const usual = options.out === undefined ? resolve(config.folder, 'zones') : folder
    diagnostics.push(...soaWarnings(imported.zones, config, ({ name }) => resolve(usual, paths.get(name) ?? '')))
  }
  return { zones: imported.zones, keepsSource, folder, files, diagnostics, nextSteps: imported.nextSteps }
}

/** Codes of warnings about definitions that an import reports as `import-lossy`. */
const LOSSES: ReadonlySet<string> = new Set(['record-extra', 'type-foreign'])

/** The diagnostics of the new files without those that the source has had, which differ only in their position. */
function withoutRepeats(found: readonly Diagnostic[], before: readonly Diagnostic[]): Diagnostic[] {
  const textOf = ({ severity, code, message }: Diagnostic): string => `${severity} ${code} ${message}`
  const known = new Set(before.map(textOf))
  const hasLosses = before.some(({ code }) => code === 'import-lossy')
  return found.filter((one) => isError(one) || (!known.has(textOf(one)) && !(hasLosses && LOSSES.has(one.code))))
}

interface ImportFiles extends Pick<ImportZonesResult, 'files' | 'diagnostics'> {
  /** The path of each new definition. */
  readonly paths: ReadonlyMap<DomainName, string>
}

/** The files of an import, each path once: files of zones, new definitions of the others, shared files and a new config. `place` is the folder of all but the config. */
function importFiles({ zones, files = [], newConfig }: ImportedZones, place: string): ImportFiles {
  const byPath = new Map<string, string>()
  const paths = new Map<DomainName, string>()
  const diagnostics: Diagnostic[] = []
  const add = ({ path: own, text }: OutputFile): void => {
    if (isAbsolute(own) || own.split(/[/\\]/).includes('..')) {
      diagnostics.push({ severity: 'error', code: 'path-outside', message: `${own} leads out of the folder for the definitions` })
      return
    }
    const path = join(place, own)
    const known = byPath.get(path)
    if (known === undefined) byPath.set(path, text)
    else if (known !== text) {
      const message = `two different files would be written as ${path}`
      diagnostics.push({ severity: 'error', code: 'file-exists', message, hint: 'import each zone separately, into its own folder' })
    }
  }
  for (const zone of zones) for (const file of zone.files ?? []) add(file)
  // A zone may be called like the config.
  const taken = new Set([CONFIG_FILE, ...byPath.keys()])
  for (const zone of zones) {
    if (zone.files !== undefined) continue
    const path = zoneFileName(zone.name, taken, 'yaml')
    paths.set(zone.name, join(place, path))
    add({ path, text: printDefinition(zone) })
  }
  for (const file of files) add(file)
  if (newConfig !== undefined) byPath.set(CONFIG_FILE, newConfig.text)
  return { files: [...byPath].map(([path, text]) => ({ path, text })), paths, diagnostics }
}

const copyAction = ({ source, zones, options: { viaService, clone } }: ImportZonesRequest): string =>
  `${source} creates ${zones.join(', ')} ${viaService === undefined ? `as a copy of ${clone}` : `by a transfer from ${viaService}`}`

/** Definitions that already exist for the zones that a provider would create. */
async function existingFiles({ zones, cwd, options: { out } }: ImportZonesRequest): Promise<Diagnostic[]> {
  if (out === undefined) return []
  const taken = new Set<string>()
  const paths = zones.map((zone) => resolve(cwd, out, zoneFileName(zone, taken, 'yaml')))
  const exists = await Promise.all(
    paths.map((path) =>
      lstat(path).then(
        () => true,
        () => false,
      ),
    ),
  )
  return paths
    .filter((_, i) => exists[i])
    .map((path) => ({
      severity: 'error',
      code: 'file-exists',
      message: `${displayPath(path, cwd)} already exists`,
      hint: '--force replaces existing files',
    }))
}

// Warns of targets that do not support the SOA records of imported zones.

/**
 * One warning per target that does not support fields of the SOA records of imported zones, with the number of zones. `pathOf` returns the absolute path of
 * the definition that will be written.
 */
function soaWarnings(zones: readonly ImportedZone[], config: Config, pathOf: (zone: ImportedZone) => string): Diagnostic[] {
  const ruleOf = createRuleLookup(config)
  const byTarget = new Map<string, { zones: number; fields: Set<string> }>()
  for (const zone of zones) {
    const rule = zone.soa === undefined ? null : ruleOf(pathOf(zone), zone)
    for (const target of rule === null ? [] : targetsOf({ targets: zone.targets ?? null }, rule, config)) {
      if (capabilitiesOf(config.providers.get(target))?.storesSoaFields !== false) continue
      const known = byTarget.get(target) ?? { zones: 0, fields: new Set() }
      for (const field of fieldsOf(zone.soa ?? {})) known.fields.add(field)
      byTarget.set(target, { ...known, zones: known.zones + 1 })
    }
  }
  return [...byTarget].map(([target, { zones: count, fields }]) => ({
    severity: 'warning',
    code: 'setting-unsupported',
    message: `${counted(count, 'zone')}: ${target} does not support ${listed(FIELDS.filter((field) => fields.has(field)))} of the SOA record`,
    hint: `${target} sets its own values; "export zonefile" writes the values of the definition`,
  }))
}

const FIELDS = ['the primary', 'the mailbox', 'the serial', 'a time of 0', 'a time above 2147483647 s', 'the TTL'] as const

function* fieldsOf(soa: SoaFields): Generator<(typeof FIELDS)[number]> {
  if (soa.primary !== undefined) yield 'the primary'
  if (soa.mailbox !== undefined) yield 'the mailbox'
  if (soa.serial !== undefined) yield 'the serial'
  for (const [field] of SOA_TIMES) if (soa[field] !== undefined) yield soa[field] === 0 ? 'a time of 0' : 'a time above 2147483647 s'
  if (soa.ttl !== undefined) yield 'the TTL'
}
