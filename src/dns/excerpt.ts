/** Text from outside, shortened for messages. */

/** The text, cut off after `length` characters. */
export const excerpt = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)

/** The text in quotation marks, cut off after 60 characters. */
export const quoted = (text: string): string => JSON.stringify(excerpt(text, 60))
