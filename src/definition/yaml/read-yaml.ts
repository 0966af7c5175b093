/** Reads YAML into a tree of nodes with positions. */
import { type Event, parseEvents, YAMLException } from 'js-yaml'
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { lookalikesIn } from '../../base/lookalikes.ts'
import { quoted as inQuotes } from '../../base/text.ts'
import { buildTree, lineIndex, type ResolveInclude } from './build-tree.ts'
import { readSimpleYaml } from './simple-yaml.ts'
import type { YamlNode } from './yaml-node.ts'

/** The default limit of characters per file. */
export const MAX_YAML_LENGTH = 10 * 1024 * 1024

/** The deepest nesting of collections. Definitions need about six levels, octoDNS's dynamic records eight. */
const MAX_YAML_DEPTH = 24

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
  const simple = readSimpleYaml(text, file)
  if (simple !== null) return { root: simple, diagnostics: [] }
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

/** Explains a syntax error in words for people who edit zones. */
function syntaxProblem(text: string, error: YAMLException, file: string, maxDepth: number): Diagnostic {
  const offset = Math.min(error.mark?.position ?? 0, text.length)
  const positionOf = lineIndex(text, file)
  const at = positionOf(offset)
  if (error.reason.includes('maxDepth')) {
    return { severity: 'error', code: 'yaml-too-deep', message: `keys and lists are nested more than ${maxDepth} deep`, at }
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
  const { message, hint = '', opened } = explain(text, offset, error.reason)
  const odd = lookalikesIn(`${lineBefore(text, offset)}\n${lineAround(text, offset)}`.replace(/(^|\s)#.*/g, ''))
  const hints = odd === '' ? hint : `Type these characters again: ${odd}. ${hint}`
  return {
    severity: 'error',
    code: 'yaml-syntax',
    message,
    at: opened === undefined ? at : positionOf(opened),
    hint: hints.trim() || undefined,
  }
}

interface Explanation {
  readonly message: string
  readonly hint?: string
  /** The offset of the cause, if it is not where the parser stopped. */
  readonly opened?: number
}

function explain(text: string, offset: number, reason: string): Explanation {
  const line = lineAround(text, offset)
  const value = /^\s*(?:- +)*(?:(?:[^\s:'"][^:]*|'[^']*'|"[^"]*"): +)?([@`%*])/.exec(line)
  if (value?.[1] === '*') {
    const message = 'a name or value that begins with * must be quoted'
    return { message, hint: "An asterisk starts an alias in YAML: write '*' or '*.dev' in quotes." }
  }
  if (/escape sequence|hexadecimal/.test(reason)) {
    const message = 'a backslash in double quotes begins an escape, and YAML does not have this one'
    return { message, hint: 'Use single quotes, in which a backslash is itself, or write \\\\ for it.' }
  }
  if (value?.[1] !== undefined) return unquoted(value[1])
  const within = text[offset] ?? ''
  if ('@`%'.includes(within) && within !== '' && reason.includes('flow collection')) return unquoted(within)
  if (/[{[,].*\$\{/.test(line)) return { message: reason, hint: 'Quote a value that contains a variable inside { } or [ ].' }
  if (reason.includes('tab characters') || /^ *\t/.test(line)) {
    return { message: 'YAML cannot be indented with tabs', hint: 'Use spaces.' }
  }
  const unclosed = explainUnclosed(text, offset)
  if (unclosed !== null) return unclosed
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
      hint: 'Start all keys or list items that belong together in the same column.',
    }
  }
  if (/implicit key|block mapping entry/.test(reason)) {
    const above = lineBefore(text, offset).trimStart()
    const message = `${inQuotes(above)} is neither a key with its value nor part of the value above`
    return { message, hint: 'Write "key: value", or indent the continued value.', opened: text.lastIndexOf(above, offset - 1) }
  }
  return { message: reason }
}

const COMMENT_HINT = 'A number sign after a space starts a comment: quote a value that contains one.'

/** Explains an error after a quote or bracket that is not closed, or is closed too late or too early; null if it has another cause. */
function explainUnclosed(text: string, offset: number): Explanation | null {
  const { open, quoted } = scanOpen(text, offset)
  if (quoted !== null && !text.slice(quoted.end, offset).includes('\n')) {
    const isMultiline = text.slice(quoted.start, quoted.end).includes('\n')
    if (isMultiline)
      return { message: 'the quoted string that begins here has no closing quote on its line', hint: 'Close it.', opened: quoted.start }
    if (quoted.end === offset - 1 && /[\p{L}\p{N}]/u.test(text[offset] ?? '')) {
      const hint =
        text[quoted.end] === "'"
          ? "Write '' for an apostrophe in single quotes, or use double quotes."
          : 'Write \\" for a quote in double quotes, or use single quotes.'
      return { message: 'the quote ends the quoted string, but more text follows', hint, opened: quoted.end }
    }
  }
  if (open === null) return null
  const character = text[open] ?? ''
  const end = text.indexOf('\n', open)
  const line = text.slice(open, end === -1 ? text.length : end)
  if (character === '"' || character === "'")
    return { message: 'the quoted string that begins here is not closed', hint: `Write ${character} where it ends.`, opened: open }
  const closing = character === '[' ? ']' : '}'
  const isClosing = text[offset] === '}' || text[offset] === ']'
  if (isClosing ? text[offset] === closing : !EARLY_END.test(text.slice(offset, offset + 200)) && line.includes(closing)) return null
  return {
    message: `the bracket ${character} that opens here is not closed`,
    hint: / #/.test(line) ? `Close it with ${closing}. ${COMMENT_HINT}` : `Close it with ${closing}.`,
    opened: open,
  }
}

/** The end of the text, or the next key of a block mapping. */
const EARLY_END = /^\s*$|^[\w.*@'"-]+:(?:\s|$)/

interface OpenText {
  /** The offset of the quote or the innermost bracket that is open; null if there is none. */
  readonly open: number | null
  /** The last quoted string that ends before the offset. */
  readonly quoted: { readonly start: number; readonly end: number } | null
}

/** Scans YAML up to an offset for quotes and brackets. It knows comments and block scalars, and needs no valid text. */
function scanOpen(text: string, offset: number): OpenText {
  const brackets: number[] = []
  let quoted: OpenText['quoted'] = null
  let startsToken = true
  let at = 0
  while (at < offset) {
    const c = text[at] as string
    const next = text[at + 1] ?? '\n'
    if (c === '\n') startsToken = true
    else if (c === '#' && (at === 0 || /\s/.test(text[at - 1] as string))) at = endOfLine(text, at) - 1
    else if (startsToken && (c === '"' || c === "'")) {
      const end = endOfQuoted(text, at)
      if (end === -1 || end >= offset) return { open: at, quoted }
      quoted = { start: at, end }
      at = end
      startsToken = false
    } else if ((c === '[' || c === '{') && (startsToken || brackets.length > 0)) {
      brackets.push(at)
      startsToken = true
    } else if ((c === ']' || c === '}') && brackets.length > 0) {
      brackets.pop()
      startsToken = false
    } else if (startsToken && (c === '|' || c === '>') && brackets.length === 0) at = endOfBlock(text, at) - 1
    else if (startsToken && (c === '&' || c === '!')) while (/\S/.test(text[at + 1] ?? ' ')) at += 1
    else if ((c === ',' && brackets.length > 0) || (c === ':' && (/\s/.test(next) || text[at - 1] === '"' || text[at - 1] === "'")))
      startsToken = true
    else if (/\S/.test(c) && !(startsToken && (c === '-' || c === '?') && /\s/.test(next))) startsToken = false
    at += 1
  }
  return { open: brackets.at(-1) ?? null, quoted }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** The offset of the closing quote; -1 if there is none. */
function endOfQuoted(text: string, start: number): number {
  const quote = text[start] as string
  for (let at = start + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1
    else if (text[at] === quote) {
      if (quote === '"' || text[at + 1] !== quote) return at
      at += 1
    }
  }
  return -1
}

/** The end of the last line of a block scalar: its lines are blank or indented more than the line of its header. */
function endOfBlock(text: string, header: number): number {
  const lineStart = text.lastIndexOf('\n', header) + 1
  const indentation = /^ */.exec(text.slice(lineStart, header))?.[0].length ?? 0
  let end = endOfLine(text, header)
  while (end < text.length) {
    const nextEnd = endOfLine(text, end + 1)
    const line = text.slice(end + 1, nextEnd)
    if (line.trim() !== '' && line.search(/[^ ]/) <= indentation) break
    end = nextEnd
  }
  return end
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
