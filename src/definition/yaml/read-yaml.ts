/** Reads YAML into a tree of nodes with positions. */
import { type Event, parseEvents, YAMLException } from 'js-yaml'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { buildTree, lineIndex, type ResolveInclude } from './build-tree.ts'
import { syntaxProblem } from './syntax-problem.ts'
import type { YamlNode } from './yaml-node.ts'

/** The default limit of characters per file. */
export const MAX_YAML_LENGTH = 10 * 1024 * 1024

/** The deepest nesting of collections. Definitions need about six levels, octoDNS's dynamic records eight. */
export const MAX_YAML_DEPTH = 24

export interface YamlOptions {
  /** The name of the file in positions. */
  readonly file: string
  readonly maxLength?: number | undefined
  /** Returns the content for `!include PATH`; if absent, the tag is an error. */
  readonly resolveInclude?: ResolveInclude | undefined
}

export interface YamlDocument {
  /** Null if the text is not YAML. An empty document is an empty scalar. */
  readonly root: YamlNode | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads a YAML 1.2 document, with the merges (`<<`) of YAML 1.1. Size, depth and the expansion of aliases are limited. */
export function readYaml(text: string, options: YamlOptions): YamlDocument {
  const { file, maxLength = MAX_YAML_LENGTH } = options
  const start: SourcePosition = { file, line: 1, column: 1 }
  if (text.length > maxLength) {
    const message = `the file has ${text.length} characters; at most ${maxLength} are allowed`
    return failed({ severity: 'error', code: 'file-too-large', message, at: start })
  }
  let events: Event[]
  try {
    events = parseEvents(text, { maxDepth: MAX_YAML_DEPTH })
  } catch (error) {
    if (error instanceof YAMLException) return failed(syntaxProblem(text, error, file, MAX_YAML_DEPTH))
    throw error
  }
  if (events.length === 0) return { root: { kind: 'scalar', at: start, text: '', plain: true }, diagnostics: [] }
  return buildTree(text, events, lineIndex(text, file), options.resolveInclude)
}

/** A line that is neither blank, a comment nor only a document marker. */
const CONTENT = /^(?!---[ \t]*(?:#.*)?$|\.\.\.[ \t]*(?:#.*)?$)[ \t\ufeff]*[^\s#\ufeff]/m

/** Whether a YAML file has no content. `{}` is content: a mapping without keys. */
export const isBlankYaml = (text: string): boolean => !CONTENT.test(text)

const failed = (diagnostic: Diagnostic): YamlDocument => ({ root: null, diagnostics: [diagnostic] })
