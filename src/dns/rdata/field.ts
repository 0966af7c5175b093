import { failure, ok, type Result } from '../../base/result.ts'
import type { DomainName } from '../domain-name.ts'
import type { WireReader } from '../wire/reader.ts'
import type { WireWriter } from '../wire/writer.ts'
/** A token of zone-file text, without its quotes and with its escapes. */
export interface Token {
  readonly text: string
  readonly quoted: boolean
}

/** The tokens joined: hexadecimal and base64 may be split anywhere. */
export const joinTokens = (tokens: readonly Token[]): string =>
  tokens.length === 1 ? (tokens[0] as Token).text : tokens.map((token) => token.text).join('')

/**
 * The wire form of one kind of rdata field. `encode` gets the field's canonical text: one token, or all remaining tokens for a kind
 * that takes the rest; `compress` says whether a name may be written as a pointer. `decode` returns canonical text. Its reader ends
 * at the end of the rdata.
 */
export interface FieldCodec {
  readonly encode: (writer: WireWriter, tokens: readonly string[], compress: boolean) => void
  readonly decode: (reader: WireReader) => string
}

/** Parses a name in rdata. A zone file completes names with its origin; a definition has other rules. */
export type NameReader = (text: string) => Result<DomainName>

/** The fields joined with spaces, or the first failure. */
export function joinFields(...fields: readonly Result<string>[]): Result<string> {
  const texts: string[] = []
  for (const field of fields) {
    if (!field.ok) return field
    texts.push(field.value)
  }
  return ok(texts.join(' '))
}

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
