/** Loads the zones of programs. */
import { dirname } from 'node:path'
import type { Config } from '../../definition/config/config.ts'
import { compileGlobs } from '../../definition/files/file-glob.ts'
import { displayPath, fromDisplayPath, resolveLinks } from '../../definition/files/file-path.ts'
import { folderTree } from '../../definition/files/folder-tree.ts'
import { readText, refuseSecrets } from '../../definition/files/read-text.ts'
import { createIncludeReader } from '../../definition/load/include-reader.ts'
import type { LoadedProgram } from '../../definition/load/program-loader.ts'
import { isHiddenName, sourcePolicy } from '../../definition/load/source-policy.ts'
import { failure, ok } from '../../dns/result.ts'
import { type DnsconfigRun, runDnsconfig } from '../../programs/dnscontrol/run-dnsconfig.ts'
import type { SpfLookUp } from '../../programs/dnscontrol/spf.ts'
import { openSandbox, type Sandbox } from '../../programs/sandbox/run-program.ts'
import type { ProgramFiles } from '../../programs/sandbox/sandbox.ts'
import { programZones } from './program-zones.ts'

let sandbox: Sandbox | null = null

/** Runs a dnsconfig.js, given by its absolute path, with the files below the folder of the config. */
export async function runDnsconfigFile(
  path: string,
  config: Config,
  { texts, lookUpSpf }: { readonly texts?: ReadonlyMap<string, string> | undefined; readonly lookUpSpf?: SpfLookUp } = {},
): Promise<DnsconfigRun> {
  const file = displayPath(path, config.cwd)
  const policy = sourcePolicy(config)
  const given = texts?.get(path)
  const read = given === undefined ? await readText(path, file, policy) : refuseSecrets(given, file, policy)
  if (!read.ok) {
    const at = read.problem.at ?? { file, line: 1, column: 1 }
    return { config: null, diagnostics: [{ severity: 'error', ...read.problem, at }], filesRead: [file] }
  }
  sandbox ??= openSandbox()
  const program = { entry: { file, text: read.text }, files: programFiles(config, texts), variables: config.variables ?? {} }
  return runDnsconfig(sandbox, program, lookUpSpf)
}

/** The zones of a program. */
export async function loadProgram(path: string, config: Config, texts: ReadonlyMap<string, string> | undefined): Promise<LoadedProgram> {
  const { config: result, diagnostics, filesRead } = await runDnsconfigFile(path, config, { texts })
  if (result === null) return { zones: [], diagnostics, files: filesRead }
  const { zones, diagnostics: found } = programZones(result, displayPath(path, config.cwd))
  return { zones, diagnostics: [...diagnostics, ...found], files: filesRead }
}

/** Files that no program reads: those of other tools with secrets. */
const OF_OTHERS = /(?:^|\/)(?:creds\.json|[^/]*\.tfstate(?:\.backup)?)$/i

/** Reads files for programs, by the rules of `include`. */
function programFiles(config: Config, texts: ReadonlyMap<string, string> | undefined): ProgramFiles {
  const read = createIncludeReader(config, 'yaml', texts)
  return {
    read: (path, from) => (OF_OTHERS.test(path) ? failure(`${path} may have secrets, so no program reads it`) : read(path, from)),
    async list(glob, from) {
      const folder = dirname(fromDisplayPath(from, config.cwd))
      const { starts, matches } = compileGlobs([glob], folder)
      const tree = folderTree(resolveLinks(config.folder))
      const found = new Set<string>()
      for (const start of starts) {
        await tree.walk(
          fromDisplayPath(start.path, folder),
          start.depth,
          () => true,
          (entry) => {
            const path = displayPath(entry.path, folder).split('\\').join('/')
            if (!entry.isFolder && !entry.isOutside && !isHiddenName(entry.path) && matches(path)) found.add(path)
          },
        )
      }
      return ok([...found].sort())
    },
  }
}
