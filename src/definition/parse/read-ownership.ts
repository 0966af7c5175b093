/** Parses `owner` and `expires` of a record or zone. */
import { type Ownership, ownershipOf, parseFullDate, parseOwner } from '../../dns/ownership.ts'
import type { Result } from '../../dns/result.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import type { DiagnosticCollector } from './parse-state.ts'

/** Reads the two keys. An invalid one is reported and left out. */
export function readOwnership(
  node: YamlMapping,
  subject: string,
  { invalid, problems }: { readonly invalid: ReadonlySet<YamlNode>; readonly problems: DiagnosticCollector },
): Ownership {
  const read = <T>(key: string, parse: (text: string) => Result<T>): T | undefined => {
    const value = lookUp(node, key)
    if (value === undefined || invalid.has(value) || isBroken(value)) return undefined
    const parsed: Result<T> = value.kind === 'scalar' && !isNull(value) ? parse(value.text) : { ok: false, message: 'must be text' }
    if (parsed.ok) return parsed.value
    problems.report('schema-value', value.at, subject, `${key}: ${parsed.message}`)
    return undefined
  }
  const [owner, expires] = [read('owner', parseOwner), read('expires', parseFullDate)]
  return ownershipOf({ owner, expires })
}
