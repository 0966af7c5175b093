import type { YAMLException } from 'js-yaml'
import type { Diagnostic } from '../../model/diagnostic.ts'
import { lineIndex } from './line-index.ts'

/** What is wrong where the text is not YAML, in words for somebody who edits zones. */
export function syntaxFault(text: string, error: YAMLException, file: string): Diagnostic {
  const offset = Math.min(error.mark?.position ?? 0, text.length)
  const at = lineIndex(text, file)(offset)
  if (error.reason.includes('maxDepth')) {
    return { severity: 'error', code: 'yaml-too-deep', message: 'collections are nested more deeply than a definition needs', at }
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
  if (value) return { message: `a value cannot begin with ${value[1]} unless it is quoted`, hint: `Write '${value[1]}…' in quotes.` }
  if (/[{[,].*\$\{/.test(line)) return { message: reason, hint: 'Between { } or [ ] a value with ${ in it is quoted.' }
  if (reason.includes('tab characters') || /^ *\t/.test(line)) {
    return { message: 'a tab cannot indent YAML', hint: 'Use spaces.' }
  }
  if (offset >= text.trimEnd().length && (reason.includes('deficient indentation') || reason.includes('unexpected end'))) {
    return { message: 'the file ends inside a quoted string or a bracket', hint: 'Close it, or look for a stray quote further up.' }
  }
  if (reason.includes('bad indentation') && /^[^#'"]*: [^'"[{#]*: /.test(line)) {
    return { message: 'a plain value cannot hold a colon and a space', hint: 'Quote the value.' }
  }
  return { message: reason }
}

function lineAround(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  return text.slice(start, Math.min(end === -1 ? text.length : end, start + 500))
}
