/** Parses a file with its `!include`s. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import { hasLookalikes, lookalikeWarnings } from '../../base/lookalikes.ts'
import type { Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { MAX_YAML_LENGTH, readYaml } from '../yaml/read-yaml.ts'
import type { YamlNode } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector } from './parse-state.ts'

/** Maximum nesting of included files, and maximum number of inclusions per definition. */
const MAX_INCLUDE_DEPTH = 8
export const MAX_INCLUDES = 1000

/** Maximum length of all inclusions in characters, as a multiple of the limit for one file. */
const TOTAL_FILES = 4

/** Parses the files of one definition, follows `!include`, and limits the number and size of inclusions. */
export interface FileLoader {
  /** The tree of a file; null if it is not YAML, which is reported. */
  readonly parse: (source: SourceFile) => YamlNode | null
  /** The tree of an included file; null if it cannot be included, which is reported at `at`. */
  readonly include: (path: string, at: SourcePosition) => YamlNode | null
  /** Whether the limit of inclusions is exceeded, which has been reported. */
  readonly isFull: () => boolean
  /** The included files, sorted. */
  readonly includedFiles: () => readonly string[]
}

/** The tree of an included file, which every further inclusion shares, and what it and its own includes add to the counts. */
interface Inclusion {
  readonly root: YamlNode | null
  readonly inclusions: number
  readonly characters: number
  /** How deep files are nested in it; 1 without includes. */
  readonly depth: number
}

/** Keys whose values are texts for people. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['comment', 'description', 'owner', 'reason', 'tags'])

export function createFileLoader(
  include: ReadInclude | undefined,
  maxLength: number = MAX_YAML_LENGTH,
  problems: DiagnosticCollector,
): FileLoader {
  const read = new Map<string, Inclusion>()
  const searched = new Set<YamlNode>()
  let inclusions = 0
  let characters = 0
  let depth = 0

  /** `chain`: the files that include this one, outermost first. */
  const parseWithin = ({ file, text }: SourceFile, chain: readonly string[]): YamlNode | null => {
    const inner = [...chain, file]
    const { root, diagnostics } = readYaml(text, { file, maxLength, resolveInclude: (path, at) => openWithin(path, at, inner) })
    for (const diagnostic of diagnostics) problems.diagnostics.push(diagnostic)
    if (root !== null && hasLookalikes(text)) warnOfLookalikes(root)
    return root
  }

  const warnOfLookalikes = (node: YamlNode): void => {
    // Aliases and includes share nodes.
    if (searched.has(node) || problems.isFull()) return
    searched.add(node)
    if (node.kind === 'scalar') problems.diagnostics.push(...lookalikeWarnings(node.text, node.at))
    else if (node.kind === 'sequence') node.items.forEach(warnOfLookalikes)
    else
      for (const { key, value } of node.entries) {
        warnOfLookalikes(key)
        if (!FOR_PEOPLE.has(key.text)) warnOfLookalikes(value)
      }
  }

  const openWithin = (path: string, at: SourcePosition, chain: readonly string[]): YamlNode | null => {
    const refuse = (message: string): null => {
      problems.report('include-invalid', at, '', message)
      return null
    }
    if (!include) return refuse(`${quoted(path)} cannot be included here: only one file is read`)
    if (path === '') return refuse('the include has an empty file name')
    // Reported already.
    if (inclusions > MAX_INCLUDES) return null
    const found = include(path, at.file)
    const known = found.ok ? read.get(found.value.file) : undefined
    const before = { inclusions, characters, depth }
    inclusions += known?.inclusions ?? 1
    if (inclusions > MAX_INCLUDES) return refuse(`the definition has more than ${MAX_INCLUDES} includes`)
    if (chain.length + (known?.depth ?? 1) > MAX_INCLUDE_DEPTH + 1)
      return refuse(`included files are nested more than ${MAX_INCLUDE_DEPTH} deep`)
    if (!found.ok) return refuse(`${quoted(path)} cannot be included: ${found.message}`)
    const { file, text } = found.value
    if (chain.includes(file)) return refuse(`${quoted(path)} includes itself: ${[...chain, file].join(', ')}`)
    characters += known?.characters ?? text.length
    if (characters > TOTAL_FILES * maxLength)
      return refuse(`the included files have more than ${TOTAL_FILES * maxLength} characters in total`)
    if (known !== undefined) {
      depth = Math.max(depth, chain.length + known.depth)
      return known.root
    }
    depth = chain.length + 1
    const root = parseWithin(found.value, chain)
    read.set(file, {
      root,
      inclusions: inclusions - before.inclusions,
      characters: characters - before.characters,
      depth: depth - chain.length,
    })
    depth = Math.max(before.depth, depth)
    return root
  }

  return {
    parse: (source) => parseWithin(source, []),
    include: (path, at) => openWithin(path, at, [at.file]),
    isFull: () => inclusions > MAX_INCLUDES,
    includedFiles: () => [...read.keys()].sort(),
  }
}

/** A file of a definition. `file` identifies it uniquely and appears in positions. */
export interface SourceFile {
  readonly file: string
  readonly text: string
}

/** Reads a file named in `include:` or `!include`. `path` is as written, `from` is the including file. */
export type ReadInclude = (path: string, from: string) => Result<SourceFile>
