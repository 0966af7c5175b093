import { isServerAddress } from '../../dns/server-address.ts'
import { type ProviderCallOptions, ProviderError } from '../provider.ts'
import { regionShape, ShapeError } from './api-shapes.ts'
import type { CloudApi } from './cloud-api.ts'

/** A region is one word in a path. */
const REGION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** The resolvers of a region (interface, Region), IPv4 before IPv6; null where there is no such region. */
export async function findRegionResolvers(api: CloudApi, region: string, call?: ProviderCallOptions): Promise<readonly string[] | null> {
  if (!REGION.test(region)) return null
  const request = { method: 'GET', path: `/regions/${region}`, what: `reading the region ${region}`, ...call } as const
  try {
    return (await api.request(request, resolversOf)).value
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'provider-not-found') return null
    throw error
  }
}

function resolversOf(body: unknown): readonly string[] {
  const { ipv4, ipv6 } = regionShape(body)
  const addresses = `${ipv4},${ipv6}`.split(',').map((address) => address.trim())
  const resolvers = addresses.filter((address) => address !== '')
  const wrong = resolvers.find((address) => !isServerAddress(address))
  if (wrong !== undefined) throw new ShapeError(`the resolver ${JSON.stringify(wrong)} of a region is not an address`)
  return resolvers
}
