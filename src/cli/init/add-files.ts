/** Writes the files of `init`: adds those that are missing, and changes existing ones only after their difference was shown. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { printText } from '../../definition/yaml/print-yaml.ts'
import { isInside, resolveLinks } from '../../files/file-path.ts'
import { type OutputFile, writeFiles } from '../../files/write-files.ts'
import { isPartlyWritten, writeProblems } from '../../files/write-problem.ts'
import { textDiff } from '../../report/text-diff.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, canAsk, confirm } from '../output.ts'

/** A file, relative to the folder of the repository, with `/`. */
export interface InitFile extends OutputFile {
  /** Whether an existing file gets this text. Otherwise it stays. */
  readonly changes?: boolean
}

export interface ComparedFiles {
  readonly added: readonly InitFile[]
  readonly changed: readonly (InitFile & { readonly replaces: string })[]
  /** The paths of files that exist and stay. */
  readonly kept: readonly string[]
}

/** The largest existing file that is read, in octets. */
const MAX_EXISTING = 20_000_000

/** The text of a file; null if there is none. Undefined for something else of that name, also a link that leads out of the folder. */
export function existingText(folder: string, path: string): string | null | undefined {
  const file = resolve(folder, path)
  try {
    const real = resolveLinks(file)
    const facts = statSync(file)
    if (!isInside(real, resolveLinks(folder)) || !facts.isFile() || facts.size > MAX_EXISTING) return undefined
    return readFileSync(real, 'utf8')
  } catch (error) {
    // The write reports a file in the place of a folder.
    return /^ENO(?:ENT|TDIR)$/.test(String((error as NodeJS.ErrnoException).code)) ? null : undefined
  }
}

export function compareFiles(folder: string, files: readonly InitFile[]): ComparedFiles {
  const compared = files.map((file) => ({ file, before: existingText(folder, file.path) }))
  const changed = compared.flatMap(({ file, before }) =>
    typeof before === 'string' && before !== file.text && file.changes ? [{ ...file, replaces: before }] : [],
  )
  const paths = new Set(changed.map(({ path }) => path))
  return {
    added: compared.flatMap(({ file, before }) => (before === null ? [file] : [])),
    changed,
    kept: compared.flatMap(({ file, before }) => (before === null || paths.has(file.path) ? [] : [file.path])),
  }
}

export const diffsOf = ({ changed }: Pick<ComparedFiles, 'changed'>): string =>
  changed.map(({ path, replaces, text }) => textDiff(path, replaces, text)).join('')

const list = (paths: readonly string[]): string => paths.map((path) => `  ${path}\n`).join('')

export const namesOf = ({ added }: Pick<ComparedFiles, 'added'>): string => list(added.map(({ path }) => path))

/** Writes the files and lists them. Returns whether all are in place. */
export async function addFiles(
  io: CliIo,
  output: CliOutput,
  { added, changed }: Pick<ComparedFiles, 'added' | 'changed'>,
): Promise<boolean> {
  const outcome = await endedBySignals(() =>
    writeFiles(io.cwd, [...added, ...changed], { overwrite: false, command: 'init', now: io.now, secrets: io.secrets }),
  )
  output.diagnostics(writeProblems(outcome, (path) => path))
  if (outcome.state === 'written') {
    if (outcome.written.length > 0) output.print(`Written:\n${list(outcome.written)}`)
    return true
  }
  if (!isPartlyWritten(outcome)) nothingWritten(output)
  return false
}

/** Writes missing files, and changes existing ones if the user agrees. Then prints the steps, unless nothing was missing. */
export async function addMissing(
  io: CliIo,
  output: CliOutput,
  files: readonly InitFile[],
  yes: boolean,
  steps: string,
): Promise<ExitStatus> {
  const { added, changed, kept } = compareFiles(io.cwd, files)
  if (added.length + changed.length === 0) return nothingMissing(output, kept)
  let agreed = yes
  if (changed.length > 0) {
    output.print(diffsOf({ changed }))
    const answer = yes ? 'yes' : await consent(io, output, 'Make these changes?')
    if (answer === 'interrupted') return EXIT.interrupted
    agreed = answer === 'yes'
    if (!agreed) output.say(`Not changed: ${changed.map(({ path }) => path).join(', ')}.${answer === null ? ' --yes changes them.' : ''}`)
  }
  if (!(await addFiles(io, output, { added, changed: agreed ? changed : [] }))) return EXIT.failure
  if (added.length > 0) output.print(steps)
  return EXIT.done
}

/** Null if nobody can be asked. */
export async function consent(io: CliIo, output: CliOutput, question: string): Promise<'yes' | 'no' | 'interrupted' | null> {
  if (!canAsk(io)) return null
  const answer = await confirm(io, question, new AbortController().signal)
  if (answer === 'interrupted') output.say('')
  return answer
}

export function nothingWritten(output: CliOutput): ExitStatus {
  output.say('Nothing was written.')
  return EXIT.failure
}

export function nothingMissing(output: CliOutput, kept: readonly string[]): ExitStatus {
  output.print(`Nothing is missing:\n${list(kept)}`)
  return EXIT.done
}

// Texts that are added to existing files.

const LINE = /\r?\n/

/** `.gitignore` with these lines. */
export function gitignore(folder: string, lines: readonly string[]): InitFile {
  const before = existingText(folder, '.gitignore') ?? ''
  const plain = (line: string): string => line.trim().replace(/^\/|\/$/g, '')
  const known = new Set(before.split(LINE).map(plain))
  return {
    path: '.gitignore',
    text: appended(
      before,
      lines.filter((line) => !known.has(plain(line))),
    ),
    changes: true,
  }
}

function appended(before: string, lines: readonly string[]): string {
  const end = before.includes('\r\n') ? '\r\n' : '\n'
  return before + (before === '' || before.endsWith('\n') || lines.length === 0 ? '' : end) + lines.map((line) => line + end).join('')
}

/** A config with one more provider, `entry` in flow style; null if its `providers` are not in block style. */
export function withProvider(config: string, name: string, entry: string): string | null {
  const line = `${printText(name, 'flow')}: ${entry}`
  if (!/^providers:/m.test(config)) return appended(config, ['providers:', `  ${line}`])
  const [, indent = '  '] = /^providers:[ \t]*(?:#.*)?\r?\n(?:[ \t]*(?:#.*)?\r?\n)*([ \t]+)\S/m.exec(config) ?? []
  const isBlock = /^providers:[ \t]*(?:\{\}[ \t]*)?(?:#.*)?$/m.test(config)
  return isBlock
    ? config.replace(/^(providers:)[ \t]*(?:\{\})?(.*)$/m, (_, key: string, rest: string) => `${key}${rest}\n${indent}${line}`)
    : null
}

/** A pipeline of GitLab with one more file; null if its `include` is not a list in block style. */
export function withInclude(pipeline: string, path: string): string | null {
  const item = `- local: ${path}`
  if (pipeline.includes(path)) return pipeline
  if (!/^include:/m.test(pipeline)) return appended(pipeline, ['include:', `  ${item}`])
  const [, indent] = /^include:[ \t]*\r?\n([ \t]*)-/m.exec(pipeline) ?? []
  return indent === undefined ? null : pipeline.replace(/^include:[ \t]*$/m, (key) => `${key}\n${indent}${item}`)
}
