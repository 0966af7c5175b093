import { type Event, parseEvents, YAMLException } from 'js-yaml'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { buildTree, type ResolveInclude } from './build-tree.ts'
import { lineIndex } from './line-index.ts'
import { syntaxProblem } from './syntax-problem.ts'
import type { YamlNode } from './yaml-node.ts'

/** Characters one file may have unless the caller says otherwise. */
export const MAX_YAML_LENGTH = 10 * 1024 * 1024

/** Collections that may stand in one another. Definitions need about six; octoDNS's dynamic records eight. */
export const MAX_YAML_DEPTH = 24

export interface YamlOptions {
  /** The name of the file in positions. */
  readonly file: string
  readonly maxLength?: number | undefined
  /** What stands in place of `!include PATH`; without it the tag is refused. */
  readonly resolveInclude?: ResolveInclude | undefined
}

export interface YamlDocument {
  /** Null where the text is not YAML. An empty document is an empty scalar. */
  readonly root: YamlNode | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads one YAML 1.2 document, with merges (`<<`) as YAML 1.1 has them. Bounded in size, depth and what aliases expand to. */
export function readYaml(text: string, options: YamlOptions): YamlDocument {
  const { file, maxLength = MAX_YAML_LENGTH } = options
  const start: SourcePosition = { file, line: 1, column: 1 }
  if (text.length > maxLength) {
    const message = `the file has ${text.length} characters; a definition may have ${maxLength}`
    return failed({ severity: 'error', code: 'file-too-large', message, at: start })
  }
  let events: Event[]
  try {
    events = parseEvents(text, { maxDepth: MAX_YAML_DEPTH })
  } catch (error) {
    if (error instanceof YAMLException) return failed(syntaxProblem(text, error, file))
    throw error
  }
  if (events.length === 0) return { root: { kind: 'scalar', at: start, text: '', plain: true }, diagnostics: [] }
  return buildTree(text, events, lineIndex(text, file), options.resolveInclude)
}

const failed = (diagnostic: Diagnostic): YamlDocument => ({ root: null, diagnostics: [diagnostic] })
