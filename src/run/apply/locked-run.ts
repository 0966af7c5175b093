/** A run that locks its zones before it reads them, journals its calls, and unlocks the zones at its end. */
import { randomInt } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { type Diagnostic, oneLine } from '../../base/diagnostic.ts'
import { isSecretExposed } from '../../base/secret-guard.ts'
import { LOCAL_JOURNAL } from '../../config/journal-place.ts'
import { isApexNs } from '../../dns/record.ts'
import { isNewerSerial, type SerialNumber } from '../../dns/serial-number.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { serialOf } from '../../dns/soa.ts'
import { makeFolder } from '../../files/make-folder.ts'
import { ownProcess } from '../../files/process-identity.ts'
import { writeProblemText } from '../../files/write-problem.ts'
import type { ZoneOutcome } from '../../plan/plan.ts'
import type { Provider } from '../../providers/provider.ts'
import { keepOutOfGit, tightenJournal } from '../../stored/journal/journal-folder.ts'
import { type RunCommand, runId } from '../../stored/journal/journal-format.ts'
import { beginJournal, type Journal } from '../../stored/journal/write-journal.ts'
import { type AcquiredLease, acquireLease, type Heartbeat, type LeaseRequest } from '../../stored/store/acquire-lease.ts'
import { type Fences, fenceOf, markUnchanged, rememberTtls, takeFences } from '../../stored/store/fences.ts'
import { fetchStates } from '../../stored/store/fetch-journal.ts'
import { type JournalStore, StoreError } from '../../stored/store/journal-store.ts'
import { type LeasedZone, ownHolder } from '../../stored/store/leases.ts'
import { openStore, storeContext } from '../../stored/store/open-store.ts'
import { type StoredRun, storeRun } from '../../stored/store/stored-run.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import { queryDns } from '../../transport/dns-client.ts'
import { type DnsServer, formatServer, isDnsFailure } from '../../transport/dns-exchange.ts'
import { EXIT, type ExitStatus, worstOf } from '../context/exit-status.ts'
import type { ApplyContext, ProcessEnvironment } from '../context/run-context.ts'
import { movingZones } from '../load/cutover-state.ts'
import { type ApplicableZone, type ApplyZonesOptions, applyZones, type ChangesToMake } from './apply-zones.ts'

export interface LockedRun {
  readonly command: RunCommand
  /** As they were before any zone was read. */
  readonly fences: Fences
  /** See `ProviderCallOptions`. */
  readonly mayWrite: Heartbeat['mayWrite']
  /**
   * Takes the fences of zones that have changes, and applies the zones. If another run has changed one of them, or if the journal cannot be written, reports that,
   * changes nothing and returns the exit status.
   */
  apply(planned: ChangesToMake, zones: readonly ApplicableZone[], options: ApplyZonesOptions): Promise<readonly ZoneOutcome[] | ExitStatus>
  /** Does the work of the run, then closes the journal and unlocks the zones. */
  finish(work: () => Promise<ExitStatus>): Promise<ExitStatus>
}

export type LockResult = { readonly lockedRun: LockedRun } | { readonly lockedRun: null; readonly diagnostic: Diagnostic }

/** Locks the zones of a run, waiting as long as `--wait` says. Reports a lock that another run holds. */
export async function lockRun(context: ApplyContext, command: RunCommand, zones: readonly LeasedZone[]): Promise<LockResult> {
  const { output } = context
  const { journal: folder } = context.workspace
  const { now } = context.environment
  const id = runId(now(), () => randomInt(0x10000) / 0x10000)
  const refuse = (diagnostic: Diagnostic): LockResult => {
    output.diagnostics([diagnostic])
    return { lockedRun: null, diagnostic }
  }
  let store: JournalStore | null = null
  let lease: AcquiredLease
  try {
    for (const path of tightenJournal(folder)) output.note(`${path} was accessible to other users; access is now restricted to you.`)
    store = await openStore(storeContext(context))
    lease = await lockZones(context, store, { command, run: id, zones })
    // Cutovers that other machines have begun.
    if (lease.state === 'acquired' && store.isShared) await fetchStatesOf(context, store, lease.heartbeat)
  } catch (error) {
    await store?.close()
    return refuse(unwritable(error, folder))
  }
  if (lease.state === 'busy') {
    await store.close()
    return refuse(lease.diagnostic)
  }
  return { lockedRun: createLockedRun(context, { id, command, store, ...lease }) }
}

/** Locks zones and does the work of a run for those that no cutover is moving, which are reported. */
export async function withFreeZones<Zone extends LeasedZone>(
  context: ApplyContext,
  command: RunCommand,
  wanted: readonly Zone[],
  work: (free: readonly Zone[], lockedRun: LockedRun) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { environment, workspace, output } = context
  const fail = (diagnostics: readonly Diagnostic[]): ExitStatus => {
    output.unplanned(diagnostics)
    return environment.interruption.status() ?? EXIT.failure
  }
  const lock = await lockRun(context, command, wanted)
  if (lock.lockedRun === null) return fail([lock.diagnostic])
  const { lockedRun } = lock
  return lockedRun.finish(async () => {
    const moving = await movingZones(workspace.journal, wanted)
    const found = [...moving.values()]
    output.diagnostics(found)
    if (moving.size === wanted.length) return fail(found)
    const status = await work(
      wanted.filter((zone) => !moving.has(zone)),
      lockedRun,
    )
    return worstOf([status, moving.size > 0 ? EXIT.failure : EXIT.done])
  })
}

async function fetchStatesOf({ workspace: { config, journal } }: ApplyContext, store: JournalStore, heartbeat: Heartbeat): Promise<void> {
  if (config?.journalStore.bucket == null) return
  try {
    await fetchStates(store, journal)
  } catch (error) {
    await heartbeat.end()
    throw error
  }
}

interface HeldRun {
  readonly id: string
  readonly command: RunCommand
  readonly store: JournalStore
  readonly heartbeat: Heartbeat
  readonly fences: Fences
}

function lockZones(
  { environment, workspace: { journal, config }, options, output }: ApplyContext,
  store: JournalStore,
  request: Pick<LeaseRequest, 'command' | 'run' | 'zones'>,
): Promise<AcquiredLease> {
  if (request.zones.length === 0) return Promise.resolve(NOTHING_LOCKED)
  makeFolder(journal, 0o700)
  keepOutOfGit(journal)
  return acquireLease({
    ...request,
    store,
    holder: ownHolder(environment.env),
    seconds: (config?.journalStore ?? LOCAL_JOURNAL).leaseSeconds,
    wait: (options.wait ?? 0) * 1000,
    signal: environment.interruption.signal,
    onWait: ({ message }) => output.note(`Waiting: ${oneLine(message)}.`),
  })
}

function createLockedRun(context: ApplyContext, { id, command, store, heartbeat, fences }: HeldRun): LockedRun {
  const { output } = context
  const { journal: folder, config } = context.workspace
  const { now, secrets } = context.environment
  const isFolder = config?.journalStore.bucket == null
  let journal: Journal | null = null
  let copy: StoredRun | null = null
  const fail = (error: unknown): ExitStatus => {
    output.diagnostics([unwritable(error, folder)])
    return EXIT.failure
  }
  const apply: LockedRun['apply'] = async (planned, given, options) => {
    const zones = given.map((zone) => zone.plan)
    const serials = given.map(({ plan: { zone, target }, existing }) => ({ zone, target, serial: existing?.serial }))
    const taken = await takeFences(store, fences, serials, id, now()).catch(storeProblem)
    if (taken instanceof StoreError) return fail(taken)
    if (!taken.taken) {
      output.diagnostics(taken.diagnostics)
      return EXIT.refused
    }
    const pending = await withLastSerials(given, options.providers, taken.before, context.environment)
    try {
      const lines: string[] = []
      journal = await beginJournal({
        journal: folder,
        run: id,
        command,
        rollsBack: planned.rollsBack ?? null,
        approvedBy: planned.approvals?.by ?? [],
        process: ownProcess(),
        now,
        planned,
        zones: pending,
        targets: options.providers,
        secrets,
        onLine: (text) => void (copy === null ? lines.push(text) : copy.line(text)),
      })
      if (!isFolder) {
        copy = await storeRun(store, id, join(folder, 'runs', id))
        for (const line of lines) copy.line(line)
      }
    } catch (error) {
      await markUnchanged(store, taken.before, zones, id).catch(storeProblem)
      if (isSecretExposed(error)) throw error
      return fail(error)
    }
    const outcomes = await applyJournalled(pending, { ...withLease(options, heartbeat), run: id }, journal, copy ?? undefined)
    if (heartbeat.lost.aborted)
      output.error('lease-lost', String(heartbeat.lost.reason), 'the report shows the changes made; "zonewright plan" shows those left')
    await rememberTtls(store, fences, outcomes).catch(storeProblem)
    const unchanged = outcomes.filter((outcome) => outcome.outcomes.every(({ state }) => state === 'failed' || state === 'skipped'))
    if (unchanged.length > 0)
      await markUnchanged(
        store,
        taken.before,
        unchanged.map(({ plan: zone }) => zone),
        id,
      ).catch(storeProblem)
    return outcomes
  }
  /** Returns false, and reports it, if lines are missing in the journal. */
  const endJournal = async (status: ExitStatus): Promise<boolean> => {
    const problem = journal?.end(status) ?? (await copy?.stored()) ?? null
    if (problem !== null) output.error('journal-failed', problem, 'the report shows the changes made; "zonewright plan" shows those left')
    journal = null
    return problem === null
  }
  const finish: LockedRun['finish'] = async (work) => {
    try {
      const status = await work()
      return (await endJournal(status)) ? status : worstOf([status, EXIT.failure])
    } catch (error) {
      // Only the report is withheld: the changes were made and journalled.
      if (isSecretExposed(error)) await endJournal(EXIT.failure)
      // The state of changes in stages or of a cutover.
      if (!(error instanceof StoreError)) throw error
      output.error('journal-failed', error.message, error.hint ?? 'run the command again')
      await endJournal(EXIT.failure)
      return EXIT.failure
    } finally {
      await heartbeat.end()
      await store.close()
    }
  }
  return { command, fences, mayWrite: heartbeat.mayWrite, apply, finish }
}

/** For a run that concerns no zone. */
const NOTHING_LOCKED: AcquiredLease = {
  state: 'acquired',
  fences: { store: null, version: null, zones: new Map() },
  heartbeat: { mayWrite: async () => null, lost: new AbortController().signal, end: async () => undefined },
}

const withLease = (options: ApplyZonesOptions, { mayWrite, lost }: Heartbeat): ApplyZonesOptions => ({
  ...options,
  mayWrite,
  stop: options.stop ? AbortSignal.any([options.stop, lost]) : lost,
})

/** Rethrows what is no failure of the store. */
function storeProblem(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  throw error
}

/** The diagnostic for a journal that cannot be written. Rethrows an error that is not the system's. */
const unwritable = (error: unknown, folder: string): Diagnostic => {
  if (error instanceof StoreError)
    return { severity: 'error', code: 'journal-failed', message: error.message, hint: `nothing was changed; ${error.hint ?? 'try again'}` }
  const message = `the journal in ${folder} cannot be written: ${writeProblemText(error)}`
  return { severity: 'error', code: 'journal-failed', message, hint: 'nothing was changed; "journal" in the config names another folder' }
}

/** Milliseconds for which the lease must last before a call is journalled. The requests of a call ask for their own time. */
const CALL_LIMIT = 1000

/** Applies zones and journals every step. If a line cannot be written, neither its call nor a later one is sent. */
export function applyJournalled(
  zones: readonly ApplicableZone[],
  options: ApplyZonesOptions,
  journal: Journal,
  copy?: StoredRun,
): Promise<ZoneOutcome[]> {
  const journalFailed = new AbortController()
  const stop = options.stop ? AbortSignal.any([options.stop, journalFailed.signal]) : journalFailed.signal
  setMaxListeners(0, stop)
  return applyZones(zones, {
    ...options,
    stop,
    async onCall(zone, call) {
      const obstacle = (await options.mayWrite?.(CALL_LIMIT)) ?? null
      if (obstacle !== null) return obstacle
      const problem = journal.call(zone, call) ?? (await copy?.stored()) ?? null
      if (problem !== null && !journalFailed.signal.aborted) journalFailed.abort(problem)
      return problem ?? (await options.onCall?.(zone, call)) ?? null
    },
    onOutcome(zone, index, outcome) {
      journal.outcome(zone, index, outcome)
      options.onOutcome?.(zone, index, outcome)
    },
    onZone(zone, outcome) {
      journal.zone(zone, outcome)
      options.onZone?.(zone, outcome)
    },
  })
}

// The serials that new zones must exceed: secondaries ignore a zone that is older than theirs (RFC 1982 section 3.2).

/** Zones that are queried concurrently. */
const ZONES_AT_ONCE = 16

/** The zones, new ones with the newest serial that the journal, the definition or a name server of the zone has. Servers that the environment does not allow are not asked. */
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
    if (first?.subject !== 'domain' || first.action !== 'create' || !providers.get(zone.plan.target)?.capabilities.setsSerials) return zone
    const held = await Promise.all(nameServersOf(zone).map((server) => serialAt(zone, server)))
    const known = [fenceOf(fences, zone.plan)?.serial, zone.plan.serial, ...held].filter((serial) => serial !== undefined)
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
