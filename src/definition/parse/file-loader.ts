import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { Result } from '../../dns/result.ts'
import { MAX_YAML_LENGTH, readYaml } from '../yaml/read-yaml.ts'
import type { YamlNode } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, quoted } from './parse-state.ts'

/** Files that may include one another in a row, and inclusions in one definition altogether. */
export const MAX_INCLUDE_DEPTH = 8
export const MAX_INCLUDES = 1000

/** Characters in all inclusions together, as a multiple of what one file may have. */
const TOTAL_FILES = 4

/** The files of one definition: reads YAML, follows `!include` in it, and keeps the sum of it within bounds. */
export interface FileLoader {
  /** The tree of a text; null where it is not YAML, which is reported. */
  readonly parse: (source: SourceFile) => YamlNode | null
  /** The tree of another file; null where it cannot be had, which is reported at the place that names it. */
  readonly include: (path: string, at: SourcePosition) => YamlNode | null
  /** Whether no more inclusions are taken, which has been reported. */
  readonly isFull: () => boolean
  /** All files but those given to `parse`, sorted. */
  readonly includedFiles: () => readonly string[]
}

export function createFileLoader(
  include: ReadInclude | undefined,
  maxLength: number = MAX_YAML_LENGTH,
  problems: DiagnosticCollector,
): FileLoader {
  const files = new Set<string>()
  let inclusions = 0
  let characters = 0

  /** `chain` holds the files that are open around this one. */
  const parseWithin = ({ file, text }: SourceFile, chain: readonly string[]): YamlNode | null => {
    const inner = [...chain, file]
    const { root, diagnostics } = readYaml(text, { file, maxLength, resolveInclude: (path, at) => openWithin(path, at, inner) })
    for (const diagnostic of diagnostics) problems.diagnostics.push(diagnostic)
    return root
  }

  const openWithin = (path: string, at: SourcePosition, chain: readonly string[]): YamlNode | null => {
    const refuse = (message: string): null => {
      problems.report('include-invalid', at, '', message)
      return null
    }
    if (!include) return refuse(`${quoted(path)} cannot be included: no other files are at hand here`)
    if (path === '') return refuse('the name of the file to include is empty')
    if (chain.length > MAX_INCLUDE_DEPTH) return refuse(`files include one another more than ${MAX_INCLUDE_DEPTH} deep`)
    inclusions += 1
    // One fault, however many are beyond.
    if (inclusions > MAX_INCLUDES + 1) return null
    if (inclusions > MAX_INCLUDES) return refuse(`the definition includes files more than ${MAX_INCLUDES} times`)
    const found = include(path, at.file)
    if (!found.ok) return refuse(`${quoted(path)} cannot be included: ${found.message}`)
    if (chain.includes(found.value.file)) return refuse(`${quoted(path)} includes itself: ${[...chain, found.value.file].join(', ')}`)
    characters += found.value.text.length
    if (characters > TOTAL_FILES * maxLength)
      return refuse(`the files included have more than ${TOTAL_FILES * maxLength} characters in all`)
    files.add(found.value.file)
    return parseWithin(found.value, chain)
  }

  return {
    parse: (source) => parseWithin(source, []),
    include: (path, at) => openWithin(path, at, [at.file]),
    isFull: () => inclusions > MAX_INCLUDES,
    includedFiles: () => [...files].sort(),
  }
}

/** A file that a definition draws in. `file` identifies it (the same file always by the same text) and stands in positions. */
export interface SourceFile {
  readonly file: string
  readonly text: string
}

/** Reads a file named in `include:` or `!include`: `path` as it is written, `from` the file that names it. Does the I/O for a pure parser. */
export type ReadInclude = (path: string, from: string) => Result<SourceFile>
