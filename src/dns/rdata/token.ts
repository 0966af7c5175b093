/** A token of zone-file text. A quoted one has lost its quotes; escapes are not yet resolved. */
export interface Token {
  readonly text: string
  readonly quoted: boolean
}

/** The text of several tokens in one piece, as hexadecimal and base64 may be cut anywhere. */
export const joinTokens = (tokens: readonly Token[]): string =>
  tokens.length === 1 ? (tokens[0] as Token).text : tokens.map((token) => token.text).join('')

/** A token as messages show it: short, in quotes. */
export const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
