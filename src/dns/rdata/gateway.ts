import type { DomainName } from '../domain-name.ts'
import { parseIpv4, parseIpv6 } from '../ip-address.ts'
import { failure, ok, type Result } from '../result.ts'
import { canonicalUnsigned } from './numbers.ts'
import { canonicalBase64 } from './octets.ts'
import { shown, type Token } from './token.ts'

type ReadName = (text: string) => Result<DomainName>

/** `PRECEDENCE GATEWAY-TYPE ALGORITHM GATEWAY [KEY]` (RFC 4025 section 3.1). */
export function canonicalIpsecKey(tokens: readonly Token[], readName: ReadName): Result<string> {
  const [precedence, type, algorithm, gateway, ...key] = tokens
  if (!precedence || !type || !algorithm || !gateway) return failure('is PRECEDENCE GATEWAY-TYPE ALGORITHM GATEWAY [KEY]')
  const head = joinFields(
    canonicalUnsigned(precedence.text, 'u8'),
    canonicalUnsigned(type.text, 'u8'),
    canonicalUnsigned(algorithm.text, 'u8'),
    canonicalGateway(type.text, gateway.text, readName),
  )
  return key.length === 0 ? head : joinFields(head, canonicalBase64(key))
}

/** `PRECEDENCE D-BIT RELAY-TYPE RELAY` (RFC 8777 section 4.3). */
export function canonicalAmtRelay(tokens: readonly Token[], readName: ReadName): Result<string> {
  const [precedence, discovery, type, relay] = tokens
  if (!precedence || !discovery || !type || !relay || tokens.length > 4) return failure('is PRECEDENCE D-BIT RELAY-TYPE RELAY')
  return joinFields(
    canonicalUnsigned(precedence.text, 'u8'),
    /^0*[01]$/.test(discovery.text) ? ok(discovery.text.slice(-1)) : failure(`${shown(discovery.text)} is not 0 or 1`),
    canonicalUnsigned(type.text, 'u8'),
    canonicalGateway(type.text, relay.text, readName),
  )
}

/** A host in the form that its type says: none, IPv4, IPv6 or a name. */
function canonicalGateway(type: string, text: string, readName: ReadName): Result<string> {
  switch (Number(type)) {
    case 0:
      return text === '.' ? ok(text) : failure(`${shown(text)} stands where type 0 has a dot`)
    case 1:
      return parseIpv4(text)
    case 2:
      return parseIpv6(text)
    case 3:
      return readName(text)
    default:
      return failure(`${shown(type)} is not a type of gateway: 0 none, 1 IPv4, 2 IPv6, 3 a name`)
  }
}

/** Fields with a space between, or the first fault. */
export function joinFields(...fields: readonly Result<string>[]): Result<string> {
  const texts: string[] = []
  for (const field of fields) {
    if (!field.ok) return field
    texts.push(field.value)
  }
  return ok(texts.join(' '))
}
