import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { isApexNs, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { isSignerRecord } from '../../dns/signer-records.ts'
import { misfitsOf } from '../../plan/misfits.ts'
import { diagnosticOf, type ZoneSnapshot } from '../../providers/provider.ts'
import { agreeing, counted, durationText } from '../../report/english.ts'
import { queryDns } from '../../transport/dns-client.ts'
import { type DnsServer, formatServer, isDnsFailure } from '../../transport/dns-exchange.ts'
import { loweringJob } from '../choreography/stages.ts'
import { copiedZone, leftBehind } from '../copy/copied-zone.ts'
import { planCopy } from '../copy/run-copy.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import type { LockedRun } from '../locked-run.ts'
import type { PlannedJobs } from '../plan-zones.ts'
import { changeZones } from '../run-apply.ts'
import { compareSides } from './compare-sides.ts'
import type { CutoverContext, MoveContext, StepResult } from './cutover-context.ts'
import type { Cutover } from './cutover-state.ts'
import { askAbout, delegate, hasDelegation, isDelegated, longestTtl, unsign } from './parent-steps.ts'
import {
  apexNames,
  change,
  failed,
  formerZone,
  inSeconds,
  LOOK_AGAIN,
  mayAsk,
  newApexNs,
  next,
  problem,
  readSide,
  serversOf,
  settingsJob,
} from './sides.ts'

/** Answers that a message lists. */
const MOST_LISTED = 10

/** Does the step of the state. */
export async function doStep(context: CutoverContext, run: LockedRun): Promise<StepResult> {
  try {
    switch (context.workspace.state.step) {
      case 'lower':
        return await lower(context, run)
      case 'copy':
        return await copy(context, run)
      case 'unsign':
        return await unsign(context)
      case 'delegate':
        return await delegate(context)
      case 'drain':
        return next(context.workspace.state, { step: 'restore', notBefore: null })
      case 'restore':
        return await restore(context, run)
    }
  } catch (error) {
    context.output.diagnostics([diagnosticOf(error)])
    return failed(context.workspace.state)
  }
}

/** Lowers the TTL of the apex NS records, or, if the provider sets those itself, the default TTL of the zone. */
async function lower(context: CutoverContext, run: LockedRun): Promise<StepResult> {
  const { options, output, environment } = context
  const { ends, state, zone, file } = context.workspace
  const { source } = ends
  const read = await readSide(context, source)
  if (read?.existing == null) return problem(context, 'zone-unknown', `${source.name} has no zone ${zone}`)
  const { existing } = read
  if (existing.settings.type === 'slave')
    return problem(context, 'setting-unsupported', `${zone} is a slave zone at ${source.name}: its records come from its masters`)
  const servers = serversOf(options.fromServer, apexNames(read))
  if (!mayAsk(context, servers)) return failed(state)
  const moved = context.workspace.known === null && (await isMoved(context, apexNames(read)))
  if (typeof moved !== 'boolean') return moved
  if (moved) {
    output.say(`The parent delegates ${zone} to ${ends.target.name} already: nothing is left to move.`)
    return { status: EXIT.done, state: null, readyAt: null }
  }
  const served = await servedNsTtl(zone, servers)
  if (typeof served === 'string') return problem(context, 'nameserver-failed', `${zone}: ${served}`, 'name the servers with --from-server')
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
    const status = await change(context, run, read, job, source)
    if (status !== EXIT.done) return failed(begun, status)
    output.say(`Caches hold the name servers of ${zone} for up to ${durationText(formerTtl)}.`)
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
async function copy(context: CutoverContext, run: LockedRun): Promise<StepResult> {
  const { output } = context
  const { ends, state, zone } = context.workspace
  const read = await readSide(context, ends.source)
  if (read?.existing == null) return problem(context, 'zone-unknown', `${ends.source.name} has no zone ${zone}`)
  const planned = withOwnTtl(await planCopy(context, [formerZone(read.existing, state)], ends, newApexNs(context)))
  const formerNames = apexNames(read)
  const copiedNames = planned.zones.flatMap(({ job }) =>
    job.desired.records.filter((record) => isApexNs(record, zone)).map(({ data }) => data),
  )
  if (isSameServers(copiedNames, formerNames)) return sameServers(context)
  const status = await changeZones(context, run, planned)
  if (status !== EXIT.done) return failed(state, status)
  const there = await readSide(context, ends.target)
  const names = state.apexNs.length > 0 ? state.apexNs : there === null ? [] : apexNames(there)
  if (names.length === 0)
    return problem(context, 'usage', `${ends.target.name} does not name the servers of ${zone}`, 'name them with --apex-ns, once for each')
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
  return problem(context, 'usage', message, `name the servers of ${zone} at ${ends.target.name} with --apex-ns, once for each`)
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
  if (!mayAsk(context, [...former, ...other])) return failed(state)
  const found = await compareSides(
    zone,
    existing.records,
    former,
    other,
    (record) => isSignerRecord(record, zone) || leftOut.has(rrsetKey(record)),
  )
  if (!found.ok)
    return problem(context, 'nameserver-failed', `${zone}: ${found.message}`, 'name the servers with --from-server and --to-server')
  if (found.differences.length === 0) {
    output.say(`Both sides answer alike: ${counted(found.asked, 'record set')} asked.`)
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
async function restore(context: CutoverContext, run: LockedRun): Promise<StepResult> {
  const { output } = context
  const { ends, state, zone } = context.workspace
  const { source, target } = ends
  const read = await readSide(context, target)
  const apex = read?.existing?.records.find((record) => isApexNs(record, zone))
  if (read?.existing != null && apex?.ttl != null && state.formerTtl > apex.ttl) {
    const rrsets = [{ name: zone, type: 'NS', formerTtl: state.formerTtl }]
    const status = await change(context, run, read, loweringJob(read.job, read.existing, rrsets, state.formerTtl), target)
    if (status !== EXIT.done) return failed(state, status)
  }
  output.say(`${zone} has moved to ${target.name}. Change the target of its definition; then the zone can be deleted at ${source.name}.`)
  return { status: EXIT.done, state: null, readyAt: null }
}

/**
 * Restores the TTLs of the source and forgets the cutover. If the parent delegates to the new provider already, or if the TTLs cannot be restored, it is forgotten
 * as it is: nothing else would unlock the zone.
 */
export async function abortCutover(context: MoveContext, run: LockedRun): Promise<StepResult> {
  const { options, output } = context
  const { state, zone, file } = context.workspace
  const { interruption } = context.environment
  const { from, to } = state
  const isMoved = state.step === 'drain' || state.step === 'restore' || (await isDelegated(context)) === true
  const status = isMoved || !state.lowered ? EXIT.done : await restoreSource(context, run)
  if (status !== EXIT.done && status !== null) {
    const low = durationText(state.lowTtl)
    output.say(`The TTL of ${zone} at ${from} may still be ${low}; it was ${durationText(state.formerTtl)} before the cutover.`)
    const mayEnd =
      interruption.status() === null && (options.yes || (await output.ask('End the cutover as it is?', interruption.signal)) === 'yes')
    if (!mayEnd) return failed(state, status)
  }
  await file.remove()
  const result = isMoved
    ? `the parent delegates it to ${to}. To go back, start a cutover --from ${to} --to ${from}.`
    : status === null
      ? `${from} does not have the zone any more. ${to} keeps its copy.`
      : `${status === EXIT.done ? `the TTLs at ${from} are as before. ` : ''}${to} keeps its copy.`
  output.say(`The cutover of ${zone} is ended; ${result}`)
  return { status: status ?? EXIT.done, state: null, readyAt: null }
}

/** Null if the source does not have the zone. */
async function restoreSource(context: MoveContext, run: LockedRun): Promise<ExitStatus | null> {
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
    return await change(context, run, read, job, source)
  } catch (error) {
    output.diagnostics([diagnosticOf(error)])
    return EXIT.failure
  }
}
