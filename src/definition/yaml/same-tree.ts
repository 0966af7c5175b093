import { isNull, lookUp, type YamlMapping, type YamlNode } from './yaml-node.ts'

/**
 * Whether two trees mean the same: the same keys and items with the same text. The order of keys does not count, nor whether a
 * scalar has quotes, but for what stands for no value.
 */
export function isSameTree(a: YamlNode, b: YamlNode): boolean {
  // Shared nodes are compared once, however often aliases bring them up.
  const same = new Map<YamlNode, YamlNode>()
  const compare = (x: YamlNode, y: YamlNode): boolean => {
    if (x.kind === 'scalar') return y.kind === 'scalar' && x.text === y.text && isNull(x) === isNull(y)
    if (same.get(x) === y) return true
    const result =
      x.kind === 'sequence' ? y.kind === 'sequence' && compareItems(x.items, y.items) : y.kind === 'mapping' && compareEntries(x, y)
    if (result) same.set(x, y)
    return result
  }
  const compareItems = (x: readonly YamlNode[], y: readonly YamlNode[]): boolean =>
    x.length === y.length && x.every((item, i) => compare(item, y[i] as YamlNode))
  const compareEntries = (x: YamlMapping, y: YamlMapping): boolean =>
    x.entries.length === y.entries.length &&
    x.entries.every(({ key, value }) => {
      const other = lookUp(y, key.text)
      return other !== undefined && compare(value, other)
    })
  return compare(a, b)
}
