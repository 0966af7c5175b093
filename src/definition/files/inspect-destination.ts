import { readFileSync } from 'node:fs'
import type { OutputFile } from '../imported-zone.ts'
import { digestOf, type UnfinishedWrite } from './unfinished-write.ts'
import { writeTarget } from './write-target.ts'

/** A file that is yet to get its text. */
export interface FileChange {
  readonly file: OutputFile
  /** Where it really is, absolute. */
  readonly path: string
  /** The mode of the file that it replaces; null for a name that is free. */
  readonly mode: number | null
}

/** What a file finds at its place: its own text, another that may be replaced, or not, nothing, or what is no file at all. */
export type Finding =
  | { readonly kind: 'change'; readonly change: FileChange }
  | { readonly kind: 'same' }
  | { readonly kind: 'in-the-way' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** `folder` is absolute and without links. What a write that was cut off had put in place is no file of somebody else's. */
export function inspectDestination(
  folder: string,
  path: string,
  file: OutputFile,
  { overwrite, unfinished }: { readonly overwrite: boolean; readonly unfinished: UnfinishedWrite | null },
): Finding {
  try {
    const target = writeTarget(path, folder)
    if (target.facts === null) return { kind: 'change', change: { file, path: target.path, mode: null } }
    const octets = readIfPossible(target.path)
    if (octets?.equals(Buffer.from(file.text))) return { kind: 'same' }
    const isLeft = octets !== null && unfinished !== null && unfinished.digests.get(file.path) === digestOf(octets)
    if (!overwrite && !isLeft) return { kind: 'in-the-way' }
    return { kind: 'change', change: { file, path: target.path, mode: target.facts.mode & 0o7777 } }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return !overwrite && (code === 'EDANGLING' || code === 'ELEADSOUT') ? { kind: 'in-the-way' } : { kind: 'failed', error }
  }
}

/** A file that may be replaced and not read is another. */
function readIfPossible(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}
