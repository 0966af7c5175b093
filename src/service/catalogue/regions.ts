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
export interface Resolvers {
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
