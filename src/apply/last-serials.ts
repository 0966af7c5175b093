/** The serials that new zones must exceed: secondaries ignore a zone that is older than theirs (RFC 1982 section 3.2). */
import pLimit from 'p-limit'
import { isApexNs } from '../dns/record.ts'
import { isNewerSerial, type SerialNumber } from '../dns/serial-number.ts'
import { parseServerAddress } from '../dns/server-address.ts'
import { serialOf } from '../dns/soa.ts'
import type { Provider } from '../providers/provider.ts'
import { readHostPolicy, refusedServer } from '../transport/allowed-hosts.ts'
import { queryDns } from '../transport/dns-client.ts'
import { type DnsServer, formatServer, isDnsFailure } from '../transport/dns-exchange.ts'
import type { ApplicableZone } from './apply-zones.ts'
import { type Fences, fenceOf } from './journal/store/fences.ts'
import type { ProcessEnvironment } from './run-context.ts'

/** Zones that are asked for concurrently. */
const ZONES_AT_ONCE = 16

/** The zones, new ones with the newest serial that the journal remembers or a name server of the zone has. Servers that the environment does not allow are not asked. */
export function withLastSerials(
  zones: readonly ApplicableZone[],
  providers: ReadonlyMap<string, Provider>,
  fences: Fences,
  { env }: Pick<ProcessEnvironment, 'env'>,
): Promise<readonly ApplicableZone[]> {
  const policy = readHostPolicy(env)
  const limit = pLimit(ZONES_AT_ONCE)
  const silent = new Set<string>()
  const serialAt = async ({ plan: { zone } }: ApplicableZone, server: DnsServer): Promise<SerialNumber | undefined> => {
    if (silent.has(formatServer(server)) || refusedServer(policy, zone, server) !== null) return undefined
    try {
      const { authoritative, answers } = await queryDns(server, { name: zone, type: 'SOA' }, { tries: 2 })
      const soa = answers.find(({ name, type }) => type === 'SOA' && name === zone)
      return authoritative && soa !== undefined ? serialOf(soa) : undefined
    } catch (error) {
      if (!isDnsFailure(error)) throw error
      silent.add(formatServer(server))
      return undefined
    }
  }
  const withSerial = async (zone: ApplicableZone): Promise<ApplicableZone> => {
    const [first] = zone.plan.changes
    if (first?.subject !== 'domain' || first.action !== 'create' || !providers.get(zone.plan.target)?.setsSerials) return zone
    const held = await Promise.all(nameServersOf(zone).map((server) => serialAt(zone, server)))
    const known = [fenceOf(fences, zone.plan)?.serial, ...held].filter((serial) => serial !== undefined)
    return { ...zone, lastSerial: known.find((serial) => !known.some((other) => isNewerSerial(other, serial))) ?? known[0] }
  }
  return Promise.all(zones.map((zone) => limit(() => withSerial(zone))))
}

/** Those that the config names for the zone, or else those of its new apex NS records. */
function nameServersOf({ plan, job }: ApplicableZone): DnsServer[] {
  const names = plan.changes.flatMap(({ subject, desired }) =>
    subject === 'record' && desired !== null && isApexNs(desired, plan.zone) ? desired.data.replace(/\.$/, '') : [],
  )
  return (job?.nameservers ?? names).map(parseServerAddress)
}
