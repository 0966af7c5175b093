import { isIPv4, isIPv6 } from 'node:net'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'

/** A place for instances and volumes. */
export interface Region {
  readonly id: string
  /** The city with the code of its country, or of its state in the US. */
  readonly label: string
  /** The ISO 3166 code in lower case; `uk` for the United Kingdom, as in the hosting service. */
  readonly country: string
  /** Available services. `Vlans` allows VLAN interfaces. */
  readonly capabilities: readonly string[]
  readonly resolvers: Resolvers
  readonly status: 'ok' | 'outage'
}

/** Addresses of a region's recursive resolvers, by family. */
interface Resolvers {
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
}

const COMMON_CAPABILITIES = ['Linodes', 'NodeBalancers', 'Block Storage', 'Kubernetes', 'Cloud Firewall']

/** Id, label, country and additional capabilities, in the order of the list. */
const ROWS: readonly (readonly [id: string, label: string, country: string, capabilities: readonly string[]])[] = [
  ['ap-west', 'Mumbai, IN', 'in', ['Vlans', 'Managed Databases']],
  ['ca-central', 'Toronto, CA', 'ca', ['Vlans', 'Managed Databases']],
  ['ap-southeast', 'Sydney, AU', 'au', ['Vlans', 'Managed Databases']],
  ['us-iad', 'Washington, DC', 'us', ['Object Storage', 'Vlans']],
  ['us-central', 'Dallas, TX', 'us', ['Managed Databases']],
  ['us-west', 'Fremont, CA', 'us', ['Managed Databases']],
  ['us-southeast', 'Atlanta, GA', 'us', ['Object Storage', 'GPU Linodes', 'Vlans', 'Managed Databases']],
  ['us-east', 'Newark, NJ', 'us', ['Object Storage', 'GPU Linodes', 'Managed Databases']],
  ['eu-west', 'London, UK', 'uk', ['Managed Databases']],
  ['ap-south', 'Singapore, SG', 'sg', ['Object Storage', 'GPU Linodes', 'Managed Databases']],
  ['eu-central', 'Frankfurt, DE', 'de', ['Object Storage', 'GPU Linodes', 'Vlans', 'Managed Databases']],
  ['ap-northeast', 'Tokyo, JP', 'jp', ['Managed Databases']],
]

/** Resolvers per region and address family. */
const RESOLVERS = 10

/**
 * All regions. Their resolvers are placeholders from the documentation ranges, 192.0.2.1 to 192.0.2.120 (RFC 5737) and 2001:db8:53::/48 (RFC 3849),
 * so nothing answers there.
 */
export const REGIONS: readonly Region[] = ROWS.map(([id, label, country, additional], index) => ({
  id,
  label,
  country,
  capabilities: [...COMMON_CAPABILITIES, ...additional],
  resolvers: {
    ipv4: Array.from({ length: RESOLVERS }, (_, number) => `192.0.2.${index * RESOLVERS + number + 1}`),
    ipv6: Array.from({ length: RESOLVERS }, (_, number) => `2001:db8:53:${(index + 1).toString(16)}::${(number + 1).toString(16)}`),
  },
  status: 'ok',
}))

const BY_ID: ReadonlyMap<string, Region> = new Map(REGIONS.map((region) => [region.id, region]))

/** Returns the region with an id; null if there is none. */
export const findRegion = (id: string): Region | null => BY_ID.get(id) ?? null

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
