/** A document as indented JSON. What a terminal or an editor could take for control is escaped too, which JSON lets stand. */
export const jsonText = (document: unknown): string =>
  `${JSON.stringify(document, null, 2).replace(/[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, escaped)}\n`

const escaped = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
