/**
 * Programs as definitions. `programs/` runs them and imports this folder, so the command line registers it here; it is loaded only if a definition is a program.
 */
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import type { Config } from '../config/config.ts'
import type { DesiredZone } from '../dns/zone.ts'
import { isProgramGlob, isProgramName } from './definition-name.ts'
import { type FoundDefinition, findDefinitions } from './find-definitions.ts'
import type { LoadedDefinition, RecordTotal } from './read-definition.ts'

export interface ProgramZone {
  readonly zone: DesiredZone
  /** False if its records are not managed: in DNSControl's language, without a DNS provider. */
  readonly enabled: boolean
  readonly diagnostics: readonly Diagnostic[]
}

/** The zones that a program defines. */
export interface LoadedProgram {
  readonly zones: readonly ProgramZone[]
  /** Diagnostics about the program as a whole. With an error no zone is used. */
  readonly diagnostics: readonly Diagnostic[]
  /** All files that it read, as messages show them, sorted. */
  readonly files: readonly string[]
}

/** Runs a program. `texts` replace files, by absolute path. */
export type ProgramLoader = (path: string, config: Config, texts: ReadonlyMap<string, string> | undefined) => Promise<LoadedProgram>

export interface ProgramRunner {
  readonly loader: () => Promise<ProgramLoader>
  /** Starts the process that runs programs. */
  readonly start: () => Promise<void>
}

let runner: ProgramRunner | null = null

/** Says how programs are run. */
export function usePrograms(own: ProgramRunner): void {
  runner = own
}

/** Starts the process that runs programs. To be called before any secret is read. */
export async function startProgramRunner(): Promise<void> {
  await runner?.start()
}

/** The same, if a definition of the config is a program. */
export async function startPrograms(config: Config): Promise<void> {
  if (!config.zoneRules.some(({ enabled, files }) => enabled && files.some(isProgramGlob))) return
  const { definitions } = await findDefinitions(config)
  if (definitions.some(({ kind }) => kind === 'program')) await startProgramRunner()
}

/** Runs a definition that is a program, and returns a definition for each of its zones; one without a zone if it has none, or if it failed. */
export async function readProgram(
  definition: FoundDefinition,
  config: Config,
  texts: ReadonlyMap<string, string> | undefined,
  total: RecordTotal,
): Promise<LoadedDefinition[]> {
  if (runner === null) throw new Error('nothing runs programs')
  const load = await runner.loader()
  const { zones, diagnostics, files } = await load(definition.path, config, texts)
  const isFailed = hasErrors(diagnostics)
  const mayUseAutoPtr =
    isFailed ||
    definition.rules.some(({ autoPtr }) => autoPtr) ||
    zones.some(({ zone }) => zone.autoPtr || zone.records.some(({ autoPtr }) => autoPtr))
  // A definition whose data it reads stays one.
  const includedFiles = files.filter((file) => file !== definition.file && isProgramName(file))
  const own = { definition, files, includedFiles, mayUseAutoPtr }
  if (isFailed) return [{ ...own, zone: null, enabled: true, diagnostics }]
  if (zones.length === 0) return [{ ...own, zone: null, enabled: true, diagnostics: [...diagnostics, withoutZone(definition.file)] }]
  const excess = total.count(
    zones.flatMap(({ zone }) => zone.records),
    { length: 0, file: definition.file },
  )
  if (total.isExceeded()) return [{ ...own, zone: null, enabled: true, diagnostics: excess === null ? [] : [excess] }]
  return zones.map((one, i) => ({ ...own, ...one, diagnostics: i === 0 ? [...diagnostics, ...one.diagnostics] : one.diagnostics }))
}

/** A program that fails to read its data must not look like zones that were removed. */
const withoutZone = (file: string): Diagnostic => ({
  severity: 'error',
  code: 'definition-empty',
  message: 'the program defines no zone',
  at: { file, line: 1, column: 1 },
})
