import type { DomainName } from '../domain-name.ts'
import { ok, type Result } from '../result.ts'
import type { WireReader } from '../wire/reader.ts'
import type { WireWriter } from '../wire/writer.ts'
/** A token of zone-file text. A quoted one has lost its quotes; escapes are not yet resolved. */
export interface Token {
  readonly text: string
  readonly quoted: boolean
}

/** The text of several tokens in one piece, as hexadecimal and base64 may be cut anywhere. */
export const joinTokens = (tokens: readonly Token[]): string =>
  tokens.length === 1 ? (tokens[0] as Token).text : tokens.map((token) => token.text).join('')

/** A token as messages show it: short, in quotes. */
export const excerpt = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/**
 * One kind of rdata field on the wire. `encode` gets the field's canonical text: one token, or all that are left for a kind
 * that takes the rest. `decode` reads the field at the reader, whose end is the end of the rdata, and gives canonical text.
 * `compress` says whether a name may be written as a pointer.
 */
export interface FieldCodec {
  readonly encode: (writer: WireWriter, tokens: readonly string[], compress: boolean) => void
  readonly decode: (reader: WireReader) => string
}

/** How names in rdata are read: the zone file completes them with the origin, a definition has rules of its own. */
export type NameReader = (text: string) => Result<DomainName>

/** Fields with a space between, or the first fault. */
export function joinFields(...fields: readonly Result<string>[]): Result<string> {
  const texts: string[] = []
  for (const field of fields) {
    if (!field.ok) return field
    texts.push(field.value)
  }
  return ok(texts.join(' '))
}
