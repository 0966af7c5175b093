/** Where instances and volumes can be, and what each place offers. */
export interface Region {
  readonly id: string
  /** City, state or region, and country. */
  readonly label: string
  /** ISO 3166 code in lower case, but `uk` (facts, C). */
  readonly country: string
  /** Names of services: `Vlans` is there where the network is of the next generation. */
  readonly capabilities: readonly string[]
  readonly resolvers: Resolvers
  readonly status: 'ok' | 'outage'
}

/** Addresses of a region's recursive resolvers, by family. */
export interface Resolvers {
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
}

const EVERYWHERE = ['Linodes', 'NodeBalancers', 'Block Storage', 'Kubernetes', 'Cloud Firewall']

/** Id, label, country and what is there besides what is everywhere; in the order they are listed. */
const PLACES: readonly (readonly [id: string, label: string, country: string, capabilities: readonly string[]])[] = [
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

/** Resolvers a region has in each family. */
const RESOLVERS = 10

/**
 * All regions. Their resolvers are documentation addresses, 192.0.2.1 to 192.0.2.120 (RFC 5737) and 2001:db8:53::/48 (RFC 3849), which
 * nobody answers at: an installation names its own.
 */
export const REGIONS: readonly Region[] = PLACES.map(([id, label, country, more], place) => ({
  id,
  label,
  country,
  capabilities: [...EVERYWHERE, ...more],
  resolvers: {
    ipv4: Array.from({ length: RESOLVERS }, (_, number) => `192.0.2.${place * RESOLVERS + number + 1}`),
    ipv6: Array.from({ length: RESOLVERS }, (_, number) => `2001:db8:53:${(place + 1).toString(16)}::${(number + 1).toString(16)}`),
  },
  status: 'ok',
}))

const BY_ID: ReadonlyMap<string, Region> = new Map(REGIONS.map((region) => [region.id, region]))

/** The region of an id; null where there is none. */
export const findRegion = (id: string): Region | null => BY_ID.get(id) ?? null
