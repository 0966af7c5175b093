/** Texts from outside are valid Unicode. Half a surrogate pair, which only an escape can make, would be written as U+FFFD: as another text. */

export const isUnicode = (text: string): boolean => !/\p{Surrogate}/u.test(text)

/** Like `JSON.parse`. Also throws a `SyntaxError` if a text or key is not valid Unicode (RFC 8259 section 8.2). */
export const parseJson = (text: string): unknown => JSON.parse(text, /\\u[dD][89a-fA-F]/.test(text) ? unicodeOnly : undefined)

function unicodeOnly(key: string, value: unknown): unknown {
  if (!isUnicode(key) || (typeof value === 'string' && !isUnicode(value))) throw new SyntaxError('a text is not valid Unicode')
  return value
}
