import type { YamlEntry, YamlNode, YamlScalar } from '../yaml/yaml-node.ts'
import type { Faults } from './faults.ts'
import { didYouMean } from './suggest.ts'

/** `${name}` stands for a variable, `$${` for `${`. */
const REFERENCE = /\$(\$\{)|\$\{([^{}]*)\}/g

/** The name of a variable. */
export const isVariableName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)

/**
 * A fragment with its variables filled in. They are filled into scalars of the tree, so that no value can change the structure
 * of the file. Variables without a value are reported; `used` gathers the names that occur.
 */
export function fillVariables(root: YamlNode, variables: ReadonlyMap<string, string>, used: Set<string>, faults: Faults): YamlNode {
  const filled = new Map<YamlNode, YamlNode>()
  const fill = (node: YamlNode): YamlNode => {
    if (node.kind === 'scalar') return fillScalar(node)
    let done = filled.get(node)
    if (done === undefined) {
      done = node.kind === 'sequence' ? { ...node, items: node.items.map(fill) } : { ...node, entries: node.entries.map(fillEntry) }
      filled.set(node, done)
    }
    return done
  }
  const fillEntry = ({ key, value }: YamlEntry): YamlEntry => ({ key: fillScalar(key), value: fill(value) })
  const fillScalar = (node: YamlScalar): YamlScalar => {
    if (!node.text.includes('${')) return node
    let whole = true
    const text = node.text.replace(REFERENCE, (reference, literal: string | undefined, name: string | undefined) => {
      if (literal !== undefined) return literal
      const value = variables.get(name ?? '')
      used.add(name ?? '')
      if (value !== undefined) return value
      const hint =
        didYouMean(name ?? '', variables.keys()) ?? 'Give it a value under `with:` of the include; write $${ for the characters themselves.'
      faults.report('variable-unknown', node.at, '', `the variable ${reference} has no value`, { hint })
      whole = false
      return reference
    })
    return whole ? { ...node, text } : { ...node, text, broken: true }
  }
  return fill(root)
}
