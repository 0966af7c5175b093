import type { YamlNode, YamlScalar } from '../yaml/yaml-node.ts'
import { quoted } from './collect-diagnostics.ts'
import type { ParseState } from './parse-state.ts'
import { didYouMean } from './suggest.ts'

/** Whose value is read: for messages, and for names that the zone completes. */
export interface ValueContext {
  readonly type: string
  /** Owner and type as messages name them. */
  readonly subject: string
  readonly reading: ParseState
}

/** Reports a key that a value does not have. octoDNS passes over such keys, so in its layout it is a warning. */
export function reportUnknownKey(
  key: YamlScalar,
  keys: readonly string[],
  { reading: { problems, invalid, layout }, subject, type }: ValueContext,
): void {
  if (invalid.has(key)) return
  const severity = layout === 'octodns' ? 'warning' : 'error'
  const hint = didYouMean(key.text, keys) ?? `A value of ${type} has ${keys.join(', ')}.`
  problems.report('schema-unknown-key', key.at, subject, `${quoted(key.text)} is not a key of a ${type} value`, { severity, hint })
}

/** Whether YAML 1.1 reads the number as octal and YAML 1.2 as decimal. */
export const isOctalLike = (node: YamlScalar): boolean => node.plain && /^[-+]?0[0-9_]+$/.test(node.text)

/** The kind of a node as messages name it. */
export const kindName = (node: YamlNode): string =>
  node.kind === 'sequence' ? 'list' : node.kind === 'mapping' ? 'mapping' : 'single value'
