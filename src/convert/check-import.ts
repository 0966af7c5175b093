/** Checks that the files of an import define the same zones as its source. */
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Diagnostic, hasErrors, isError, type SourcePosition } from '../base/diagnostic.ts'
import { secretsInZone } from '../checks/secrets-in-zone.ts'
import { CONFIG_FILE, type Config, DEFAULT_ZONE_RULE } from '../config/config.ts'
import type { LoadedZone } from '../config/configured-zone.ts'
import { readConfig } from '../config/read-config.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import { type DefinedRecord, type ResourceRecord, recordKey } from '../dns/record.ts'
import { SOA_FIELDS } from '../dns/soa.ts'
import { plainSelector } from '../dns/unmanaged.ts'
import { type RrsetTargets, ZONE_SETTINGS } from '../dns/zone.ts'
import { cleanAtExit } from '../files/temporary-file.ts'
import type { OutputFile } from '../files/write-files.ts'
import { loadDefinitions } from '../load/load-definitions.ts'
import { checkSettings } from '../providers/registry.ts'

/** Differences that are reported per zone. */
const MAX_DIFFERENCES = 20

/**
 * Proves that the files mean what was imported: loads them from a temporary folder like any definitions, and compares each zone with its
 * source, setting by setting and record by record. `shownPath` turns a path into the one that messages show.
 */
export async function checkImport(
  zones: readonly ImportedZone[],
  files: readonly OutputFile[],
  config: Config,
  shownPath: (path: string) => string,
): Promise<Diagnostic[]> {
  const exposed = zones.flatMap((zone) => secretsInZone(zone, config.secrets))
  if (exposed.length > 0) return exposed
  let folder: string
  try {
    folder = await mkdtemp(join(tmpdir(), 'zonewright-import-'))
  } catch (error) {
    return [unwritable(tmpdir(), error)]
  }
  const clean = (): void => rmSync(folder, { recursive: true, force: true })
  const cancelCleanup = cleanAtExit(clean)
  try {
    for (const { path, text } of files) {
      try {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      } catch (error) {
        return [unwritable(join(folder, path), error)]
      }
    }
    const loaded = await loadDefinitions(isolatedConfig(config, folder), { autoPtr: false, lints: false })
    const byName = new Map(loaded.zones.map((one) => [one.zone.name, one]))
    // A definition that cannot be read has its own diagnostic, so its zone is not reported as missing too.
    const isUnread = loaded.diagnostics.some(({ code }) => ['file-too-large', 'secret-exposed', 'zone-name'].includes(code))
    const compared = isUnread ? zones.filter(({ name }) => byName.has(name)) : zones
    const defined = loaded.zones.map(({ zone }) => zone)
    const newConfig = hasErrors(loaded.diagnostics) ? undefined : files.find(({ path }) => path === CONFIG_FILE)
    return [
      ...(newConfig === undefined ? [] : await errorsOfRun(newConfig.text, folder, config)),
      ...relocateDiagnostics(loaded.diagnostics, zones, defined, shownPath),
      ...compared.flatMap((zone) => compareZone(zone, byName.get(zone.name))),
    ]
  } finally {
    cancelCleanup()
    clean()
  }
}

/** The errors that would end a run with the new config before its first request, but for targets that the source does not have either. */
async function errorsOfRun(text: string, folder: string, { secrets }: Config): Promise<Diagnostic[]> {
  const { config, diagnostics } = readConfig(text, { file: CONFIG_FILE, folder, cwd: folder, secrets })
  const zones = config === null ? [] : (await loadDefinitions(config, { lints: false })).diagnostics
  const settings = [...(config?.providers.values() ?? [])].flatMap(checkSettings)
  // Nothing will be written, so the places do not exist.
  return [...diagnostics, ...settings, ...zones]
    .filter((one) => isError(one) && one.code !== 'target-missing')
    .map((one) => ({ ...one, at: undefined, related: undefined }))
}

/** Rethrows an error that is not a system error. */
function unwritable(path: string, error: unknown): Diagnostic {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return {
    severity: 'error',
    code: 'file-unwritable',
    message: `${path} cannot be written to compare the files with their source: ${message}`,
    hint: 'set TMPDIR to use another folder for temporary files',
  }
}

/** Keeps only how files are read. Defaults from the config would hide what the definitions lack. */
const isolatedConfig = (config: Config, folder: string): Config => ({
  ...config,
  file: null,
  folder,
  cwd: folder,
  providers: new Map(),
  zoneRules: [{ ...DEFAULT_ZONE_RULE, files: ['**/*'] }],
  defaults: { settings: {}, ttl: null },
})

function compareZone(imported: ImportedZone, loaded: LoadedZone | undefined): Diagnostic[] {
  const mismatch = (message: string): Diagnostic => ({
    severity: 'error',
    code: 'import-mismatch',
    message: `${imported.name}: ${message}`,
    hint: 'this is a bug in Zonewright: please report it with the input',
  })
  if (loaded === undefined) return [mismatch('the files that would be written do not define the zone')]
  const differences = [...compareSettings(imported, loaded), ...compareRecords(imported.records, loaded.zone.records)]
  const reported = differences.slice(0, MAX_DIFFERENCES).map(mismatch)
  return differences.length > MAX_DIFFERENCES
    ? [...reported, mismatch(`and ${differences.length - MAX_DIFFERENCES} more differences`)]
    : reported
}

function compareSettings(
  { settings, soa = {}, unmanaged = [], rrsetTargets = [], targets, policy }: ImportedZone,
  { zone }: LoadedZone,
): string[] {
  const differences = ZONE_SETTINGS.filter((key) => JSON.stringify(settings[key]) !== JSON.stringify(zone.settings[key])).map(
    (key) =>
      `the setting ${key} would be ${JSON.stringify(zone.settings[key]) ?? 'absent'}, not ${JSON.stringify(settings[key]) ?? 'absent'}`,
  )
  if (SOA_FIELDS.some((field) => soa[field] !== zone.soa?.[field])) differences.push('the fields of the SOA record would differ')
  if (JSON.stringify(unmanaged.map(plainSelector)) !== JSON.stringify(zone.unmanaged.map(plainSelector)))
    differences.push('the unmanaged selectors would differ')
  if (targets !== undefined && JSON.stringify(targets) !== JSON.stringify(zone.targets)) differences.push('the targets would differ')
  if (policy !== undefined && policy !== zone.policy) differences.push('the policy would differ')
  if (JSON.stringify(plainTargets(rrsetTargets)) !== JSON.stringify(plainTargets(zone.rrsetTargets)))
    differences.push('the targets of record sets would differ')
  return differences
}

/** The targets of RRsets, sorted. A scope that is in several files of a zone appears once. */
const plainTargets = (all: readonly RrsetTargets[]): string[] =>
  [...new Set(all.map(({ name, type, ignored, included, excluded }) => JSON.stringify([name, type, ignored, included, excluded])))].sort()

function compareRecords(imported: readonly ResourceRecord[], loaded: readonly ResourceRecord[]): string[] {
  const counts = new Map<string, number>()
  const count = (record: ResourceRecord, by: number): void => {
    const key = `${record.name} ${record.ttl ?? 'no TTL'} ${record.type} ${record.data}`
    counts.set(key, (counts.get(key) ?? 0) + by)
  }
  for (const record of imported) count(record, 1)
  for (const record of loaded) count(record, -1)
  return [...counts]
    .filter(([, surplus]) => surplus !== 0)
    .map(([key, surplus]) => (surplus > 0 ? `the record would be missing: ${key}` : `there would be an extra record: ${key}`))
}

/** A zone as the new files define it. */
interface DefinedZone {
  readonly name: ImportedZone['name']
  readonly records: readonly DefinedRecord[]
}

/**
 * Replaces positions in the temporary files with positions that the user can open. With an error nothing will be written, so a diagnostic
 * points to the source of its record, if that is a file. Otherwise it points to the file that will be written.
 */
function relocateDiagnostics(
  diagnostics: readonly Diagnostic[],
  zones: readonly ImportedZone[],
  defined: readonly DefinedZone[],
  shownPath: (path: string) => string,
): Diagnostic[] {
  const relocate = hasErrors(diagnostics)
    ? sourcePositions(zones, defined)
    : (at: SourcePosition): SourcePosition => ({ ...at, file: shownPath(at.file) })
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    at: diagnostic.at && relocate(diagnostic.at),
    related: diagnostic.related?.flatMap(({ message, at }) => {
      const relocated = relocate(at)
      return relocated === undefined ? [] : [{ message, at: relocated }]
    }),
  }))
}

/**
 * Maps a position in a printed definition to the position of its record in the source. Files that are copied unchanged keep their
 * positions.
 */
function sourcePositions(
  zones: readonly ImportedZone[],
  defined: readonly DefinedZone[],
): (at: SourcePosition) => SourcePosition | undefined {
  const printed = new Map(zones.filter(({ files }) => files === undefined).map((zone) => [zone.name, zone.records]))
  const positions = new Map<string, SourcePosition | undefined>()
  const files = new Set<string>()
  for (const { name, records } of defined) {
    const sources = printed.get(name)
    if (sources === undefined) continue
    const positionOf = new Map(sources.map((record) => [recordKey(record), record.at]))
    for (const record of records) {
      positions.set(keyOf(record.at), positionOf.get(recordKey(record)))
      files.add(record.at.file)
    }
  }
  return (at) => (files.has(at.file) ? positions.get(keyOf(at)) : at)
}

const keyOf = ({ file, line, column }: SourcePosition): string => `${line}:${column}:${file}`
