import { type Event, parseEvents, YAMLException } from 'js-yaml'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { buildTree, lineIndex, type ResolveInclude } from './build-tree.ts'
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

/** What is wrong where the text is not YAML, in words for somebody who edits zones. */
function syntaxProblem(text: string, error: YAMLException, file: string): Diagnostic {
  const offset = Math.min(error.mark?.position ?? 0, text.length)
  const place = lineIndex(text, file)
  const at = place(offset)
  if (error.reason.includes('maxDepth')) {
    return { severity: 'error', code: 'yaml-too-deep', message: 'collections are nested more deeply than a definition needs', at }
  }
  const conflict = /^<{7}(?: .*)?$/m.exec(text)
  if (conflict && /^>{7}(?: .*)?$/m.test(text)) {
    return {
      severity: 'error',
      code: 'yaml-syntax',
      message: 'a conflict of a merge is not resolved',
      at: place(conflict.index),
      hint: 'Keep what is meant of both sides, and take out the lines that begin with <<<<<<<, ======= and >>>>>>>.',
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
      hint: "An asterisk begins an alias in YAML: quote a name or value that starts with it, such as '*' or '*.dev'.",
    }
  }
  if (value?.[1] !== undefined) return unquoted(value[1])
  const within = text[offset] ?? ''
  if ('@`%'.includes(within) && within !== '' && reason.includes('flow collection')) return unquoted(within)
  if (/[{[,].*\$\{/.test(line)) return { message: reason, hint: 'Between { } or [ ] a value with ${ in it is quoted.' }
  if (reason.includes('tab characters') || /^ *\t/.test(line)) {
    return { message: 'a tab cannot indent YAML', hint: 'Use spaces.' }
  }
  if (offset >= text.trimEnd().length && (reason.includes('deficient indentation') || reason.includes('unexpected end'))) {
    return { message: 'the file ends inside a quoted string or a bracket', hint: 'Close it, or look for a stray quote further up.' }
  }
  if (reason.includes('deficient indentation')) {
    return {
      message: 'a quoted string or a bracket further up is not closed',
      hint: 'Close it; a number sign behind a blank begins a comment, so that a value with one is quoted.',
    }
  }
  const isIndentation = reason.includes('bad indentation')
  if ((isIndentation && /^[^#'"{[]*: [^'"[{#]*: /.test(line)) || (within === ':' && reason.includes('missed comma'))) {
    return { message: 'a plain value cannot hold a colon and a space', hint: 'Quote the value.' }
  }
  const joined = /^\s*(?:- +)*(\w+):(\w\S*)$/.exec(isIndentation ? lineBefore(text, offset) : '')
  if (joined) return { message: 'a key is followed by a colon and a space', hint: `Write "${joined[1]}: ${joined[2]}" on the line above.` }
  if (isIndentation) {
    return {
      message: 'the line is not indented like those it belongs with',
      hint: 'The entries of one mapping or list begin in the same column.',
    }
  }
  return { message: reason }
}

const unquoted = (character: string): { message: string; hint: string } => ({
  message: `a value cannot begin with ${character} unless it is quoted`,
  hint: character === '@' ? "Write '@' in quotes." : `Write '${character}…' in quotes.`,
})

/** The line above that of the offset that is not blank. */
function lineBefore(text: string, offset: number): string {
  const above = text.slice(0, text.lastIndexOf('\n', offset - 1) + 1).trimEnd()
  return above.slice(above.lastIndexOf('\n') + 1)
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  return text.slice(start, Math.min(end === -1 ? text.length : end, start + 500))
}
