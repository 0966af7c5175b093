import type { WireReader } from './reader.ts'
import type { WireWriter } from './writer.ts'

/**
 * One kind of rdata field on the wire. `encode` gets the field's canonical text: one token, or all that are left for a kind
 * that takes the rest. `decode` reads the field at the reader, whose end is the end of the rdata, and gives canonical text.
 * `compress` says whether a name may be written as a pointer.
 */
export interface FieldCodec {
  readonly encode: (writer: WireWriter, tokens: readonly string[], compress: boolean) => void
  readonly decode: (reader: WireReader) => string
}
