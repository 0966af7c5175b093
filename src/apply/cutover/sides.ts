/** What the steps of a cutover share: reading and changing one side, and their results. */
import type { Config } from '../../definition/config/config.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { isApexNs } from '../../dns/record.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { type Allowance, DEFAULT_ZONE_OPTIONS, type ZoneSettings } from '../../dns/zone.ts'
import type { Provider, ZoneSnapshot } from '../../providers/provider.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import type { DnsServer } from '../../transport/dns-exchange.ts'
import { withoutPositions } from '../copy/run-copy.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import type { LockedRun } from '../locked-run.ts'
import { openZones } from '../open-zones.ts'
import { type PlannedJob, planAgain, readAndPlan } from '../plan-zones.ts'
import { changeZones } from '../run-apply.ts'
import type { ZoneJob } from '../run-context.ts'
import type { CutoverContext, MoveContext, StepResult } from './cutover-context.ts'
import type { Cutover } from './cutover-state.ts'

/** Milliseconds between two looks at what others have to change. */
export const LOOK_AGAIN = 60_000

const DNS_PORT = 53

export const failed = (state: Cutover, status: ExitStatus = EXIT.failure): StepResult => ({ status, state, readyAt: null })

export const next = (state: Cutover, change: Partial<Cutover>): StepResult => ({
  status: EXIT.done,
  state: { ...state, ...change },
  readyAt: null,
})

export const inSeconds = (now: Date, seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString()

export function problem(context: MoveContext, code: Diagnostic['code'], message: string, hint?: string): StepResult {
  context.output.diagnostics([{ severity: 'error', code, message, hint }])
  return failed(context.workspace.state)
}

/** Reads the zone at a provider, with an empty plan; null if the provider does not have it. */
export async function readSide({ options, environment, workspace }: MoveContext, provider: Provider): Promise<PlannedJob | null> {
  const { zone, config } = workspace
  // The cutover changes TTLs of apex NS records and nothing else here.
  const allow = new Set([...((options.allow ?? []) as Allowance[]), 'apex-ns' as const, 'updates' as const])
  const at = { file: provider.name, line: 1, column: 1 }
  const desired = { ...DEFAULT_ZONE_OPTIONS, name: zone, at, settings: {}, records: [] }
  const { safety: thresholds } = config as Config
  const job: ZoneJob = { desired, target: provider.name, policy: 'upsert-only', isPartial: true, thresholds, allow }
  const { signal } = environment.interruption
  const read = await readAndPlan(job, provider, await openZones(provider, [zone], { signal }), signal)
  return read.reference === null ? null : read
}

/** The apex NS records that a provider has or sets itself, as names. */
export function apexNames({ existing, rendered, plan }: PlannedJob): string[] {
  const own = (existing?.records ?? []).filter((record) => isApexNs(record, plan.zone)).map(({ data }) => data)
  return [...new Set([...own, ...(rendered.providerApexNs ?? [])])].sort()
}

export const serversOf = (given: readonly string[], names: readonly string[]): DnsServer[] =>
  given.length > 0 ? given.map(parseServerAddress) : names.map((name) => ({ host: name.replace(/\.$/, ''), port: DNS_PORT }))

/** Makes a job's changes to what was read. */
export async function change(
  context: MoveContext,
  run: LockedRun,
  read: PlannedJob,
  job: ZoneJob,
  provider: Provider,
): Promise<ExitStatus> {
  const planned = planAgain({ ...read, job }, provider)
  const { now, tool } = context.environment
  return changeZones(context, run, withoutPositions({ created: now().toISOString(), tool, zones: [planned], diagnostics: [] }))
}

export const settingsJob = (job: ZoneJob, settings: ZoneSettings): ZoneJob => ({ ...job, desired: { ...job.desired, settings } })

/** The zone of the source with the TTLs from before the cutover. */
export function formerZone(existing: ZoneSnapshot, { formerZoneTtl }: Cutover): ZoneSnapshot {
  if (formerZoneTtl === null) return existing
  const { ttl_sec: _, ...settings } = existing.settings
  return { ...existing, settings: formerZoneTtl === 0 ? settings : { ...settings, ttl_sec: formerZoneTtl } }
}

export const newApexNs = ({ workspace: { state } }: CutoverContext) =>
  state.apexNs.length === 0
    ? null
    : { names: state.apexNs as readonly DomainName[], ttl: Math.min(state.lowTtl, state.formerTtl || state.lowTtl) as Ttl }

/** Whether the environment allows all of these servers, which NS records of any zone may name. Reports those that it refuses. */
export function mayAsk({ environment, workspace, output }: MoveContext, servers: readonly DnsServer[]): boolean {
  const policy = readHostPolicy(environment.env)
  const refused = servers.flatMap((server) => refusedServer(policy, workspace.zone, server) ?? [])
  output.diagnostics(refused)
  return refused.length === 0
}
