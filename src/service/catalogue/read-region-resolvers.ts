import { isIPv4, isIPv6 } from 'node:net'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { findRegion, REGIONS, type Region, type Resolvers } from './regions.ts'

/** The resolvers that an installation has, by region. */
export type RegionResolvers = ReadonlyMap<string, Resolvers>

/** Addresses of a region in one family at most. */
const MAX_ADDRESSES = 32

const FAMILIES = { ipv4: isIPv4, ipv6: (text: string) => isIPv6(text) && !text.includes('%') } as const

/**
 * Reads a file of resolvers (YAML, or JSON): regions, each with the lists `ipv4` and `ipv6`. All faults are told together, with their
 * places; `resolvers` is null where there are any.
 */
export function readRegionResolvers(
  text: string,
  file: string,
): { readonly resolvers: RegionResolvers | null; readonly diagnostics: readonly Diagnostic[] } {
  const { root, diagnostics } = readYaml(text, { file })
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return { resolvers: null, diagnostics }
  const problems: Diagnostic[] = []
  const tell = ({ at }: YamlNode, message: string): void =>
    void problems.push({ severity: 'error', code: 'resolvers-invalid', message, at })
  const resolvers = new Map<string, Resolvers>()
  if (root.kind === 'mapping') {
    for (const { key, value } of root.entries) {
      if (findRegion(key.text) === null) tell(key, `there is no region ${JSON.stringify(key.text.slice(0, 100))}`)
      resolvers.set(key.text, resolversOf(value, tell))
    }
  } else tell(root, 'resolvers are a mapping with regions as keys')
  return { resolvers: problems.length === 0 ? resolvers : null, diagnostics: [...diagnostics, ...problems] }
}

function resolversOf(node: YamlNode, tell: (node: YamlNode, message: string) => void): Resolvers {
  const found: { ipv4: readonly string[]; ipv6: readonly string[] } = { ipv4: [], ipv6: [] }
  if (node.kind !== 'mapping') {
    tell(node, 'a region is a mapping with the keys ipv4 and ipv6')
    return found
  }
  for (const { key, value } of node.entries) {
    if (key.text !== 'ipv4' && key.text !== 'ipv6') tell(key, 'a region has the keys ipv4 and ipv6')
    else if (value.kind !== 'sequence' || value.items.length > MAX_ADDRESSES)
      tell(value, `${key.text} is a list of ${MAX_ADDRESSES} addresses at most`)
    else found[key.text] = value.items.map((item) => addressOf(item, key.text as keyof typeof FAMILIES, tell))
  }
  return found
}

function addressOf(node: YamlNode, family: keyof typeof FAMILIES, tell: (node: YamlNode, message: string) => void): string {
  const text = node.kind === 'scalar' ? node.text : ''
  if (!FAMILIES[family](text)) tell(node, `this is no ${family === 'ipv4' ? 'IPv4' : 'IPv6'} address`)
  return text
}

/** All regions, with the resolvers that an installation has in place of documentation addresses. */
export const regionsWith = (resolvers: RegionResolvers): readonly Region[] =>
  REGIONS.map((region) => ({ ...region, resolvers: resolvers.get(region.id) ?? region.resolvers }))
