import { type Event, parseEvents, YAMLException } from 'js-yaml'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { buildTree, lineIndex, type ResolveInclude } from './build-tree.ts'
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
    if (error instanceof YAMLException) return failed(syntaxProblem(text, error, file))
    throw error
  }
  if (events.length === 0) return { root: { kind: 'scalar', at: start, text: '', plain: true }, diagnostics: [] }
  return buildTree(text, events, lineIndex(text, file), options.resolveInclude)
}

const failed = (diagnostic: Diagnostic): YamlDocument => ({ root: null, diagnostics: [diagnostic] })

/** Explains a syntax error in words for people who edit zones. */
function syntaxProblem(text: string, error: YAMLException, file: string): Diagnostic {
  const offset = Math.min(error.mark?.position ?? 0, text.length)
  const positionOf = lineIndex(text, file)
  const at = positionOf(offset)
  if (error.reason.includes('maxDepth')) {
    return { severity: 'error', code: 'yaml-too-deep', message: `mappings and lists are nested more than ${MAX_YAML_DEPTH} deep`, at }
  }
  const conflict = /^<{7}(?: .*)?$/m.exec(text)
  if (conflict && /^>{7}(?: .*)?$/m.test(text)) {
    return {
      severity: 'error',
      code: 'yaml-syntax',
      message: 'the file has an unresolved merge conflict',
      at: positionOf(conflict.index),
      hint: 'Keep the right lines, and remove those that begin with <<<<<<<, ======= and >>>>>>>.',
    }
  }
  const { message, hint } = explain(text, offset, error.reason)
  return { severity: 'error', code: 'yaml-syntax', message, at, hint }
}

function explain(text: string, offset: number, reason: string): { message: string; hint?: string } {
  const line = lineAround(text, offset)
  const value = /^\s*(?:- +)*(?:(?:[^\s:'"][^:]*|'[^']*'|"[^"]*"): +)?([@`%*])/.exec(line)
  if (value?.[1] === '*') {
    return {
      message: reason,
      hint: "An asterisk starts an alias in YAML: quote a name or value that begins with it, such as '*' or '*.dev'.",
    }
  }
  if (value?.[1] !== undefined) return unquoted(value[1])
  const within = text[offset] ?? ''
  if ('@`%'.includes(within) && within !== '' && reason.includes('flow collection')) return unquoted(within)
  if (/[{[,].*\$\{/.test(line)) return { message: reason, hint: 'Quote a value that contains a variable inside { } or [ ].' }
  if (reason.includes('tab characters') || /^ *\t/.test(line)) {
    return { message: 'YAML cannot be indented with tabs', hint: 'Use spaces.' }
  }
  if (offset >= text.trimEnd().length && (reason.includes('deficient indentation') || reason.includes('unexpected end'))) {
    return { message: 'the file ends inside a quoted string or a bracket', hint: 'Close it, or look for a stray quote above.' }
  }
  if (reason.includes('deficient indentation')) {
    return {
      message: 'a quoted string or a bracket above is not closed',
      hint: 'Close it. A number sign after a space starts a comment: quote a value that contains one.',
    }
  }
  const isIndentation = reason.includes('bad indentation')
  if ((isIndentation && /^[^#'"{[]*: [^'"[{#]*: /.test(line)) || (within === ':' && reason.includes('missed comma'))) {
    return { message: 'a value without quotes cannot contain a colon and a space', hint: 'Quote the value.' }
  }
  const joined = /^\s*(?:- +)*(\w+):(\w\S*)$/.exec(isIndentation ? lineBefore(text, offset) : '')
  if (joined)
    return { message: 'a space is missing after the colon of a key', hint: `Write "${joined[1]}: ${joined[2]}" on the line above.` }
  if (isIndentation) {
    return {
      message: 'the indentation of the line does not match the lines above',
      hint: 'Start all entries of a mapping or list in the same column.',
    }
  }
  return { message: reason }
}

const unquoted = (character: string): { message: string; hint: string } => ({
  message: `a value that begins with ${character} must be quoted`,
  hint: character === '@' ? "Write '@' in quotes." : `Write '${character}…' in quotes.`,
})

/** The last line above the offset that is not blank. */
function lineBefore(text: string, offset: number): string {
  const above = text.slice(0, text.lastIndexOf('\n', offset - 1) + 1).trimEnd()
  return above.slice(above.lastIndexOf('\n') + 1)
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  return text.slice(start, Math.min(end === -1 ? text.length : end, start + 500))
}
