import { formatSvcParams, parseSvcParams, type SvcParam } from '../rdata/svc-params.ts'
import type { FieldCodec } from './field-codec.ts'
import { readOctets, readU16, remaining } from './reader.ts'
import { wireProblem } from './wire-problem.ts'
import { writeOctets, writeSized, writeU16 } from './writer.ts'

/** Service parameters: key, length and value of each, in the order of their keys (RFC 9460 section 2.2). */
export const SVC_PARAMS: FieldCodec = {
  encode: (writer, tokens) => {
    const params = parseSvcParams(tokens)
    if (!params.ok) throw new RangeError(`not canonical service parameters: ${tokens.join(' ')}`)
    for (const { key, value } of params.value) {
      writeU16(writer, key)
      writeSized(writer, () => writeOctets(writer, value))
    }
  },
  decode: (reader) => {
    const params: SvcParam[] = []
    while (remaining(reader) > 0) {
      const key = readU16(reader)
      const last = params.at(-1)
      if (last && key <= last.key) wireProblem('service parameters are not in the order of their keys (RFC 9460 section 2.2)')
      params.push({ key, value: readOctets(reader, readU16(reader)) })
    }
    const text = formatSvcParams(params)
    return text.ok ? text.value : wireProblem(`${text.message} (RFC 9460)`)
  },
}
