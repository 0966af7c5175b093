import pLimit from 'p-limit'
import type { AskedServer } from '../../apply/ask-server.ts'
import { isServerAddress, nameServersOf } from '../../apply/name-servers.ts'
import type { PlannedZone } from '../../apply/plan-zones.ts'
import { findRegionResolvers, type RegionResolvers } from '../../apply/region-resolvers.ts'
import { verifyZone } from '../../apply/verify-zone.ts'
import { hasErrors } from '../../dns/diagnostic.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import type { VerificationFormat } from '../../report/verification.ts'
import { isVerified, type ZoneVerification } from '../../report/verification.ts'
import { type HostPolicy, readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { exitOnSignal } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { reportThrottling } from '../report-throttling.ts'
import { openWorkspace, type Workspace, type WorkspaceJob } from '../workspace.ts'
import { checkWorkspace, runPlan } from './plan.ts'

export interface VerifyOptions extends CommonOptions {
  readonly target?: string
  readonly nameserver: readonly string[]
  readonly dns: boolean
  /** The region whose resolvers are asked, in place of name servers that are not named by `--nameserver`. */
  readonly resolvers?: string
  readonly format: VerificationFormat
}

/** Zones whose name servers are asked at once. */
const ZONES_AT_ONCE = 4

/** `zonewright verify [zone...]`: definitions against records, rendered zone files and DNS answers. */
export async function verify(io: CliIo, [zones]: readonly [string[]], options: VerifyOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const wrong = options.nameserver.find((server) => !isServerAddress(server))
  if (wrong !== undefined) {
    console.error(
      'usage',
      `--nameserver ${JSON.stringify(wrong)} is not an address`,
      'such as 192.0.2.53, 127.0.0.1:5353, [::1]:5353 or a name',
    )
    return EXIT.failure
  }
  const policy = readHostPolicy(io.env)
  const refused = options.nameserver.flatMap((server) => refusedServer(policy, '--nameserver', parseServerAddress(server)) ?? [])
  if (refused.length > 0) {
    console.diagnostics(refused)
    if (options.format !== 'text') console.verification({ zones: [], diagnostics: refused }, options.format)
    return EXIT.failure
  }
  const workspace = await openWorkspace(io, { ...options, zones, onThrottled: reportThrottling(console) })
  try {
    if (!checkWorkspace(workspace, console)) {
      if (options.format !== 'text') console.verification({ zones: [], diagnostics: workspace.diagnostics }, options.format)
      return EXIT.failure
    }
    const { plan, zones: planned } = await runPlan(workspace, io, console)
    const resolving = await resolversOf(planned, workspace, options, policy)
    const verified = await verifyZones(planned, resolving.resolvers, options, console, policy)
    const diagnostics = [...plan.diagnostics, ...resolving.diagnostics]
    console.diagnostics([...diagnostics, ...verified.flatMap((zone) => zone.diagnostics)])
    console.verification({ zones: verified, diagnostics }, options.format)
    if (hasErrors(diagnostics) || verified.some((zone) => hasErrors(zone.diagnostics))) return EXIT.failure
    return verified.every(isVerified) ? EXIT.done : EXIT.pending
  } finally {
    await workspace.close()
  }
}

/** The resolvers of the region at the targets of the zones; none where none are asked for. */
async function resolversOf(
  zones: readonly PlannedZone[],
  { providers }: Workspace,
  { resolvers: region }: VerifyOptions,
  policy: HostPolicy,
): Promise<RegionResolvers> {
  if (region === undefined) return { resolvers: new Map(), diagnostics: [] }
  const zoneOf = new Map(zones.map(({ job }) => [job.target, job.desired.name]))
  return findRegionResolvers(
    region,
    new Map(
      [...providers.values()].flatMap((provider) => {
        const zone = zoneOf.get(provider.name)
        return zone === undefined ? [] : [[provider, zone] as const]
      }),
    ),
    policy,
  )
}

/** The servers to ask about a zone. */
function serversOf(zone: PlannedZone, resolvers: RegionResolvers['resolvers'], options: VerifyOptions): readonly AskedServer[] {
  const resolving = resolvers.get(zone.job.target) ?? []
  if (!options.dns || (options.resolvers !== undefined && options.nameserver.length === 0)) return resolving
  const configured = options.nameserver.length > 0 ? options.nameserver : (zone.job as WorkspaceJob).nameservers
  return [...nameServersOf(zone, configured).map((server): AskedServer => ({ server, role: 'authoritative' })), ...resolving]
}

async function verifyZones(
  zones: readonly PlannedZone[],
  resolvers: RegionResolvers['resolvers'],
  options: VerifyOptions,
  console: Console,
  policy: HostPolicy,
): Promise<ZoneVerification[]> {
  const bar = console.progress()
  const release = exitOnSignal(bar.clear)
  const limit = pLimit(ZONES_AT_ONCE)
  let done = 0
  try {
    return await Promise.all(
      zones.map((zone) =>
        limit(async () => {
          const verified = await verifyZone(zone, serversOf(zone, resolvers, options), policy)
          done += 1
          bar.onProgress({ phase: 'asking', done, total: zones.length })
          return verified
        }),
      ),
    )
  } finally {
    release()
    bar.clear()
  }
}
