/** Loads the zones of programs. */
import { dirname, join } from 'node:path'
import { type Diagnostic, formatDiagnostic, isError } from '../base/diagnostic.ts'
import { isCi } from '../base/environment.ts'
import { failure, ok } from '../base/result.ts'
import type { Config } from '../config/config.ts'
import { toJsonValue } from '../definition/yaml/plain-scalars.ts'
import { readYaml } from '../definition/yaml/read-yaml.ts'
import { parseFullDate } from '../dns/ownership.ts'
import { compileGlobs } from '../files/file-glob.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../files/file-path.ts'
import { folderTree } from '../files/folder-tree.ts'
import { readText, refuseSecrets } from '../files/read-text.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { openRepository, RevisionError } from '../git/revision.ts'
import { createIncludeReader } from '../load/include-reader.ts'
import type { LoadedProgram, ProgramLoader } from '../load/program-loader.ts'
import { runDefinition } from './definition/run-definition.ts'
import type { JsonObject } from './dnscontrol/json-object.ts'
import { type DnsconfigRun, isDnsconfig, runDnsconfig } from './dnscontrol/run-dnsconfig.ts'
import type { SpfLookUp } from './dnscontrol/spf.ts'
import { SANDBOX } from './sandbox/run-program.ts'
import type { ProgramFiles, ProgramRun } from './sandbox/sandbox.ts'

/** The text of a program, and what it may read; the problem if it cannot be read itself. */
type Opened =
  | { readonly ok: true; readonly program: Pick<ProgramRun, 'entry' | 'files' | 'variables' | 'date'> }
  | { readonly ok: false; readonly problem: Diagnostic }

async function openProgram(path: string, config: Config, texts: ReadonlyMap<string, string> | undefined): Promise<Opened> {
  const file = displayPath(path, config.cwd)
  const policy = sourcePolicy(config)
  const real = displayPath(resolveLinks(path), resolveLinks(config.cwd))
  if (OF_OTHERS.test(real)) return { ok: false, problem: protectedProblem(file, OF_OTHERS_REASON) }
  const given = texts?.get(path)
  const read = given === undefined ? await readText(path, file, policy) : refuseSecrets(given, file, policy)
  if (!read.ok) return { ok: false, problem: { severity: 'error', ...read.problem, at: read.problem.at ?? { file, line: 1, column: 1 } } }
  const tracked = await trackedFiles(config)
  if (tracked !== null && given === undefined && !tracked.has(real)) return { ok: false, problem: protectedProblem(file, UNTRACKED) }
  const { variables = {}, programDate } = config
  const day = parseFullDate(variables['date'] ?? '')
  const date = (day.ok ? day.value : programDate) ?? undefined
  return { ok: true, program: { entry: { file, text: read.text }, files: programFiles(config, texts, tracked), variables, date } }
}

const protectedProblem = (file: string, reason: string): Diagnostic => ({
  severity: 'error',
  code: 'path-protected',
  message: `${file} ${reason}`,
  at: { file, line: 1, column: 1 },
})

/** Runs a dnsconfig.js, given by its absolute path, with the files below the folder of the config. */
export async function runDnsconfigFile(
  path: string,
  config: Config,
  { texts, lookUpSpf }: { readonly texts?: ReadonlyMap<string, string> | undefined; readonly lookUpSpf?: SpfLookUp } = {},
): Promise<DnsconfigRun> {
  const opened = await openProgram(path, config, texts)
  if (!opened.ok) return { config: null, diagnostics: [opened.problem], filesRead: [displayPath(path, config.cwd)] }
  return runDnsconfig(SANDBOX, opened.program, lookUpSpf)
}

/**
 * Loads programs: a script called dnsconfig….js is in DNSControl's language, every other program imports `zonewright/definition`. `zonesOf` returns the zones of
 * a configuration of DNSControl.
 */
export const programLoader =
  (zonesOf: (config: JsonObject, file: string) => Omit<LoadedProgram, 'files'>): ProgramLoader =>
  async (path, config, texts) => {
    const file = displayPath(path, config.cwd)
    if (isDnsconfig(path)) {
      const { config: result, diagnostics, filesRead } = await runDnsconfigFile(path, config, { texts })
      if (result === null) return { zones: [], diagnostics, files: filesRead }
      const { zones, diagnostics: found } = zonesOf(result, file)
      return { zones, diagnostics: [...diagnostics, ...found], files: filesRead }
    }
    const opened = await openProgram(path, config, texts)
    if (!opened.ok) return { zones: [], diagnostics: [opened.problem], files: [file] }
    const { zones, diagnostics, filesRead } = await runDefinition(SANDBOX, opened.program)
    return { zones, diagnostics, files: filesRead }
  }

const UNTRACKED = 'is not tracked by git, so no program reads it in CI'

const trackedByConfig = new WeakMap<Config, Promise<ReadonlySet<string> | null>>()

/** The files that git tracks, as messages show them, in a CI job; null elsewhere. Empty if git cannot tell. All programs of a config share one list. */
function trackedFiles(config: Config): Promise<ReadonlySet<string> | null> {
  const files = trackedByConfig.get(config) ?? listTrackedFiles(config)
  trackedByConfig.set(config, files)
  return files
}

async function listTrackedFiles({ folder, cwd, env }: Config): Promise<ReadonlySet<string> | null> {
  if (env === undefined || !isCi(env)) return null
  try {
    const { git } = await openRepository(folder, env)
    const { status, stdout } = await git(['ls-files', '-z'], { maxOctets: MAX_LIST })
    const paths = status === 0 ? stdout.toString('utf8').split('\0') : []
    return new Set(paths.filter((path) => path !== '').map((path) => displayPath(join(resolveLinks(folder), path), resolveLinks(cwd))))
  } catch (error) {
    if (error instanceof RevisionError) return new Set()
    throw error
  }
}

/** Octets of the list of tracked files. */
const MAX_LIST = 32 * 2 ** 20

/** Files that no program reads: those of other tools with secrets. */
const OF_OTHERS_REASON = 'may have secrets, so no program reads it'
const OF_OTHERS = /(?:^|[/\\])(?:creds\.json|[^/\\]*\.tfstate(?:\.backup)?|terraform\.tfstate\.d[/\\].*)$/i

/** Reads files for programs, by the rules of `include`. */
function programFiles(config: Config, texts: ReadonlyMap<string, string> | undefined, tracked: ReadonlySet<string> | null): ProgramFiles {
  const include = createIncludeReader(config, 'yaml', texts)
  const read: ProgramFiles['read'] = (path, from) => {
    const found = OF_OTHERS.test(path) ? null : include(path, from)
    // A link may have another name than what it leads to.
    if (found === null || (found.ok && OF_OTHERS.test(found.value.file))) return failure(`${path} ${OF_OTHERS_REASON}`)
    // QuickJS would take the text until there.
    if (found.ok && found.value.text.includes('\0')) return failure(`${found.value.file} has a NUL character, so it is no text`)
    return !found.ok || tracked === null || tracked.has(found.value.file) ? found : failure(`${found.value.file} ${UNTRACKED}`)
  }
  return {
    read: (path, from) => (path.startsWith(AS_YAML) ? yamlAsJson(read(path.slice(AS_YAML.length), from)) : read(path, from)),
    async list(glob, file) {
      const folder = dirname(fromDisplayPath(file, config.cwd))
      const { starts, matches } = compileGlobs([glob], folder)
      const root = resolveLinks(config.folder)
      const tree = folderTree(root)
      const policy = sourcePolicy(config)
      const found = new Set<string>()
      for (const start of starts) {
        const from = fromDisplayPath(start.path, folder)
        if (!isInside(resolveLinks(from), root)) continue
        await tree.walk(
          from,
          start.depth,
          () => true,
          (entry) => {
            const path = displayPath(entry.path, folder)
            if (!entry.isFolder && !entry.isOutside && policy.refusePath(entry.path) === null && matches(path)) found.add(path)
          },
        )
      }
      return ok([...found].sort())
    },
  }
}

/** Before the path of a YAML file that is read as JSON. */
const AS_YAML = 'yaml:'

function yamlAsJson(read: ReturnType<ProgramFiles['read']>): ReturnType<ProgramFiles['read']> {
  if (!read.ok) return read
  const { file, text } = read.value
  const { root, diagnostics } = readYaml(text, { file })
  const problem = diagnostics.find(isError)
  if (problem !== undefined || root === null) return failure(problem === undefined ? `${file} is empty` : formatDiagnostic(problem))
  return ok({ file, text: JSON.stringify(toJsonValue(root)) })
}
