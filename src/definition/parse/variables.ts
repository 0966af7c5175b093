import { isNull, type YamlEntry, type YamlMapping, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, quoted } from './collect-diagnostics.ts'
import { didYouMean } from './suggest.ts'

/** `${name}` stands for a variable, `$${` for `${`. */
const REFERENCE = /\$(\$\{)|\$\{([^{}]*)\}/g

/** The name of a variable. */
export const isVariableName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)

/** What fills in the variables of fragments; all of a definition's share one, so that together they stay within `maxLength` characters. */
export interface VariableFilling {
  /** Characters that values may still take. */
  left: number
  readonly problems: DiagnosticCollector
}

/**
 * A fragment with its variables filled in. They are filled into scalars of the tree, so that no value can change the structure
 * of the file; a key that comes out the same as another of its mapping is a fault, and so is more text than there may be. Variables without a
 * value are reported; `used` gathers the names that occur.
 */
export function fillVariables(
  root: YamlNode,
  variables: ReadonlyMap<string, string>,
  used: Set<string>,
  filling: VariableFilling,
): YamlNode {
  const { problems } = filling
  const filled = new Map<YamlNode, YamlNode>()
  const fill = (node: YamlNode): YamlNode => {
    if (node.kind === 'scalar') return fillScalar(node)
    let done = filled.get(node)
    if (done === undefined) {
      done = node.kind === 'sequence' ? { ...node, items: node.items.map(fill) } : fillMapping(node)
      filled.set(node, done)
    }
    return done
  }
  const fillMapping = (node: YamlMapping): YamlMapping => {
    const entries = node.entries.map(({ key, value }) => ({ key: fillScalar(key), value: fill(value) }))
    // The names of the record map itself are compared as names.
    return { ...node, entries: node === root ? entries : withoutTwice(entries, node.entries, problems) }
  }
  const fillScalar = (node: YamlScalar): YamlScalar => {
    if (!node.text.includes('${')) return node
    let whole = true
    const text = node.text.replace(REFERENCE, (reference, literal: string | undefined, name: string | undefined) => {
      if (literal !== undefined) return literal
      const value = variables.get(name ?? '')
      used.add(name ?? '')
      if (value !== undefined) {
        filling.left -= value.length
        if (filling.left >= 0) return value
        problems.report('include-invalid', root.at, '', 'the values of variables make the included files too long')
        whole = false
        return ''
      }
      const hint =
        didYouMean(name ?? '', variables.keys()) ?? 'Give it a value under `with:` of the include; write $${ for the characters themselves.'
      problems.report('variable-unknown', node.at, '', `the variable ${reference} has no value`, { hint })
      whole = false
      return reference
    })
    // What a value stands for is text, be it empty or `null`.
    const done = { ...node, text }
    return whole ? { ...done, plain: node.plain && !isNull(done) } : { ...done, broken: true }
  }
  return fill(root)
}

/** The entries without those whose key a variable has made the same as an earlier one's. */
function withoutTwice(entries: readonly YamlEntry[], before: readonly YamlEntry[], problems: DiagnosticCollector): readonly YamlEntry[] {
  if (entries.every(({ key }, i) => key === before[i]?.key)) return entries
  const first = new Map<string, YamlScalar>()
  return entries.filter(({ key }) => {
    const earlier = first.get(key.text)
    if (earlier === undefined) {
      first.set(key.text, key)
      return true
    }
    const related = [{ message: 'the other key', at: earlier.at }]
    problems.report('yaml-duplicate-key', key.at, '', `variables make two keys ${quoted(key.text)} of one mapping`, { related })
    return false
  })
}
