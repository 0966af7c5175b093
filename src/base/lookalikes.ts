/** Characters that word processors and web pages put in place of ASCII ones. */
import type { Diagnostic, SourcePosition } from './diagnostic.ts'
import { quoted } from './text.ts'

const NAMES: ReadonlyMap<string, string> = new Map(
  (
    '\u00a0non-breaking space|\u00adsoft hyphen|\u200bzero-width space|\u202fnarrow non-breaking space|\u3000ideographic space|\ufeffbyte order mark|' +
    '\u2010hyphen|\u2011non-breaking hyphen|\u2012figure dash|\u2013en dash|\u2014em dash|\u2212minus sign|' +
    '\u2018left single quotation mark|\u2019right single quotation mark|\u201alow single quotation mark|' +
    '\u201cleft double quotation mark|\u201dright double quotation mark|\u201elow double quotation mark'
  )
    .split('|')
    .map((entry) => [entry.charAt(0), `${entry.slice(1)} (U+${entry.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()})`]),
)

/** Any key of `NAMES`. */
const ANY = /[\u00a0\u00ad\u200b\u2010-\u2014\u2018-\u201a\u201c-\u201e\u202f\u2212\u3000\ufeff]/

export const hasLookalikes = (text: string): boolean => ANY.test(text)

/** The names of such characters in a text: `en dash (U+2013)`; empty if it has none. */
export const lookalikesIn = (text: string): string => [...new Set(text)].flatMap((c) => NAMES.get(c) ?? []).join(', ')

/** A warning if a text has such characters. */
export function lookalikeWarnings(text: string, at: SourcePosition): Diagnostic[] {
  if (!hasLookalikes(text)) return []
  const message = `${quoted(text)} has characters that only look like ASCII: ${lookalikesIn(text)}`
  return [{ severity: 'warning', code: 'character-lookalike', message, at, hint: 'type them again, unless the text is meant so' }]
}
