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
