import { resolve } from 'node:path'
import { displayPath } from '../../definitions/file-path.ts'
import { findDefinitions } from '../../definitions/find-definitions.ts'
import { readText } from '../../definitions/read-text.ts'
import { writeFileAtomically } from '../../definitions/write-file.ts'
import { formatDefinition } from '../../formats/definition/format-definition.ts'
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts'
import { counted } from '../../report/counts.ts'
import type { CommonOptions } from '../common-options.ts'
import { createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import type { CliIo } from '../io.ts'
import { configOrDefault } from './validate.ts'

/** `zonewright fmt [path...]`: writes YAML definitions in the canonical layout. The files it changes, or would, are named on standard output. */
export async function fmt(
  io: CliIo,
  [paths]: readonly [string[]],
  options: CommonOptions & { readonly check?: boolean },
): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const { config, diagnostics } = await configOrDefault(io, options.config)
  const found = config && (await findDefinitions(config, paths.length === 0 ? null : paths.map((path) => resolve(io.cwd, path))))
  const faults: Diagnostic[] = [...diagnostics.filter((diagnostic) => diagnostic.severity === 'error'), ...(found?.diagnostics ?? [])]
  const files = (found?.definitions ?? []).flatMap(({ kind, path, parts }) => (kind === 'yaml' ? [path] : kind === 'split' ? parts : []))
  let changed = 0
  for (const path of files) {
    const file = displayPath(path, io.cwd)
    const formatted = await formatFile(path, file, options.check === true)
    if (typeof formatted === 'object') faults.push(formatted)
    else if (formatted) {
      changed += 1
      console.print(`${file}\n`)
    }
  }
  console.diagnostics(faults)
  if (files.length === 0 && faults.length === 0) console.say('There are no YAML definitions to lay out.')
  else if (!options.quiet) console.say(`${counted(changed, 'file')} of ${files.length} ${options.check ? 'would change' : 'changed'}.`)
  if (hasErrors(faults)) return EXIT.failure
  return options.check && changed > 0 ? EXIT.pending : EXIT.done
}

/** Whether the file's layout changes, or what is in the way. */
async function formatFile(path: string, file: string, check: boolean): Promise<boolean | Diagnostic> {
  const at = { file, line: 1, column: 1 }
  const text = await readText(path, file)
  if (!text.ok) return { severity: 'error', ...text.fault, at }
  const formatted = formatDefinition(text.text)
  if (!formatted.ok)
    return { severity: 'error', code: 'yaml-syntax', message: formatted.message, at, hint: 'zonewright validate tells where' }
  if (formatted.value === text.text) return false
  if (!check) await writeFileAtomically(path, formatted.value)
  return true
}
