/** `unlock`: shows the leases of runs on zones, and breaks them after consent. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { counted, durationText, listed } from '../base/english.ts'
import { parseAbsoluteName } from '../dns/domain-name.ts'
import { ownProcess } from '../files/process-identity.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { ApplyOptions, ApplySetup, Interruption, ProcessEnvironment } from '../run/context/run-context.ts'
import { movingZones } from '../run/load/cutover-state.ts'
import { loadRunConfig } from '../run/load/run-config.ts'
import { isRunPrefix } from '../stored/journal/journal-format.ts'
import { type JournalledRuns, readRuns } from '../stored/journal/read-journal.ts'
import { describeLease } from '../stored/store/acquire-lease.ts'
import { fetchJournal } from '../stored/store/fetch-journal.ts'
import { type JournalStore, StoreError } from '../stored/store/journal-store.ts'
import { endOfLease, type FoundLease, isLive, type Lease, leaseName, listLeases, ownHolder } from '../stored/store/leases.ts'
import { openStore } from '../stored/store/open-store.ts'
import { sleep } from '../transport/retry.ts'

export interface UnlockOptions extends ApplyOptions {
  /** A run, or a prefix of its name. */
  readonly run?: string | undefined
}

type UnlockSetup = ApplySetup<UnlockOptions>

/** Breaks the leases on the named zones, or that of a run. */
export async function runUnlock(setup: UnlockSetup, args: readonly string[]): Promise<ExitStatus> {
  const { output, options, environment } = setup
  const fail = (...diagnostics: Diagnostic[]): ExitStatus => {
    output.diagnostics(diagnostics)
    return EXIT.failure
  }
  const wanted = wantedZones(args, options)
  if (!Array.isArray(wanted)) return fail(wanted as Diagnostic)
  const { config, diagnostics } = await loadRunConfig(environment, options.config, { programs: false })
  if (config === null) return fail(...diagnostics)
  const place = { ...environment, config, journal: config.journal }
  const interruption = environment.listen()
  let store: JournalStore | null = null
  try {
    store = await openStore(place)
    const unread = await fetchJournal(place, { states: true })
    if (unread !== null) output.diagnostics([{ ...unread, severity: 'warning' }])
    const found = await listLeases(store)
    const matching = found.leases.filter(isWanted(wanted, options.run))
    const named = wanted.map((zone) => ({ zone }))
    const moving = await movingZones(config.journal, named)
    for (const { message, hint } of moving.values()) output.say(`${message}: ${hint}`)
    if (matching.length === 0) {
      if (moving.size === 0)
        output.say(options.run === undefined ? 'No run has a lease on these zones.' : `No run ${options.run} has a lease.`)
      return EXIT.done
    }
    const read = unread === null ? readRuns(config.journal, ownProcess()) : null
    for (const lease of matching)
      for (const line of describe(lease, found.now, read, isLive(lease, found.now, store, ownHolder(environment.env)))) output.say(line)
    if (!options.yes) {
      const answer = await output.ask(`Break ${counted(matching.length, 'lease')}?`, interruption.signal)
      if (answer === 'no-terminal')
        return fail({
          severity: 'error',
          code: 'not-confirmed',
          message: 'no lease was broken: there is no terminal to ask on',
          hint: 'give --yes',
        })
      if (answer !== 'yes') {
        output.say('No lease was broken.')
        return interruption.status() ?? EXIT.failure
      }
    }
    return await breakLeases(setup, store, matching, interruption)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return fail({ severity: 'error', code: 'journal-failed', message: error.message, hint: error.hint })
  } finally {
    interruption.release()
    await store?.close()
  }
}

function wantedZones(args: readonly string[], { run }: UnlockOptions): string[] | Diagnostic {
  const usage = (message: string, hint?: string): Diagnostic => ({ severity: 'error', code: 'usage', message, hint })
  if (args.length > 0 === (run !== undefined))
    return usage('unlock needs either zones or --run <run>', 'such as: zonewright unlock example.com; the error zone-locked names the run')
  if (run !== undefined && !isRunPrefix(run)) return usage(`--run ${JSON.stringify(run)} is not the name of a run`)
  const zones: string[] = []
  for (const text of args) {
    const name = parseAbsoluteName(text)
    if (!name.ok) return { severity: 'error', code: 'zone-name', message: `${JSON.stringify(text)} is not a zone name: ${name.message}` }
    zones.push(name.value)
  }
  return zones
}

const isWanted =
  (zones: readonly string[], run: string | undefined) =>
  (lease: Lease): boolean =>
    run !== undefined ? lease.run.toLowerCase().startsWith(run.toLowerCase()) : lease.zones.some(({ zone }) => zones.includes(zone))

/** Zones that a line names. */
const MAX_NAMED = 5

/** What breaking a lease concerns: the run, its holder and age, and calls of which nobody knows what became. */
function describe(lease: FoundLease, now: number, read: JournalledRuns | null, live: boolean): string[] {
  const ago = (time: number): string => `${durationText(Math.max(0, Math.round((now - time) / 1000)))} ago`
  const zones = lease.zones.map(({ zone, target }) => `${zone} at ${target}`)
  return [
    `${describeLease(lease)} (${ago(Date.parse(lease.since))})`,
    `  zones: ${listed(zones, MAX_NAMED)}`,
    `  last renewed ${ago(lease.renewed)}; ${live ? 'the run may still be alive' : 'the run has ended, or lost its lease'}`,
    `  ${sentBy(lease.run, read)}`,
  ]
}

/** What is known about the calls of a run; `read` is null if the journal could not be read. */
function sentBy(run: string, read: JournalledRuns | null): string {
  const record = read?.runs.find(({ id }) => id === run)
  if (record !== undefined) {
    const { applied, unknown, skipped } = record.figures
    return `${counted(applied.total, 'change')} applied, ${counted(unknown, 'request')} without a known outcome, ${skipped} not begun`
  }
  const isUnreadable = read === null || read.diagnostics.some(({ message }) => message.includes(run))
  return isUnreadable ? 'its journal cannot be read, so nobody knows what it has sent' : 'it has no journal yet: it has sent no request'
}

/** Attempts to break a lease that is renewed at the same moment. */
const ATTEMPTS = 5

/**
 * A broken lease keeps its zones from others until the run can send nothing any more: the run learns of it with its next renewal, and sends calls only while the
 * last one is certain to last.
 */
async function breakLeases(
  { output, environment }: UnlockSetup,
  store: JournalStore,
  leases: readonly FoundLease[],
  { signal }: Interruption,
): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done
  for (const { run } of leases) {
    const broken = await markBroken(store, run, environment.env)
    if (broken === 'ended') {
      output.say(`Run ${run} has ended meanwhile.`)
      continue
    }
    if (broken === 'conflict') {
      const message = `run ${run} renewed its lease meanwhile`
      output.diagnostics([{ severity: 'error', code: 'zone-locked', message, hint: 'try again' }])
      status = EXIT.failure
      continue
    }
    const wait = broken.left - (performance.now() - broken.at)
    if (wait > 0) {
      output.say(`Waiting ${durationText(Math.ceil(wait / 1000))}, until run ${run} can send nothing any more.`)
      await sleep(wait, signal).catch(() => undefined)
      if (signal.aborted) return EXIT.interrupted
    }
    await store.remove(leaseName(run), broken.version)
    output.say(`The lease of run ${run} is broken.`)
  }
  return status
}

/** A broken lease: milliseconds for which the run may still send calls, and the time of this process at which they begin. */
interface BrokenLease {
  readonly version: string
  readonly left: number
  readonly at: number
}

/** Reads the lease again first: the run may have renewed it many times while the question waited for its answer. */
async function markBroken(store: JournalStore, run: string, env: ProcessEnvironment['env']): Promise<BrokenLease | 'ended' | 'conflict'> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { leases, now } = await listLeases(store)
    const at = performance.now()
    const found = leases.find((lease) => lease.run === run)
    if (found === undefined) return 'ended'
    const { version, renewed, ...lease } = found
    const left = isLive(found, now, store, ownHolder(env)) ? endOfLease(found) - now : 0
    const broken = await store.write(leaseName(run), JSON.stringify({ ...lease, brokenUntil: now + left }), version)
    if (broken.state === 'written') return { version: broken.version, left, at }
  }
  return 'conflict'
}
