/** The files of `init` beside those that exist: which are missing, and what is added to others. */
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { printText } from '../../definition/yaml/print-yaml.ts'
import { resolveLinks } from '../../files/file-path.ts'
import type { OutputFile } from '../../files/write-files.ts'
import { findWriteTarget } from '../../files/write-target.ts'

/** A file, relative to the working directory, with `/`. */
export interface InitFile extends OutputFile {
  /** Whether an existing file gets this text. Otherwise it stays. */
  readonly changes?: boolean
}

/** The largest existing file that is read, in octets. */
const MAX_EXISTING = 20_000_000

/** The text of a file; null if there is none. Undefined for what `init` leaves as it is: a link to nothing or out of the folder, and what is no text in UTF-8. */
export function existingText(folder: string, path: string): string | null | undefined {
  try {
    const { path: file, facts } = findWriteTarget(resolve(folder, path), resolveLinks(folder))
    if (facts === null) return null
    const octets = facts.size > MAX_EXISTING ? null : readFileSync(file)
    return octets !== null && isUtf8(octets) ? octets.toString() : undefined
  } catch (error) {
    // The write reports a file in the place of a folder.
    return /^ENO(?:ENT|TDIR)$/.test(String((error as NodeJS.ErrnoException).code)) ? null : undefined
  }
}

/** Compares files, whose paths are relative to `cwd`, with those in the folder `root`. */
export function compareFiles({ cwd, root }: { readonly cwd: string; readonly root: string }, files: readonly InitFile[]) {
  const compared = files.map((file) => ({ file, before: existingText(root, resolve(cwd, file.path)) }))
  const differs = ({ file, before }: (typeof compared)[number]): boolean =>
    typeof before === 'string' && before !== file.text && file.changes === true
  return {
    added: compared.flatMap(({ file, before }) => (before === null ? [file] : [])),
    changed: compared.flatMap((one) => (differs(one) ? [{ ...one.file, replaces: String(one.before) }] : [])),
    /** The paths of files that exist and stay. */
    kept: compared.flatMap((one) => (one.before === null || differs(one) ? [] : [one.file.path])),
  }
}

/** `.gitignore` with these lines. */
export function gitignore(folder: string, lines: readonly string[]): InitFile {
  const before = existingText(folder, '.gitignore') ?? ''
  const plain = (line: string): string => line.trim().replace(/^\/|\/$/g, '')
  const known = new Set(before.split('\n').map(plain))
  const missing = lines.filter((line) => !known.has(plain(line)))
  return { path: '.gitignore', text: appended(before, missing), changes: true }
}

function appended(before: string, lines: readonly string[]): string {
  const end = before.includes('\r\n') ? '\r\n' : '\n'
  return before + (before === '' || before.endsWith('\n') || lines.length === 0 ? '' : end) + lines.map((line) => line + end).join('')
}

/** A config with one more provider, `entry` in flow style; null if its `providers` are on one line. */
export function withProvider(config: string, name: string, entry: string): string | null {
  const line = `${printText(name, 'flow')}: ${entry}`
  if (!/^providers:/m.test(config)) return appended(config, ['providers:', `  ${line}`])
  const [, indent = '  '] = /^providers:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]+)/m.exec(config) ?? []
  const start = /^providers:(?:[ \t]*\{\})?([ \t]*(?:#.*)?\r?)$/m
  return start.test(config) ? config.replace(start, (_, rest: string) => `providers:${rest}\n${indent}${line}`) : null
}

/** A pipeline of GitLab that includes a file too; null if it includes others already. */
export const withInclude = (pipeline: string, path: string): string | null => {
  if (pipeline.includes(path)) return pipeline
  return /^include:/m.test(pipeline) ? null : appended(pipeline, ['include:', `  - local: ${path}`])
}
