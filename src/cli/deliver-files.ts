/** Prints a converted file, or writes converted files. */
import { basename, dirname, resolve } from 'node:path'
import { counted } from '../base/english.ts'
import { displayPath } from '../files/file-path.ts'
import type { WriteOutcome } from '../files/replace-files.ts'
import { type OutputFile, writeFiles } from '../files/write-files.ts'
import { isPartlyWritten, writeProblems } from '../files/write-problem.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import { endedBySignals } from './interruption.ts'
import type { CliIo } from './io.ts'
import type { CliOutput } from './output.ts'

export interface Delivery {
  readonly command: 'import' | 'export'
  readonly files: readonly OutputFile[]
  /** What the files contain: `2 zones`. */
  readonly contents: string
  /** The file or folder to write; absent for standard output, which takes one file. */
  readonly out?: string | undefined
  /** Whether `out` names the only file, not a folder. */
  readonly isSingleFile?: boolean
  readonly force?: boolean | undefined
  /** Lists the files and writes nothing. */
  readonly dryRun?: boolean | undefined
}

/** Prints a converted file, or writes the files. */
export async function deliverFiles(io: CliIo, output: CliOutput, delivery: Delivery): Promise<ExitStatus> {
  const { command, out, contents, force, dryRun } = delivery
  const count = counted(delivery.files.length, 'file')
  if (out === undefined && dryRun !== true) {
    if (delivery.files.length > 1) {
      output.error('usage', `standard output takes one file, not ${count}`, 'name a folder with -o, or name one zone')
      return EXIT.failure
    }
    output.print(delivery.files[0]?.text ?? '')
    return EXIT.done
  }
  const target = resolve(io.cwd, out ?? '')
  const isNamed = delivery.isSingleFile === true && out !== undefined
  const folder = isNamed ? dirname(target) : target
  const files = isNamed ? delivery.files.map(({ text }) => ({ path: basename(target), text })) : delivery.files
  const shown = (path: string): string => displayPath(resolve(folder, path), io.cwd)
  if (dryRun === true) {
    output.print(files.map(({ path }) => `${shown(path)}\n`).join(''))
    output.note(`${contents} in ${count}; nothing was written.`)
    return EXIT.done
  }
  const outcome = await endedBySignals(() =>
    writeFiles(folder, files, { overwrite: force === true, command, now: io.now, secrets: io.secrets }),
  )
  return reportWritten(output, outcome, shown) ? EXIT.done : EXIT.failure
}

/** Names the written files on standard output and reports what could not be written. Returns whether all files are in place. */
function reportWritten(output: CliOutput, outcome: WriteOutcome, shown: (path: string) => string): boolean {
  if (outcome.state === 'written') {
    output.print(outcome.written.map((path) => `${shown(path)}\n`).join(''))
    if (outcome.unchanged.length > 0) output.note(`${counted(outcome.unchanged.length, 'file')} had that text already.`)
    return true
  }
  output.diagnostics(writeProblems(outcome, shown))
  if (!isPartlyWritten(outcome)) output.say('Nothing was written.')
  return false
}
