import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { CONFIG_FILE, type Config, DEFAULT_RULE } from '../definition/config/config.ts'
import { cleanAtExit } from '../definition/files/clean-at-exit.ts'
import type { ImportedZone, OutputFile } from '../definition/imported-zone.ts'
import type { LoadedZone } from '../definition/load/configured-zone.ts'
import { loadDefinitions } from '../definition/load/load-definitions.ts'
import { secretsInZone } from '../definition/load/secrets-in-zone.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import { hasErrors, type SourcePosition } from '../dns/diagnostic.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { type DefinedRecord, recordKey } from '../dns/record.ts'
import { type RrsetScope, type UnmanagedSelector, ZONE_SETTINGS } from '../dns/zone.ts'

/** Differences that are told of one zone. */
const TOLD = 20

/**
 * Proof that files mean what was imported, before they are written where they belong: they are loaded from a folder of their own like
 * any definitions, and each zone is compared with its source, setting by setting and record by record. `shownPath` gives the path of a
 * file as it will be known.
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
  const callOff = cleanAtExit(clean)
  try {
    for (const { path, text } of files) {
      if (basename(path) === CONFIG_FILE) continue
      try {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), text)
      } catch (error) {
        return [unwritable(join(folder, path), error)]
      }
    }
    const loaded = await loadDefinitions(configOf(config, folder))
    const byName = new Map(loaded.zones.map((one) => [one.zone.name, one]))
    // A definition that is not read is reported as such; its zone is not missed a second time.
    const isUnread = loaded.diagnostics.some(({ code }) => code === 'file-too-large' || code === 'secret-exposed')
    const compared = isUnread ? zones.filter(({ name }) => byName.has(name)) : zones
    const defined = loaded.zones.map(({ zone }) => zone)
    return [
      ...placedForReader(loaded.diagnostics, zones, defined, shownPath),
      ...compared.flatMap((zone) => compareZone(zone, byName.get(zone.name))),
    ]
  } finally {
    callOff()
    clean()
  }
}

/** An error that is not the system's is thrown on. */
function unwritable(path: string, error: unknown): Diagnostic {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return {
    severity: 'error',
    code: 'file-unwritable',
    message: `${path} cannot be written, where the files are compared with their source: ${message}`,
    hint: 'TMPDIR names another folder for temporary files',
  }
}

/** Only how files are read is taken from the config: what it adds to definitions would hide what they lack. */
const configOf = (config: Config, folder: string): Config => ({
  ...config,
  file: null,
  folder,
  cwd: folder,
  providers: new Map(),
  rules: [{ ...DEFAULT_RULE, files: ['**/*'] }],
  defaults: { settings: {}, ttl: null },
})

function compareZone(imported: ImportedZone, loaded: LoadedZone | undefined): Diagnostic[] {
  const tell = (message: string): Diagnostic => ({
    severity: 'error',
    code: 'import-mismatch',
    message: `${imported.name}: ${message}`,
    hint: 'this is a fault of the program: please report it with the input',
  })
  if (loaded === undefined) return [tell('the files that would be written do not define the zone')]
  const differences = [...compareSettings(imported, loaded), ...compareRecords(imported.records, loaded.zone.records)]
  const told = differences.slice(0, TOLD).map(tell)
  return differences.length > TOLD ? [...told, tell(`and ${differences.length - TOLD} more differences`)] : told
}

function compareSettings({ settings, unmanaged = [], scopes = [], targets, policy }: ImportedZone, { zone }: LoadedZone): string[] {
  const differences = ZONE_SETTINGS.filter((key) => JSON.stringify(settings[key]) !== JSON.stringify(zone.settings[key])).map(
    (key) =>
      `the setting ${key} would be ${JSON.stringify(zone.settings[key]) ?? 'absent'}, not ${JSON.stringify(settings[key]) ?? 'absent'}`,
  )
  if (JSON.stringify(unmanaged.map(plainSelector)) !== JSON.stringify(zone.unmanaged.map(plainSelector)))
    differences.push('the unmanaged selectors would be others')
  if (targets !== undefined && JSON.stringify(targets) !== JSON.stringify(zone.targets)) differences.push('the targets would be others')
  if (policy !== undefined && policy !== zone.policy) differences.push('the policy would be another')
  if (JSON.stringify(plainScopes(scopes)) !== JSON.stringify(plainScopes(zone.scopes)))
    differences.push('record sets would be for other targets')
  return differences
}

const plainSelector = ({ name, type, target }: UnmanagedSelector) => ({ name, type, target })

/** For which targets RRsets are, in an order of their own; those that stand in several files of a zone count once. */
const plainScopes = (scopes: readonly RrsetScope[]): string[] =>
  [
    ...new Set(scopes.map(({ name, type, ignored, included, excluded }) => JSON.stringify([name, type, ignored, included, excluded]))),
  ].sort()

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
    .map(([key, surplus]) => (surplus > 0 ? `the record would be missing: ${key}` : `there would be a record too many: ${key}`))
}

/** A zone as the files that would be written define it. */
interface DefinedZone {
  readonly name: ImportedZone['name']
  readonly records: readonly DefinedRecord[]
}

/**
 * What is told of files that are not written yet, at places that its reader can open: with an error nothing will be written, so that
 * the place is where the record comes from, or none where it comes from no file; else it is where the file will be.
 */
function placedForReader(
  diagnostics: readonly Diagnostic[],
  zones: readonly ImportedZone[],
  defined: readonly DefinedZone[],
  shownPath: (path: string) => string,
): Diagnostic[] {
  const place = hasErrors(diagnostics)
    ? placesInSource(zones, defined)
    : (at: SourcePosition): SourcePosition => ({ ...at, file: shownPath(at.file) })
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    at: diagnostic.at && place(diagnostic.at),
    related: diagnostic.related?.flatMap(({ message, at }) => {
      const placed = place(at)
      return placed === undefined ? [] : [{ message, at: placed }]
    }),
  }))
}

/** Zones that are written as they stand have their places already. */
function placesInSource(
  zones: readonly ImportedZone[],
  defined: readonly DefinedZone[],
): (at: SourcePosition) => SourcePosition | undefined {
  const printed = new Map(zones.filter(({ files }) => files === undefined).map((zone) => [zone.name, zone.records]))
  const places = new Map<string, SourcePosition | undefined>()
  const files = new Set<string>()
  for (const { name, records } of defined) {
    const sources = printed.get(name)
    if (sources === undefined) continue
    const placeOf = new Map(sources.map((record) => [recordKey(record), record.at]))
    for (const record of records) {
      places.set(keyOf(record.at), placeOf.get(recordKey(record)))
      files.add(record.at.file)
    }
  }
  return (at) => (files.has(at.file) ? places.get(keyOf(at)) : at)
}

const keyOf = ({ file, line, column }: SourcePosition): string => `${line}:${column}:${file}`
