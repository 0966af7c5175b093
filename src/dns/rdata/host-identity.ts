import { failure, type Result } from '../result.ts'
import { joinFields, type NameReader, type Token } from './field.ts'
import { canonicalUnsigned } from './numbers.ts'
import { canonicalBase64, canonicalHex } from './octets.ts'

/** `ALGORITHM HIT KEY [RENDEZVOUS-SERVER…]` (RFC 8005 section 6). The key is one token, because names follow it. */
export function canonicalHostIdentity(tokens: readonly Token[], readName: NameReader): Result<string> {
  const [algorithm, hit, key, ...servers] = tokens
  if (!algorithm || !hit || !key) return failure('is ALGORITHM HIT KEY [RENDEZVOUS-SERVER…]')
  if (hit.text.length > 510) return failure('a HIT has at most 255 octets')
  return joinFields(
    canonicalUnsigned(algorithm.text, 'u8'),
    canonicalHex([hit]),
    canonicalBase64([key]),
    ...servers.map(({ text }) => readName(text)),
  )
}
