/** Lints for targets and addresses. */
import { append } from '../../base/group-by.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { hostOfUrl } from '../../dns/server-address.ts'
import { openTest } from '../rules/existing-names.ts'
import { ADDRESS } from '../rules/target-rules.ts'
import { type Finding, HOST_TARGET, highestCut, type ZoneIndex } from '../rules/zone-index.ts'
import type { LintedZone, ManagedNames } from './managed-names.ts'

/** The lint for missing targets in other managed zones. `target-nonexistent` reports missing targets in the zone itself. */
export const targetDangling = (managed: ManagedNames) =>
  function* ({ zone }: LintedZone, { targets }: ZoneIndex): Iterable<Finding> {
    for (const { record, target } of targets) {
      if (target === '.') continue
      const other = managed.zoneOf(target)
      if (other === null || other === zone.name || hostOfUrl(target) !== null) continue
      if (managed.lookUp(target, HOST_TARGET.has(record.type) ? ADDRESS : null) !== 'missing') continue
      const isName = managed.lookUp(target, null) !== 'missing'
      yield {
        message: `${record.name} ${record.type} points to ${target}, ${isName ? 'which has no addresses' : `which ${other} does not have`}`,
        at: record.at,
        hint: `remove the record, or add ${target} to ${other}`,
      }
    }
  }

/**
 * The lint for aliases to a service where anyone can claim a name that its customer has released. An alias is not reported if a TXT record proves to the
 * service who owns it.
 */
export const targetTakeover = (managed: ManagedNames) =>
  function* (_linted: LintedZone, { targets }: ZoneIndex): Iterable<Finding> {
    for (const { record, target } of targets) {
      const found = HOST_TARGET.has(record.type) ? null : takeoverService(target)
      if (found === null) continue
      if (found.proof !== undefined && hasText(`${found.proof}.${record.name.replace('*.', '')}` as DomainName, managed)) continue
      const claimed = `is a name at ${found.service}, which others can claim once it is released`
      yield {
        message: `${record.name} ${record.type}: the target ${target} ${claimed}`,
        at: record.at,
        hint: 'remove the record before you delete the service',
        cause: { subject: 'record', message: `the target ${claimed}` },
      }
    }
  }

const TXT: ReadonlySet<string> = new Set(['TXT'])

const hasText = (name: DomainName, managed: ManagedNames): boolean => typeof managed.lookUp(name, TXT) !== 'string'

/** Names that the public DNS does not delegate (RFC 6761, RFC 6762 and its appendix G, RFC 8375, and `internal`, which ICANN has reserved). */
const PRIVATE_NAME = /(?:^|\.)(?:home\.arpa|test|localhost|invalid|local|internal|intranet|private|corp|home|lan)\.$/

/** RFC 1918, RFC 6598, RFC 1122 section 3.2.1.3 (loopback and this host), RFC 3927 (link-local). */
const PRIVATE_IPV4 =
  /^(?:(10\.|192\.168\.|172\.(?:1[6-9]|2[0-9]|3[01])\.)|(100\.(?:6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\.)|(127\.)|(169\.254\.)|(0\.))/

/** RFC 4193, RFC 4291 sections 2.5.2 (unspecified), 2.5.3 (loopback), 2.5.5.2 (IPv4-mapped) and 2.5.6 (link-local). */
const PRIVATE_IPV6 = /^(?:(f[cd][0-9a-f]{2}:)|(::1$)|(fe[89ab][0-9a-f]:)|(::$)|(::ffff:))/

const KINDS_IPV4 = ['private (RFC 1918)', 'shared (RFC 6598)', 'loopback', 'link-local', 'reserved (RFC 1122)']
const KINDS_IPV6 = ['unique local (RFC 4193)', 'loopback', 'link-local', 'reserved (RFC 4291)', 'mapped IPv4 (RFC 4291)']

/** Reports addresses that are reachable only from a private network, or only from the host itself. */
export function* addressPrivate({ zone, internal }: LintedZone): Iterable<Finding> {
  if (internal || PRIVATE_NAME.test(zone.name)) return
  for (const { name, type, data, at } of zone.records) {
    const match = type === 'A' ? PRIVATE_IPV4.exec(data) : type === 'AAAA' ? PRIVATE_IPV6.exec(data) : null
    if (match === null) continue
    const kind = (type === 'A' ? KINDS_IPV4 : KINDS_IPV6)[match.slice(1).findIndex((part) => part !== undefined)]
    // RFC 1912 section 4.1 recommends that every zone has localhost.
    if (kind === 'loopback' && name === `localhost.${zone.name}`) continue
    yield {
      message: `${name} ${type}: ${data} is a ${kind} address, which the internet does not reach`,
      at,
      hint: 'use a public address, or, if only an internal network sees the zone, write internal: true in its rule',
      cause: { subject: 'record', message: `a ${kind} address in a public zone` },
    }
  }
}

// Services that give names under a common suffix to anyone. They give a released name out again, and ask for no proof that the new customer owns the domains
// that point to it. The list leaves out services that check the owner, choose random names, or have one name for all customers.

interface TakeoverService {
  /** The service gives names below these suffixes to its customers. */
  readonly suffixes: readonly string[]
  readonly service: string
  /** The label to put before the name of the alias: a TXT record at that name proves to the service who owns the alias. */
  readonly proof?: string
  readonly source: string
}

const AZURE = 'https://learn.microsoft.com/azure/security/fundamentals/subdomain-takeover'
const COMMUNITY = 'https://github.com/EdOverflow/can-i-take-over-xyz'

export const TAKEOVER_SERVICES: readonly TakeoverService[] = [
  { service: 'Azure App Service', suffixes: ['azurewebsites.net'], proof: 'asuid', source: AZURE },
  { service: 'Azure Cloud Services', suffixes: ['cloudapp.net', 'cloudapp.azure.com'], source: AZURE },
  { service: 'Azure Traffic Manager', suffixes: ['trafficmanager.net'], source: AZURE },
  { service: 'Azure CDN', suffixes: ['azureedge.net'], source: AZURE },
  { service: 'Azure API Management', suffixes: ['azure-api.net'], source: AZURE },
  { service: 'Azure Container Instances', suffixes: ['azurecontainer.io'], source: AZURE },
  { service: 'Azure Blob Storage', suffixes: ['blob.core.windows.net', 'web.core.windows.net'], source: AZURE },
  { service: 'AWS Elastic Beanstalk', suffixes: ['elasticbeanstalk.com'], source: `${COMMUNITY}/issues/194` },
  { service: 'Bitbucket Cloud', suffixes: ['bitbucket.io'], source: COMMUNITY },
  { service: 'Ghost', suffixes: ['ghost.io'], source: `${COMMUNITY}/issues/89` },
  { service: 'Help Scout', suffixes: ['helpscoutdocs.com'], source: COMMUNITY },
  { service: 'Helpjuice', suffixes: ['helpjuice.com'], source: COMMUNITY },
  { service: 'ngrok', suffixes: ['ngrok.io'], source: `${COMMUNITY}/issues/92` },
  { service: 'Pantheon', suffixes: ['pantheonsite.io'], source: `${COMMUNITY}/issues/24` },
  { service: 'ReadMe', suffixes: ['readme.io'], source: `${COMMUNITY}/issues/41` },
  { service: 'Surge', suffixes: ['surge.sh'], source: COMMUNITY },
  { service: 'UptimeRobot', suffixes: ['stats.uptimerobot.com'], source: `${COMMUNITY}/issues/45` },
  { service: 'WordPress.com', suffixes: ['wordpress.com'], source: `${COMMUNITY}/pull/176` },
  { service: 'YouTrack Cloud', suffixes: ['youtrack.cloud'], source: COMMUNITY },
]

/** S3 finds a bucket by the name that a client requests, so the bucket has the same name as the record. */
const S3: TakeoverService = { service: 'Amazon S3', suffixes: [], source: `${COMMUNITY}/issues/36` }

const BUCKET = /(?:^|\.)s3(?:-website|\.dualstack)?(?:[.-][a-z0-9-]{2,30})?\.amazonaws\.com\.$/

const BY_SUFFIX: ReadonlyMap<string, TakeoverService> = new Map(
  TAKEOVER_SERVICES.flatMap((one) => one.suffixes.map((suffix) => [`${suffix}.`, one] as const)),
)

/** Names of Azure App Service that contain a hash of the owner: nobody else can claim them (the page `AZURE`, "unique default hostname"). */
const UNIQUE_NAME = /-[a-z0-9]{16}\.[a-z0-9]+-[0-9]{2}\.azurewebsites\.net\.$/

/** The listed service that gives out a name; null if there is none. */
function takeoverService(name: string): TakeoverService | null {
  for (let dot = name.indexOf('.'); dot !== -1 && dot < name.length - 1; dot = name.indexOf('.', dot + 1)) {
    const service = BY_SUFFIX.get(name.slice(dot + 1))
    if (service !== undefined) return UNIQUE_NAME.test(name) ? null : service
  }
  return BUCKET.test(name) ? S3 : null
}

// The lint for delegations to name servers whose addresses no resolver can find.

/** A name server of a delegation whose name is itself in a delegated zone, and that has no addresses in this zone. */
interface Unlocated {
  readonly record: DefinedRecord
  readonly server: DomainName
  /** The name of the delegation that has the server's name at or below it. */
  readonly below: DomainName
}

const ADDRESSES: ReadonlySet<string> = new Set(['A', 'AAAA'])

/**
 * Reports name servers that have no address in the zone and that no resolver can find: those below their own delegation (RFC 9471 section 3.1), and those
 * of delegations that depend on each other, so that resolvers reach none of them (RFC 9471 section 2.3).
 */
export const glueMissing =
  ({ hasAll }: ManagedNames) =>
  (linted: LintedZone, index: ZoneIndex): Finding[] => {
    if (index.delegations.size === 0 || !hasAll(linted)) return []
    const unlocated = unlocatedServers(index)
    if (unlocated.size === 0) return []
    const isReachable = reachabilityTest(index, unlocated)
    return [...unlocated].flatMap(([cut, servers]) =>
      servers
        .filter(({ below }) => below === cut || !isReachable(cut))
        .map(({ record, server }) => missingGlue(record, server, index.zone.name)),
    )
  }

const missingGlue = (record: DefinedRecord, server: DomainName, zone: DomainName): Finding => ({
  message: `${record.name} NS: the name server ${server} has no address in ${zone}, so resolvers cannot find it`,
  at: record.at,
  hint: `add its addresses, such as '${server} A 192.0.2.1', beside the NS record`,
})

const nameServers = (cut: DomainName, { byName }: ZoneIndex): readonly DefinedRecord[] =>
  (byName.get(cut) ?? []).filter(({ type }) => type === 'NS')

/** The unlocated name servers of each delegation. Leaves out delegations below another one: they are never served, and `below-delegation` reports them. */
function unlocatedServers(index: ZoneIndex): ReadonlyMap<DomainName, readonly Unlocated[]> {
  const { zone, delegations, byName } = index
  const isOpen = openTest({ ...index, delegations: new Map() })
  const isLocated = (server: DomainName): boolean =>
    byName.get(server)?.some(({ type }) => ADDRESSES.has(type)) === true || isOpen(server, ADDRESSES)
  const found = new Map<DomainName, Unlocated[]>()
  for (const cut of delegations.keys()) {
    if (highestCut(delegations, cut, zone.name)?.name !== cut) continue
    const servers = nameServers(cut, index).flatMap((record): Unlocated[] => {
      const server = targetName('NS', record.data)
      const below = server === null ? undefined : highestCut(delegations, server, zone.name)?.name
      return server === null || below === undefined || isLocated(server) ? [] : [{ record, server, below }]
    })
    if (servers.length > 0) found.set(cut, servers)
  }
  return found
}

/** A test whether resolvers reach a delegation. They do if they can locate one of its name servers: by its addresses, or through a delegation they reach. */
function reachabilityTest(index: ZoneIndex, unlocated: ReadonlyMap<DomainName, readonly Unlocated[]>): (cut: DomainName) => boolean {
  const unreachable = new Set([...unlocated].flatMap(([cut, servers]) => (servers.length === nameServers(cut, index).length ? cut : [])))
  const dependents = new Map<DomainName, DomainName[]>()
  for (const [cut, servers] of unlocated) for (const { below } of servers) append(dependents, below, cut)
  const reached = [...dependents.keys()].filter((cut) => !unreachable.has(cut))
  for (let cut = reached.pop(); cut !== undefined; cut = reached.pop())
    for (const other of dependents.get(cut) ?? []) if (unreachable.delete(other)) reached.push(other)
  return (cut) => !unreachable.has(cut)
}
