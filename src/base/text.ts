/** Texts: their order, excerpts for messages, and escapes for JSON and HTML. */

/** The text, cut off after `length` characters. */
export const excerpt = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)

/** The text in quotation marks, cut off after 60 characters. */
export const quoted = (text: string): string => JSON.stringify(excerpt(text, 60))

/** Orders texts by their UTF-16 code units, the same on every machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

// Texts from outside are valid Unicode. Half a surrogate pair, which only an escape can make, would be written as U+FFFD: as another text.

export const isUnicode = (text: string): boolean => !/\p{Surrogate}/u.test(text)

/** Like `JSON.parse`. Also throws a `SyntaxError` if a text or key is not valid Unicode (RFC 8259 section 8.2). */
export const parseJson = (text: string): unknown => JSON.parse(text, /\\u[dD][89a-fA-F]/.test(text) ? unicodeOnly : undefined)

/** Whether a value of JSON is an object, and neither a list nor null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function unicodeOnly(key: string, value: unknown): unknown {
  if (!isUnicode(key) || (typeof value === 'string' && !isUnicode(value))) throw new SyntaxError('a text is not valid Unicode')
  return value
}

/** A document as indented JSON. */
export const jsonText = (document: unknown): string => `${escapeJson(JSON.stringify(document, null, 2))}\n`

/** Escapes the characters in JSON that are valid there but could control a terminal or an editor. */
export const escapeJson = (json: string): string =>
  json.replace(/[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, escaped)

const escaped = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for an HTML element only. Long texts are shorter with their quotes. */
export const escapeHtmlText = (text: string): string => text.replace(/[&<>]/g, (c) => ENTITIES[c] as string)

/** Escapes text for an HTML element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c] as string)
