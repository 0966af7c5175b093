/** Edits of definitions by the command `record`. */
import { expect } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { filesBelow } from './scene.ts'

export type Files = Readonly<Record<string, string>>

/** The words after `record`, or their text if no word has a space. */
export type Words = string | readonly string[]

export interface Edited extends CliResult {
  /** All files afterwards. */
  readonly files: Files
  text(path: string): string
  /** The files that changed or are new. */
  readonly changed: Files
}

const wordsOf = (words: Words): readonly string[] => (typeof words === 'string' ? words.split(' ') : words)

/** Runs edits one after the other in a folder with these files; the result of the last one. */
export async function edit(files: Files, ...edits: readonly Words[]): Promise<Edited> {
  const cwd = folderWith(files)
  let result = { status: 0, stdout: '', stderr: '' }
  for (const words of edits) result = await cli(['record', ...wordsOf(words)], { cwd })
  const after = filesBelow(cwd)
  expect(after).toMatchObject(Object.fromEntries(Object.keys(files).map((path) => [path, expect.any(String)])))
  expect(Object.keys(after).filter((path) => /\.(?:tmp|lock)$/.test(path))).toEqual([])
  const changed = Object.fromEntries(Object.entries(after).filter(([path, text]) => text !== files[path]))
  return { ...result, files: after, text: (path) => after[path] as string, changed }
}
