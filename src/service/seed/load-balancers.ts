import { isIPv4, isIPv6 } from 'node:net'
import LOAD_BALANCER from '../../../schemas/service/seed-load-balancers.json' with { type: 'json' }
import { findRegion } from '../catalogue/regions.ts'
import { isNumberFree, reserveNumber } from '../store/row-number.ts'
import { findLoadBalancerByLabel, insertLoadBalancer } from '../store/volume-store.ts'
import { readMoments } from './read-moments.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly id?: number
  readonly label: string
  readonly region: string
  readonly ipv4: string
  readonly ipv6?: string | null
  readonly client_conn_throttle?: number
  /** MB. */
  readonly transfer?: { readonly in?: number | null; readonly out?: number | null; readonly total?: number | null }
  readonly tags?: readonly string[] | null
  readonly created?: string
}

/** What follows the address in the name of a load balancer: a domain that nobody has (RFC 2606). */
const SUFFIX = '.ip.loadbalancers.invalid'

/** Load balancers, by label. */
export const LOAD_BALANCERS = defineSeedPart<Entry, Entry>({
  key: 'load_balancers',
  schema: LOAD_BALANCER,
  unique: { owner: ['label'], file: ['id', 'ipv4', 'ipv6'] },
  read: (entry, tell) => {
    const { ipv4, ipv6 = null } = entry
    if (findRegion(entry.region) === null) tell(['region'], 'region is not valid')
    if (!isIPv4(ipv4)) tell(['ipv4'], 'this is no IPv4 address')
    if (ipv6 !== null && (!isIPv6(ipv6) || ipv6.includes('%'))) tell(['ipv6'], 'this is no IPv6 address')
    return { ...entry, ...readMoments(entry, ['created'], tell) }
  },
  make: async (connection, { accountId }, entry, now) => {
    const { id, label, region, ipv4, ipv6 = null, client_conn_throttle = 0, transfer = {}, tags, created = now } = entry
    if ((await findLoadBalancerByLabel(connection, accountId, label)) !== null) return
    if (id !== undefined && !(await isNumberFree(connection, 'load_balancers', id)))
      throw new RangeError(`the load balancer ${label} of the seed cannot be number ${id}, which is another's`)
    const counted = { transfer_in: transfer.in ?? null, transfer_out: transfer.out ?? null, transfer_total: transfer.total ?? null }
    const row = { account_id: accountId, label, hostname: `${ipv4}${SUFFIX}`, ipv4, ipv6, region, client_conn_throttle, created }
    await insertLoadBalancer(connection, { ...row, ...counted, ...(id === undefined ? {} : { id }) }, tags ?? [])
    if (id !== undefined) await reserveNumber(connection, 'load_balancers', id)
  },
})
