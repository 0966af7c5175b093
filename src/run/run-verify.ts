/** `verify`: compares definitions with the records of their targets, the rendered zone files and the answers of name servers. */
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { isApexNs } from '../dns/record.ts'
import { isServerAddress, parseServerAddress } from '../dns/server-address.ts'
import { withoutSecrets } from '../plan/planned-zone.ts'
import { diagnosticOf, type Provider, ProviderError } from '../providers/provider.ts'
import type { Verification } from '../report/verification.ts'
import { isVerified, type ZoneVerification } from '../report/verification.ts'
import { type HostPolicy, readHostPolicy, refusedServer } from '../transport/allowed-hosts.ts'
import { queryDns } from '../transport/dns-client.ts'
import type { DnsServer } from '../transport/dns-exchange.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import { EXIT, type ExitStatus } from './context/exit-status.ts'
import { forEachZone, type RunContext, type RunOutput, type RunSetup, type WorkspaceOptions } from './context/run-context.ts'
import { movingZones } from './load/cutover-state.ts'
import { findUndescribed, noticesOfUndescribed } from './load/removed-zones.ts'
import { openWorkspace, reportLoaded } from './load/workspace.ts'
import type { PlannedJob } from './plan/plan-zones.ts'
import { makePlan } from './plan/plan-zones.ts'
import { readFencesForPlan } from './run-plan.ts'
import type { QueriedServer } from './verify-zone.ts'
import { verifyZone } from './verify-zone.ts'

export interface VerifyOptions extends WorkspaceOptions {
  /** Name servers to query instead of those of the config or the NS records. */
  readonly nameserver: readonly string[]
  /** Whether to query name servers. */
  readonly dns: boolean
  /** A region. Its resolvers are queried, and name servers only if `nameserver` lists them. */
  readonly resolvers?: string | undefined
}

export interface VerifyOutput extends RunOutput {
  verification(verification: Verification): void
  /** Writes a document of a run that could not verify. */
  unverified(diagnostics: readonly Diagnostic[]): void
}

interface VerifySetup extends RunSetup<VerifyOptions> {
  readonly output: VerifyOutput
}

type VerifyContext = RunContext<VerifyOptions> & VerifySetup

/** Zones whose name servers are queried concurrently. */
const ZONES_AT_ONCE = 4

const DNS_PORT = 53

/** Verifies the named zones, or all. Changes nothing. */
export async function runVerify(setup: VerifySetup, zones: readonly string[]): Promise<ExitStatus> {
  const { options, output, environment } = setup
  const fail = (diagnostics: readonly Diagnostic[]): ExitStatus => {
    output.unverified(diagnostics)
    return EXIT.failure
  }
  const policy = readHostPolicy(environment.env)
  const problems = nameserverProblems(options.nameserver, policy)
  if (problems.length > 0) {
    output.diagnostics(problems)
    return fail(problems)
  }
  const workspace = await openWorkspace(setup, zones)
  const context: VerifyContext = { ...setup, workspace }
  try {
    if (!reportLoaded(output, workspace)) return fail(workspace.diagnostics)
    const { fences, problems } = await readFencesForPlan(context)
    const planned = withoutSecrets(await makePlan(context, environment.signal, fences, false), environment.secrets)
    const moving = await movingZones(
      workspace.journal,
      planned.zones.map(({ plan }) => plan),
    )
    const cutovers = [...moving.values()].map((one): Diagnostic => ({ ...one, severity: 'warning' }))
    const found = await findResolvers(context, planned.zones, policy)
    const verified = await verifyZones(context, planned.zones, found.resolvers, policy)
    const undescribed = noticesOfUndescribed(await findUndescribed(workspace), workspace, planned.diagnostics)
    const own = [...problems, ...planned.diagnostics, ...found.diagnostics, ...cutovers, ...undescribed]
    const diagnostics = [...own, ...(workspace.leftOut ?? [])]
    output.diagnostics([...own, ...verified.flatMap((zone) => zone.diagnostics)], { also: 'before-zones' })
    output.verification({ zones: verified, diagnostics })
    if (hasErrors(diagnostics) || verified.some((zone) => hasErrors(zone.diagnostics))) return EXIT.failure
    return verified.every(isVerified) ? EXIT.done : EXIT.pending
  } finally {
    await workspace.close()
  }
}

/** An error for each `--nameserver` that is malformed or that the policy refuses. */
function nameserverProblems(nameservers: readonly string[], policy: HostPolicy): Diagnostic[] {
  return nameservers.flatMap((server): Diagnostic[] => {
    if (isServerAddress(server)) return [refusedServer(policy, '--nameserver', parseServerAddress(server)) ?? []].flat()
    const message = `--nameserver ${JSON.stringify(server)} is not an address`
    return [{ severity: 'error', code: 'usage', message, hint: 'such as 192.0.2.53, 127.0.0.1:5353, [::1]:5353 or a name' }]
  })
}

/** The resolvers of the providers of the zones in the requested region; none without a region. */
async function findResolvers(
  { workspace: { providers }, options: { resolvers: region } }: VerifyContext,
  zones: readonly PlannedJob[],
  policy: HostPolicy,
): Promise<RegionResolvers> {
  if (region === undefined) return { resolvers: new Map(), diagnostics: [] }
  // One zone per provider is enough to test its resolvers.
  const sampleZones = new Map(zones.map(({ job }) => [job.target, job.desired.name]))
  const sampleOfProvider = [...providers.values()].flatMap((provider) => {
    const zone = sampleZones.get(provider.name)
    return zone === undefined ? [] : [[provider, zone] as const]
  })
  return findRegionResolvers(region, new Map(sampleOfProvider), policy)
}

const verifyZones = (
  { output, options, environment: { signal } }: VerifyContext,
  zones: readonly PlannedJob[],
  resolvers: RegionResolvers['resolvers'],
  policy: HostPolicy,
): Promise<ZoneVerification[]> =>
  forEachZone(
    output,
    'asking',
    zones,
    (zone) => {
      if (signal?.aborted) throw new ProviderError('provider-stopped', 'the run was stopped before all name servers were queried')
      return verifyZone(zone, serversOf(zone, resolvers.get(zone.job.target) ?? [], options), policy)
    },
    ZONES_AT_ONCE,
  )

/**
 * The servers to query for a zone; `unknown` if nothing names one. With `--resolvers`, name servers are queried only if `--nameserver` lists them; with
 * `--no-dns`, never.
 */
function serversOf(zone: PlannedJob, resolvers: readonly QueriedServer[], { dns, nameserver, resolvers: region }: VerifyOptions) {
  if (!dns || (region !== undefined && nameserver.length === 0)) return resolvers
  const configured = nameserver.length > 0 ? nameserver : (zone.job.nameservers ?? null)
  const servers = configured === null ? listedNameServers(zone) : configured.map(parseServerAddress)
  if (configured === null && servers.length === 0) return 'unknown'
  return [...servers.map((server): QueriedServer => ({ server, role: 'authoritative' })), ...resolvers]
}

/** The name servers in the known apex NS records of the zone. */
function listedNameServers({ existing, plan, rendered }: PlannedJob): DnsServer[] {
  const listed = (existing?.records ?? []).filter((record) => isApexNs(record, plan.zone))
  const names = new Set([...(rendered.providerApexNs ?? []), ...listed.map((record) => record.data)])
  return [...names].sort().map((name) => ({ host: name.replace(/\.$/, ''), port: DNS_PORT }))
}

interface RegionResolvers {
  /** By the name of the provider. */
  readonly resolvers: ReadonlyMap<string, readonly QueriedServer[]>
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Finds the resolvers of each provider in the region that answer a query for a zone of the provider. Warns if some do not: this machine may lack IPv6. Reports
 * an error if none does, if the region is unknown or has no resolvers, or if the policy refuses one.
 */
async function findRegionResolvers(
  region: string,
  zoneOf: ReadonlyMap<Provider, DomainName>,
  policy: HostPolicy,
): Promise<RegionResolvers> {
  const resolvers = new Map<string, readonly QueriedServer[]>()
  const diagnostics: Diagnostic[] = []
  await Promise.all(
    [...zoneOf].map(async ([provider, zone]) => {
      const fail = (problem: string): void => {
        diagnostics.push({ severity: 'error', code: 'region-unknown', message: `${provider.name} ${problem}` })
      }
      if (!provider.findResolvers) return fail('has no regions with resolvers')
      try {
        const found = await provider.findResolvers(region)
        if (found === null) return fail(`has no region ${JSON.stringify(region)}`)
        if (found.length === 0) return fail(`has no resolvers in the region ${region}`)
        const refused = found.flatMap(
          (address) => refusedServer(policy, `${provider.name}: region ${region}`, parseServerAddress(address)) ?? [],
        )
        diagnostics.push(...refused)
        if (refused.length > 0) return
        const { usable, failures } = await probeResolvers(found, zone)
        if (failures.length > 0) diagnostics.push(unusableResolvers(provider.name, region, usable.length, failures))
        resolvers.set(
          provider.name,
          usable.map((server) => ({ server, role: 'resolver' })),
        )
      } catch (error) {
        diagnostics.push(diagnosticOf(error))
      }
    }),
  )
  return { resolvers, diagnostics }
}

async function probeResolvers(
  addresses: readonly string[],
  zone: DomainName,
): Promise<{ usable: readonly DnsServer[]; failures: readonly string[] }> {
  const tried = await Promise.all(
    addresses.map(async (address) => {
      const server = parseServerAddress(address)
      return { server, failure: await probeFailure(server, zone) }
    }),
  )
  return {
    usable: tried.filter(({ failure }) => failure === null).map(({ server }) => server),
    failures: tried.flatMap(({ failure }) => failure ?? []),
  }
}

/** Why the resolver cannot be queried; null if it answers and does not refuse. */
async function probeFailure(server: DnsServer, zone: DomainName): Promise<string | null> {
  try {
    const { rcode } = await queryDns(server, { name: zone, type: 'SOA', recursion: true })
    return rcode === 'REFUSED' ? `${server.host} answers REFUSED` : null
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return error.message
  }
}

function unusableResolvers(provider: string, region: string, usable: number, failures: readonly string[]): Diagnostic {
  const [first, ...others] = failures
  const reason = others.length === 0 ? first : `${first}, and ${others.length} more`
  const total = usable + failures.length
  const summary =
    usable === 0
      ? `none of the ${total} resolvers of the region ${region} can be queried`
      : `${failures.length} of the ${total} resolvers of the region ${region} cannot be queried`
  return {
    severity: usable === 0 ? 'error' : 'warning',
    code: 'resolver-failed',
    message: `${provider}: ${summary}: ${reason}`,
    hint: 'run verify on a machine in the region; resolvers with an IPv6 address need IPv6 on this machine',
  }
}
