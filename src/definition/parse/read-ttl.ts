import { failure, type Result } from '../../dns/result.ts'
import { parseTtl, type Ttl } from '../../dns/ttl.ts'
import { isNull, type YamlNode } from '../yaml/yaml-node.ts'
import { isOctalLike, kindName } from './value-context.ts'

/** A TTL from a node: seconds, or text with units. */
export function parseTtlNode(node: YamlNode): Result<Ttl> {
  if (node.kind !== 'scalar') return failure(`a TTL is a number of seconds, not a ${kindName(node)}`)
  if (isNull(node)) return failure('the TTL is empty')
  if (isOctalLike(node)) return failure(`the TTL ${node.text} begins with a zero, which some readers of YAML take for octal`)
  return parseTtl(node.text)
}
