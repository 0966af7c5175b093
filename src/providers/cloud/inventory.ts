/** Addresses of the account's instances and load balancers. The API lists instances; it lists load balancers only among the objects with a tag. */
import { isIPv4 } from 'node:net'
import { parseIpv6 } from '../../dns/ip-address.ts'
import type { InventoryObject, InventoryQuery } from '../../dns/zone-source.ts'
import { nullIfMissing } from '../api-errors.ts'
import type { ProviderCallOptions } from '../provider.ts'
import { type ApiInstance, type ApiLoadBalancer, instanceShape, loadBalancerShape, tagShape } from './api-responses.ts'
import type { CloudApi } from './cloud-api.ts'

/** The paths of the lists at an instance of the API. */
export interface InventoryPaths {
  readonly instances: string
  /** A list of load balancers; null if they are found only by their tags. */
  readonly loadbalancers: string | null
}

/** The differences of one instance of the API from others. */
export interface CloudInstance {
  /** Its paths of the inventory, if they differ. */
  readonly paths?: InventoryPaths | undefined
  /** The addresses from which it transfers zones. */
  readonly transferAddresses?: readonly string[] | undefined
}

export const API_PATHS: InventoryPaths = { instances: '/compute/instances', loadbalancers: null }

/** IPv4 addresses that are not public: private (RFC 1918), shared (RFC 6598), loopback and link-local. */
const NOT_PUBLIC =
  /^(?:0\.|10\.|100\.(?:6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2[0-9]|3[01])\.)/

/** The same for IPv6 in canonical form: unspecified, loopback, unique local (RFC 4193) and link-local. */
const NOT_PUBLIC_IPV6 = /^(?:::1?$|f[cd]|fe[89ab])/

/** The objects that match a query. Every condition is checked here too, because a server may not support a filter. */
export async function readCloudInventory(
  api: CloudApi,
  paths: InventoryPaths,
  query: InventoryQuery,
  call?: ProviderCallOptions,
): Promise<readonly InventoryObject[]> {
  if (query.kind === 'instances') return (await readInstances(api, paths, query, call)).map(instanceObject)
  return (await readLoadBalancers(api, paths, query, call)).map(loadBalancerObject)
}

async function readInstances(api: CloudApi, paths: InventoryPaths, query: InventoryQuery, call?: ProviderCallOptions) {
  const { label, tag, region, group } = query
  const filter = { ...(label && { label }), ...(tag && { tags: tag }), ...(region && { region }), ...(group && { group }) }
  const request = { method: 'GET', path: paths.instances, what: 'listing instances', filter, ...call } as const
  const instances = await api.list(request, instanceShape)
  // Instances that are being deleted lose their addresses.
  return instances.filter(
    (instance) => fits(instance, query) && (group === undefined || instance.group === group) && instance.status !== 'deleting',
  )
}

async function readLoadBalancers(
  api: CloudApi,
  paths: InventoryPaths,
  query: InventoryQuery,
  call?: ProviderCallOptions,
): Promise<readonly ApiLoadBalancer[]> {
  const chosen = (found: readonly (ApiLoadBalancer | null)[]): ApiLoadBalancer[] =>
    found.filter((one) => one !== null).filter((one) => fits(one, query))
  if (paths.loadbalancers !== null) {
    const request = { method: 'GET', path: paths.loadbalancers, what: 'listing load balancers', ...call } as const
    const listed = await api.list(request, (item) => loadBalancerShape({ type: 'nodebalancer', data: item }))
    return chosen(listed.map(({ object }) => object))
  }
  const found = new Map<number, ApiLoadBalancer>()
  for (const tag of query.tag === undefined ? await listTags(api, call) : [query.tag]) {
    for (const one of chosen(await readTagged(api, tag, call))) found.set(one.id, one)
  }
  return [...found.values()]
}

async function listTags(api: CloudApi, call?: ProviderCallOptions): Promise<readonly string[]> {
  const tags = await api.list({ method: 'GET', path: '/tags', what: 'listing tags', ...call }, tagShape)
  return tags.map(({ id }) => id)
}

async function readTagged(api: CloudApi, tag: string, call?: ProviderCallOptions): Promise<readonly (ApiLoadBalancer | null)[]> {
  const what = `reading the objects with the tag ${JSON.stringify(tag)}`
  // A tag without objects does not exist.
  const found = await nullIfMissing(api.list({ method: 'GET', path: `/tags/${encodeURIComponent(tag)}`, what, ...call }, loadBalancerShape))
  return found?.map(({ object }) => object) ?? []
}

function fits(object: { label: string; region: string; tags: readonly string[] }, { label, tag, region }: InventoryQuery): boolean {
  if (label !== undefined && object.label !== label) return false
  if (region !== undefined && object.region !== region) return false
  return tag === undefined || object.tags.some((one) => one.toLowerCase() === tag.toLowerCase())
}

const instanceObject = ({ id, label, ipv4, ipv6 }: ApiInstance): InventoryObject => ({
  source: `instance ${label} (${id})`,
  ipv4: ipv4.filter((address) => isPublicIpv4(address)),
  ipv6: publicIpv6(ipv6),
})

const loadBalancerObject = ({ id, label, ipv4, ipv6 }: ApiLoadBalancer): InventoryObject => ({
  source: `load balancer ${label} (${id})`,
  ipv4: ipv4 !== null && isPublicIpv4(ipv4) ? [ipv4] : [],
  ipv6: publicIpv6(ipv6),
})

const isPublicIpv4 = (address: string): boolean => isIPv4(address) && !NOT_PUBLIC.test(address)

/** Removes the prefix length of an instance's address, as in `2001:db8::1/128`. */
function publicIpv6(text: string | null): string[] {
  const address = text === null ? null : parseIpv6(text.replace(/\/[0-9]{1,3}$/, ''))
  return address?.ok && !NOT_PUBLIC_IPV6.test(address.value) ? [address.value] : []
}
