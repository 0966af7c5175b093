/** The steps of a cutover: what each changes at a provider, or waits for in the parent zone, which only its registrar or administrator can change. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { agreeing, counted, durationText, listed } from '../../base/english.ts'
import type { Config } from '../../config/config.ts'
import { type DomainName, isAtOrBelow, relativeName } from '../../dns/domain-name.ts'
import { isApexNs, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { isSignerRecord } from '../../dns/signer-records.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { type Allowance, DEFAULT_ZONE_OPTIONS, type ZoneSettings } from '../../dns/zone.ts'
import { misfitsOf } from '../../plan/misfits.ts'
import type { Change } from '../../plan/plan.ts'
import type { ZoneJob } from '../../plan/planned-zone.ts'
import { diagnosticOf, type Provider, type ZoneSnapshot } from '../../providers/provider.ts'
import type { LockedRun } from '../../run/apply/locked-run.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import type { Cutover } from '../../run/load/cutover-state.ts'
import { type PlannedJob, type PlannedJobs, planAgain, readAndPlan } from '../../run/plan/plan-zones.ts'
import { openZones } from '../../run/read/open-zones.ts'
import { changeZones } from '../../run/run-apply.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import { queryDns } from '../../transport/dns-client.ts'
import { type DnsServer, formatServer, isDnsFailure } from '../../transport/dns-exchange.ts'
import { askParent, type Delegation, parentServers } from '../../transport/parent-zone.ts'
import { copiedZone, leftBehind } from '../copy/copied-zone.ts'
import { planCopy, withoutPositions } from '../copy/run-copy.ts'
import { loweringJob } from '../stages/stages.ts'
import { compareSides } from './compare-sides.ts'
import type { CutoverContext, MoveContext, StepResult } from './cutover-context.ts'

/** Answers that a message lists. */
const MOST_LISTED = 10

/** Does the step of the state. */
export async function doStep(context: CutoverContext, lockedRun: LockedRun): Promise<StepResult> {
  try {
    switch (context.workspace.state.step) {
      case 'lower':
        return await lower(context, lockedRun)
      case 'copy':
        return await copy(context, lockedRun)
      case 'unsign':
        return await unsign(context)
      case 'delegate':
        return await delegate(context)
      case 'drain':
        return next(context.workspace.state, { step: 'restore', notBefore: null })
      case 'restore':
        return await restore(context, lockedRun)
    }
  } catch (error) {
    context.output.diagnostics([diagnosticOf(error)])
    return failed(context.workspace.state)
  }
}

/** Lowers the TTL of the apex NS records, or, if the provider sets those itself, the default TTL of the zone. */
async function lower(context: CutoverContext, lockedRun: LockedRun): Promise<StepResult> {
  const { options, output, environment } = context
  const { ends, state, zone, file } = context.workspace
  const { source } = ends
  const read = await readSide(context, source)
  if (read?.existing == null) return reportProblem(context, 'zone-unknown', `${source.name} has no zone ${zone}`)
  const { existing } = read
  if (existing.settings.type === 'slave')
    return reportProblem(context, 'setting-unsupported', `${zone} is a slave zone at ${source.name}: its records come from its masters`)
  const servers = serversOf(options.fromServer, apexNames(read))
  if (!checkServers(context, servers)) return failed(state)
  const moved = context.workspace.known === null && (await isMoved(context, apexNames(read)))
  if (typeof moved !== 'boolean') return moved
  if (moved) {
    output.say(`The parent delegates ${zone} to ${ends.target.name} already: nothing is left to move.`)
    return { status: EXIT.done, state: null, readyAt: null }
  }
  const served = await servedNsTtl(zone, servers)
  if (typeof served === 'string')
    return reportProblem(context, 'nameserver-failed', `${zone}: ${served}`, 'name the servers with --from-server')
  const zoneTtl = existing.settings.ttl_sec || source.capabilities.fallbackTtl || 0
  const apex = existing.records.filter((record) => isApexNs(record, zone))
  const apexTtl = apex.length === 0 ? zoneTtl : Math.max(...apex.map(({ ttl }) => ttl ?? zoneTtl))
  const formerTtl = Math.max(state.formerTtl, served ?? 0, apexTtl)
  const { lowTtl } = state
  const byZone = apex.length === 0 && source.capabilities.settings.has('ttl_sec') && zoneTtl > lowTtl
  const formerZoneTtl = byZone ? (state.formerZoneTtl ?? existing.settings.ttl_sec ?? 0) : state.formerZoneTtl
  const mustLower = byZone || (apex.length > 0 && apexTtl > lowTtl)
  // Written first: if this run is cut off, the next one knows the former TTLs, and waits for them.
  const begun: Cutover = { ...state, formerTtl, formerZoneTtl, lowered: state.lowered || mustLower }
  await file.write(begun)
  const rrsets = apex.length === 0 ? [] : [{ name: zone, type: 'NS', formerTtl }]
  const job = byZone ? settingsJob(read.job, { ttl_sec: lowTtl }) : loweringJob(read.job, existing, rrsets, lowTtl)
  if (mustLower) {
    const status = await makeChanges(context, lockedRun, read, job, source)
    if (status !== EXIT.done) return failed(begun, status)
    output.say(`Caches may keep the old name servers of ${zone} for up to ${durationText(formerTtl)}.`)
    return next(begun, { step: 'copy', notBefore: inSeconds(environment.now(), formerTtl) })
  }
  if (begun.lowered || formerTtl <= lowTtl)
    return next(begun, { step: 'copy', notBefore: inSeconds(environment.now(), formerTtl <= lowTtl ? 0 : formerTtl) })
  output.say(`${source.name} has no TTL to lower, so its servers must answer for another ${durationText(formerTtl)} after the move.`)
  return next(begun, { step: 'copy' })
}

/**
 * Whether an earlier cutover, of which nothing is known any more, has moved the zone. To begin again would lower the TTLs at the new provider for good. A failure to
 * find out is reported.
 */
async function isMoved(context: CutoverContext, formerNames: readonly string[]): Promise<boolean | StepResult> {
  const there = await readSide(context, context.workspace.ends.target)
  const names = there === null ? [] : apexNames(there)
  return names.length > 0 && !isSameServers(names, formerNames) ? hasDelegation(context, names) : false
}

/**
 * The longest TTL in seconds with which servers answer for the apex NS records: those may be older than the records of the provider. Null if no server has the zone
 * yet; a text if no server can be asked or none can answer, so that nobody knows for how long caches hold them.
 */
async function servedNsTtl(zone: DomainName, servers: readonly DnsServer[]): Promise<number | null | string> {
  if (servers.length === 0) return 'its name servers are not known yet'
  const failures: string[] = []
  const ttls = await Promise.all(
    servers.map((server) =>
      queryDns(server, { name: zone, type: 'NS' }).then(
        ({ rcode, answers }) => {
          // A server without the zone refuses the query.
          if (!['NOERROR', 'NXDOMAIN', 'REFUSED'].includes(rcode)) failures.push(`${formatServer(server)} answers ${rcode}`)
          return answers.filter(({ type }) => type === 'NS').map(({ ttl }) => ttl ?? 0)
        },
        (error: unknown) => {
          if (!isDnsFailure(error)) throw error
          failures.push(error.message)
          return []
        },
      ),
    ),
  )
  if (failures.length === servers.length) return failures[0] as string
  return ttls.flat().length === 0 ? null : Math.max(...ttls.flat())
}

/** Copies the zone, and compares what both sides answer. */
async function copy(context: CutoverContext, lockedRun: LockedRun): Promise<StepResult> {
  const { output } = context
  const { ends, state, zone } = context.workspace
  const read = await readSide(context, ends.source)
  if (read?.existing == null) return reportProblem(context, 'zone-unknown', `${ends.source.name} has no zone ${zone}`)
  const planned = withOwnTtl(await planCopy(context, [formerZone(read.existing, state)], ends, newApexNs(context)))
  const formerNames = apexNames(read)
  const copiedNames = planned.zones.flatMap(({ job }) =>
    job.desired.records.filter((record) => isApexNs(record, zone)).map(({ data }) => data),
  )
  if (isSameServers(copiedNames, formerNames)) return sameServers(context)
  const status = await changeZones(context, lockedRun, planned)
  if (status !== EXIT.done) return failed(state, status)
  const there = await readSide(context, ends.target)
  const names = state.apexNs.length > 0 ? state.apexNs : there === null ? [] : apexNames(there)
  if (names.length === 0)
    return reportProblem(
      context,
      'usage',
      `${ends.target.name} does not name the servers of ${zone}`,
      'name them with --apex-ns, once for each',
    )
  if (isSameServers(names, formerNames)) return sameServers(context)
  const differs = await compare(context, read.existing, formerNames, names)
  if (differs !== null) return differs
  const parent = await askAbout(context)
  if (!Array.isArray(parent)) return parent as StepResult
  const hasDs = parent.some(({ ds }) => ds > 0)
  output.say(hasDs ? `${zone} has DS records at its parent.` : `${zone} has no DS records at its parent.`)
  return next(state, {
    step: hasDs ? 'unsign' : 'delegate',
    nameservers: names,
    notBefore: null,
    parentTtl: Math.max(state.parentTtl, longestTtl(parent)),
  })
}

/** The plan without a refusal of a change of the apex NS records that is the cutover's own TTL and nothing else. */
function withOwnTtl(planned: PlannedJobs): PlannedJobs {
  const zones = planned.zones.map((one) => {
    const { job, existing } = one
    const namesOf = (records: readonly ResourceRecord[] = []): string[] =>
      records.filter((record) => isApexNs(record, job.desired.name)).map(({ data }) => data)
    if (!isSameServers(namesOf(existing?.records), namesOf(job.desired.records).sort())) return one
    const refusals = one.plan.refusals.filter(({ name }) => name !== 'apex-ns')
    return { ...one, plan: { ...one.plan, refusals } }
  })
  return { ...planned, zones }
}

const isSameServers = (names: readonly string[], former: readonly string[]): boolean =>
  names.length > 0 && [...new Set(names)].sort().join() === former.join()

/** The parent's delegation would be the same before and after the move, so nobody could see whether it has changed. */
function sameServers(context: CutoverContext): StepResult {
  const { zone, ends } = context.workspace
  const message = `${zone} would have the same name servers at ${ends.target.name} as at ${ends.source.name}`
  return reportProblem(context, 'usage', message, `name the servers of ${zone} at ${ends.target.name} with --apex-ns, once for each`)
}

/** Null if both sides answer alike. */
async function compare(
  context: CutoverContext,
  existing: ZoneSnapshot,
  formerNames: readonly string[],
  names: readonly string[],
): Promise<StepResult | null> {
  const { options, output } = context
  const { zone, ends, state } = context.workspace
  const { source, target } = ends
  const desired = copiedZone(existing, source, target, { apexNs: null, isNew: false, defaults: {}, lossy: true })
  const lost = leftBehind(existing, source, target).filter(({ isLoss }) => isLoss)
  const misfits = [...lost, ...misfitsOf(desired, target.name, target.capabilities)]
  const leftOut = new Set(misfits.flatMap(({ rrset, state: fate }) => (rrset === null || fate === 'ttl' ? [] : [rrsetKey(rrset)])))
  const [former, other] = [serversOf(options.fromServer, formerNames), serversOf(options.toServer, names)]
  if (!checkServers(context, [...former, ...other])) return failed(state)
  const found = await compareSides(
    zone,
    existing.records,
    former,
    other,
    (record) => isSignerRecord(record, zone) || leftOut.has(rrsetKey(record)),
  )
  if (!found.ok)
    return reportProblem(context, 'nameserver-failed', `${zone}: ${found.message}`, 'name the servers with --from-server and --to-server')
  if (found.differences.length === 0) {
    output.say(`Both sides answer alike: ${counted(found.asked, 'record set')} queried.`)
    return null
  }
  for (const { name, type, server, former, now } of found.differences.slice(0, MOST_LISTED))
    output.say(`  ${relativeName(name, zone) || '@'} ${type} at ${server}: ${now}; at ${source.name}: ${former}`)
  output.say(
    `${counted(found.differences.length, 'answer')} of ${target.name} ${agreeing(found.differences.length, 'differs', 'differ')}: nothing moves before all are alike.`,
  )
  return { status: EXIT.pending, state, readyAt: new Date(context.environment.now().getTime() + LOOK_AGAIN) }
}

/** Sets the former TTL of the apex NS records at the new provider. */
async function restore(context: CutoverContext, lockedRun: LockedRun): Promise<StepResult> {
  const { output } = context
  const { ends, state, zone } = context.workspace
  const { source, target } = ends
  const read = await readSide(context, target)
  const apex = read?.existing?.records.find((record) => isApexNs(record, zone))
  if (read?.existing != null && apex?.ttl != null && state.formerTtl > apex.ttl) {
    const rrsets = [{ name: zone, type: 'NS', formerTtl: state.formerTtl }]
    const status = await makeChanges(context, lockedRun, read, loweringJob(read.job, read.existing, rrsets, state.formerTtl), target)
    if (status !== EXIT.done) return failed(state, status)
  }
  output.say(`${zone} has moved to ${target.name}. Change the target of its definition; then the zone can be deleted at ${source.name}.`)
  return { status: EXIT.done, state: null, readyAt: null }
}

/**
 * Restores the TTLs of the source and forgets the cutover. If the parent delegates to the new provider already, or if the TTLs cannot be restored, it is forgotten
 * as it is: nothing else would unlock the zone.
 */
export async function abortCutover(context: MoveContext, lockedRun: LockedRun): Promise<StepResult> {
  const { options, output } = context
  const { state, zone, file } = context.workspace
  const { interruption } = context.environment
  const { from, to } = state
  const isMoved = state.step === 'drain' || state.step === 'restore' || (await isDelegated(context)) === true
  const status = isMoved || !state.lowered ? EXIT.done : await restoreSource(context, lockedRun)
  if (status !== EXIT.done && status !== null) {
    const low = durationText(state.lowTtl)
    output.say(`The TTL of ${zone} at ${from} may still be ${low}; it was ${durationText(state.formerTtl)} before the cutover.`)
    const mayEnd =
      interruption.status() === null && (options.yes || (await output.ask('End the cutover as it is?', interruption.signal)) === 'yes')
    if (!mayEnd) return failed(state, status)
  }
  await file.remove()
  const copy = state.step === 'lower' ? `nothing was copied to ${to}` : `${to} keeps what was copied to it`
  const source =
    status === null
      ? `${from} does not have the zone any more, and `
      : status === EXIT.done
        ? `the TTLs at ${from} are as before, and `
        : ''
  const result = isMoved ? `the parent delegates it to ${to}. To go back, start a cutover --from ${to} --to ${from}.` : `${source}${copy}.`
  output.say(`The cutover of ${zone} is ended; ${result}`)
  return { status: status ?? EXIT.done, state: null, readyAt: null }
}

/** Null if the source does not have the zone. */
async function restoreSource(context: MoveContext, lockedRun: LockedRun): Promise<ExitStatus | null> {
  const { output } = context
  const { ends, state, zone, diagnostics } = context.workspace
  const { source } = ends
  if (source === undefined) {
    output.diagnostics(diagnostics)
    return EXIT.failure
  }
  try {
    const read = await readSide(context, source)
    if (read?.existing == null) return null
    const rrsets = [{ name: zone, type: 'NS', formerTtl: state.formerTtl }]
    const job =
      state.formerZoneTtl === null
        ? loweringJob(read.job, read.existing, rrsets, state.formerTtl)
        : settingsJob(read.job, { ttl_sec: state.formerZoneTtl })
    return await makeChanges(context, lockedRun, read, job, source)
  } catch (error) {
    output.diagnostics([diagnosticOf(error)])
    return EXIT.failure
  }
}

/** Milliseconds between two looks at what others have to change. */
const LOOK_AGAIN = 60_000

const DNS_PORT = 53

const failed = (state: Cutover, status: ExitStatus = EXIT.failure): StepResult => ({ status, state, readyAt: null })

const next = (state: Cutover, change: Partial<Cutover>): StepResult => ({
  status: EXIT.done,
  state: { ...state, ...change },
  readyAt: null,
})

const inSeconds = (now: Date, seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString()

function reportProblem(context: MoveContext, code: Diagnostic['code'], message: string, hint?: string): StepResult {
  context.output.diagnostics([{ severity: 'error', code, message, hint }])
  return failed(context.workspace.state)
}

/** Reads the zone at a provider, with an empty plan; null if the provider does not have it. */
async function readSide({ options, environment, workspace }: MoveContext, provider: Provider): Promise<PlannedJob | null> {
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
function apexNames({ existing, rendered, plan }: PlannedJob): string[] {
  const own = (existing?.records ?? []).filter((record) => isApexNs(record, plan.zone)).map(({ data }) => data)
  return [...new Set([...own, ...(rendered.providerApexNs ?? [])])].sort()
}

const serversOf = (given: readonly string[], names: readonly string[]): DnsServer[] =>
  given.length > 0 ? given.map(parseServerAddress) : names.map((name) => ({ host: name.replace(/\.$/, ''), port: DNS_PORT }))

/** Makes a job's changes to what was read. */
async function makeChanges(
  context: MoveContext,
  lockedRun: LockedRun,
  read: PlannedJob,
  job: ZoneJob,
  provider: Provider,
): Promise<ExitStatus> {
  const planned = planAgain({ ...read, job }, provider)
  const { now, tool } = context.environment
  return changeZones(context, lockedRun, withoutPositions({ created: now().toISOString(), tool, zones: [planned], diagnostics: [] }))
}

const settingsJob = (job: ZoneJob, settings: ZoneSettings): ZoneJob => ({ ...job, desired: { ...job.desired, settings } })

/** The zone of the source with the TTLs from before the cutover. */
export function formerZone(existing: ZoneSnapshot, { formerZoneTtl }: Cutover): ZoneSnapshot {
  if (formerZoneTtl === null) return existing
  const { ttl_sec: _, ...settings } = existing.settings
  return { ...existing, settings: formerZoneTtl === 0 ? settings : { ...settings, ttl_sec: formerZoneTtl } }
}

const newApexNs = ({ workspace: { state } }: CutoverContext) =>
  state.apexNs.length === 0
    ? null
    : { names: state.apexNs as readonly DomainName[], ttl: Math.min(state.lowTtl, state.formerTtl || state.lowTtl) as Ttl }

/** Whether the environment allows all of these servers, which NS records of any zone may name. Reports those that it refuses. */
function checkServers({ environment, workspace, output }: MoveContext, servers: readonly DnsServer[]): boolean {
  const policy = readHostPolicy(environment.env)
  const refused = servers.flatMap((server) => refusedServer(policy, workspace.zone, server) ?? [])
  output.diagnostics(refused)
  return refused.length === 0
}

/** Asks the servers of the parent zone; a failure is reported. */
async function askAbout(context: MoveContext): Promise<Delegation[] | StepResult> {
  const { options } = context
  const { zone, state } = context.workspace
  const hint = 'name the servers of the parent zone with --parent-server'
  const servers = options.parentServer.length > 0 ? options.parentServer.map(parseServerAddress) : await parentServers(zone)
  if (servers !== null && !checkServers(context, servers)) return failed(state)
  if (servers === null || servers.length === 0)
    return reportProblem(context, 'nameserver-failed', `the servers of the zone above ${zone} could not be found`, hint)
  const result = await askParent(zone, servers)
  return result.ok ? [...result.delegations] : reportProblem(context, 'nameserver-failed', `${zone}: ${result.message}`, hint)
}

const longestTtl = (parent: readonly Delegation[]): number => Math.max(0, ...parent.map(({ ttl }) => ttl))

/** Waits until no server of the parent has a DS record: with one, resolvers refuse the answers of servers that do not sign with its key (RFC 4035 section 5). */
async function unsign(context: CutoverContext): Promise<StepResult> {
  const { output } = context
  const { state, zone } = context.workspace
  const { now } = context.environment
  const parent = await askAbout(context)
  if (!Array.isArray(parent)) return parent as StepResult
  const signed = parent.filter(({ ds }) => ds > 0)
  if (signed.length === 0) return next(state, { step: 'delegate', notBefore: inSeconds(now(), state.parentTtl) })
  const still = `${namesOfServers(signed)} still ${agreeing(signed.length, 'has', 'have')} them`
  output.say(`Now remove the DS records of ${zone} at the registrar or in the parent zone; ${still}.`)
  return lookAgain(context, parent)
}

const namesOfServers = (parent: readonly Delegation[]): string =>
  listed(
    parent.map(({ server }) => server),
    3,
  )

/** The step again, after the TTLs of the parent. */
function lookAgain({ workspace: { state }, environment: { now } }: CutoverContext, parent: readonly Delegation[]): StepResult {
  const parentTtl = Math.max(state.parentTtl, longestTtl(parent))
  return { status: EXIT.pending, state: { ...state, parentTtl }, readyAt: new Date(now().getTime() + LOOK_AGAIN) }
}

/** Says what to change at the parent, and waits until all of its servers show it. */
async function delegate(context: CutoverContext): Promise<StepResult> {
  const { output } = context
  const { state, zone, ends } = context.workspace
  const { now } = context.environment
  const parent = await askAbout(context)
  if (!Array.isArray(parent)) return parent as StepResult
  const late = parent.filter((one) => !isNew(one, state))
  if (late.length === 0) {
    await reportLateChanges(context)
    const seconds = Math.max(state.parentTtl, state.lowered ? state.lowTtl : state.formerTtl)
    output.say(`The parent delegates ${zone} to ${ends.target.name}. ${ends.source.name} must keep answering for ${durationText(seconds)}.`)
    return next(state, { step: 'drain', notBefore: inSeconds(now(), seconds) })
  }
  if ((await changesSinceCopy(context)).length > 0) {
    output.say(`${zone} has changed at ${ends.source.name} since it was copied: it is copied again.`)
    return next(state, { step: 'copy' })
  }
  const former = [...new Set(late.flatMap(({ nameservers }) => nameservers))].sort()
  output.say(`Now change the NS records of ${zone} at the registrar or in the parent zone:`)
  for (const name of former.filter((one) => !state.nameservers.includes(one))) output.say(`  - ${name}`)
  for (const name of state.nameservers.filter((one) => !former.includes(one)))
    output.say(`  + ${name}${isAtOrBelow(name as DomainName, zone) ? ' (with its addresses as glue)' : ''}`)
  output.say(`${namesOfServers(late)} ${agreeing(late.length, 'does', 'do')} not have them yet.`)
  return lookAgain(context, late)
}

const isNew = ({ nameservers }: Delegation, state: Cutover): boolean => nameservers.join() === state.nameservers.join()

/** Whether a server of the parent has the new name servers already; null, after a warning, if that is unknown. */
async function isDelegated(context: MoveContext): Promise<boolean | null> {
  const { output } = context
  const { state } = context.workspace
  if (state.nameservers.length === 0) return false
  const warn = (found: readonly Diagnostic[]): void => output.diagnostics(found.map((one) => ({ ...one, severity: 'warning' })))
  const parent = await askAbout({ ...context, output: { ...output, diagnostics: warn } })
  return Array.isArray(parent) ? parent.some((one) => isNew(one, state)) : null
}

/** Whether all servers of the parent have these name servers, sorted. A failure to find out is reported. */
async function hasDelegation(context: CutoverContext, names: readonly string[]): Promise<boolean | StepResult> {
  const parent = await askAbout(context)
  return Array.isArray(parent) ? parent.every(({ nameservers }) => nameservers.join() === names.join()) : (parent as StepResult)
}

/** The changes that a copy would make. */
async function changesSinceCopy(context: CutoverContext): Promise<readonly Change[]> {
  const { ends, state } = context.workspace
  const read = await readSide(context, ends.source)
  if (read?.existing == null) return []
  const quiet = { ...context, output: { ...context.output, misfits: () => undefined } }
  const { zones } = await planCopy(quiet, [formerZone(read.existing, state)], ends, newApexNs(context))
  return zones.flatMap(({ plan }) => plan.changes)
}

/** Changes that a message names. */
const MOST_NAMED = 10

/**
 * Warns of changes at the previous provider that the copy does not have. They are not copied once the parent has changed: the new provider's records are those
 * in use. A provider that cannot be read stops nothing here.
 */
async function reportLateChanges(context: CutoverContext): Promise<void> {
  const { output } = context
  const { zone, ends } = context.workspace
  const changes = await changesSinceCopy(context).catch((error: unknown) => {
    const { message } = diagnosticOf(error)
    output.diagnostics([
      { severity: 'warning', code: 'apply-drift', message: `whether ${zone} has changed since it was copied is unknown: ${message}` },
    ])
    return []
  })
  if (changes.length === 0) return
  const names = [...new Set(changes.map(({ name, type }) => `${name} ${type}`))]
  const message = `${zone} has changed at ${ends.source.name} since it was copied, and the parent has the new name servers already: ${listed(names, MOST_NAMED)}`
  const hint = `"zonewright copy --from ${ends.source.name} --to ${ends.target.name} ${zone} --dry-run" shows the differences`
  output.diagnostics([{ severity: 'warning', code: 'apply-drift', message, hint }])
}
