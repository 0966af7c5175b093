import type { Token } from '../../dns/rdata/field.ts'
import { failure, ok, type Result } from '../../dns/result.ts'

const TOKEN = /\s*(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|((?:="(?:[^"\\]|\\.)*"|[^\s"\\]|\\.)+))/sy

/** The tokens of rdata in presentation form (RFC 1035 section 5.1): words and quoted strings, on one line and without comments. */
export function presentationTokens(text: string): Result<Token[]> {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  const end = text.trimEnd().length
  for (let at = 0; at < end; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(text)
    if (match === null)
      return failure(`the text from character ${at + 1} on is not rdata as in a zone file: a quote or a backslash is left open`)
    const [, quoted, word] = match
    tokens.push(quoted === undefined ? { text: word ?? '', quoted: false } : { text: quoted, quoted: true })
  }
  return ok(tokens)
}
