/** The options of code that a child process runs, without starting it. */
import { homedir } from 'node:os'
import type { ProviderConfig } from '../config/config.ts'

export interface PlacedText {
  readonly path: readonly string[]
  readonly text: string
}

/** The options that look like paths out of the folder of the config: what the code does with them is unknown. dns-lexicon takes `file::PATH`, too. */
export const pathsOfOptions = ({ settings }: ProviderConfig): { readonly setting: string; readonly path: string }[] =>
  [...textsOfOptions(settings['options'])].flatMap(({ path, text: written }) => {
    const text = written.replace(/^file::/, '')
    return /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(text)
      ? [{ setting: ['options', ...path].join('.'), path: text.replace(/^~[^/]*/, homedir()) }]
      : []
  })

/** All texts of options with their paths. */
export function* textsOfOptions(value: unknown, path: readonly string[] = []): Generator<PlacedText> {
  if (typeof value === 'string') yield { path, text: value }
  else if (typeof value === 'object' && value !== null)
    for (const [key, below] of Object.entries(value)) yield* textsOfOptions(below, [...path, key])
}
