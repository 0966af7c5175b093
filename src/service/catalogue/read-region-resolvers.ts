/** Reads the file with the recursive resolvers of regions. */
import { isIPv4, isIPv6 } from 'node:net'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { findRegion, REGIONS, type Region, type Resolvers } from './regions.ts'

/** The resolvers of an installation by region. */
export type RegionResolvers = ReadonlyMap<string, Resolvers>

/** Maximum number of resolvers per region and address family. */
const MAX_ADDRESSES = 32

const FAMILIES = { ipv4: isIPv4, ipv6: (text: string) => isIPv6(text) && !text.includes('%') } as const

/**
 * Reads a resolver file (YAML or JSON), a mapping from regions to the lists `ipv4` and `ipv6`. Reports all errors together with their positions;
 * `resolvers` is null if there are any.
 */
export function readRegionResolvers(
  text: string,
  file: string,
): { readonly resolvers: RegionResolvers | null; readonly diagnostics: readonly Diagnostic[] } {
  const { root, diagnostics } = readYaml(text, { file })
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return { resolvers: null, diagnostics }
  const problems: Diagnostic[] = []
  const report = ({ at }: YamlNode, message: string): void =>
    void problems.push({ severity: 'error', code: 'resolvers-invalid', message, at })
  const resolvers = new Map<string, Resolvers>()
  if (root.kind === 'mapping') {
    for (const { key, value } of root.entries) {
      if (findRegion(key.text) === null) report(key, `there is no region ${JSON.stringify(key.text.slice(0, 100))}`)
      resolvers.set(key.text, resolversOf(value, report))
    }
  } else report(root, 'resolvers must be a mapping with regions as keys')
  return { resolvers: problems.length === 0 ? resolvers : null, diagnostics: [...diagnostics, ...problems] }
}

function resolversOf(node: YamlNode, report: (node: YamlNode, message: string) => void): Resolvers {
  const found: { ipv4: readonly string[]; ipv6: readonly string[] } = { ipv4: [], ipv6: [] }
  if (node.kind !== 'mapping') {
    report(node, 'a region must be a mapping with the keys ipv4 and ipv6')
    return found
  }
  for (const { key, value } of node.entries) {
    if (key.text !== 'ipv4' && key.text !== 'ipv6') report(key, 'a region can only have the keys ipv4 and ipv6')
    else if (value.kind !== 'sequence' || value.items.length > MAX_ADDRESSES)
      report(value, `${key.text} must be a list of at most ${MAX_ADDRESSES} addresses`)
    else found[key.text] = value.items.map((item) => addressOf(item, key.text as keyof typeof FAMILIES, report))
  }
  return found
}

function addressOf(node: YamlNode, family: keyof typeof FAMILIES, report: (node: YamlNode, message: string) => void): string {
  const text = node.kind === 'scalar' ? node.text : ''
  if (!FAMILIES[family](text)) report(node, `not an ${family === 'ipv4' ? 'IPv4' : 'IPv6'} address`)
  return text
}

/** Returns all regions with the resolvers of an installation instead of the placeholders. */
export const regionsWith = (resolvers: RegionResolvers): readonly Region[] =>
  REGIONS.map((region) => ({ ...region, resolvers: resolvers.get(region.id) ?? region.resolvers }))
