/** A run that locks its zones before it reads them, journals its calls, and unlocks the zones at its end. */
import { randomInt } from 'node:crypto'
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isSecretExposed } from '../definition/config/secret-guard.ts'
import { ownProcess } from '../definition/files/process-identity.ts'
import { writeProblemText } from '../definition/files/write-problem.ts'
import { type Diagnostic, oneLine } from '../dns/diagnostic.ts'
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import { type ApplicableZone, type ApplyZonesOptions, applyZones } from './apply-zones.ts'
import { EXIT, type ExitStatus, worstOf } from './exit-status.ts'
import { type RolledBackRun, type RunCommand, runId } from './journal/journal-format.ts'
import { beginJournal, type Journal } from './journal/write-journal.ts'
import { lockZones } from './lock-zones.ts'
import type { ApplyContext } from './run-context.ts'

export interface LockedRun {
  /** Applies zones that have changes. If the journal cannot be written, reports that, changes nothing and returns null. */
  apply(
    planned: { readonly plan: Plan; readonly rollsBack?: RolledBackRun },
    zones: readonly ApplicableZone[],
    options: ApplyZonesOptions,
  ): Promise<readonly ZoneOutcome[] | null>
  /** Does the work of the run, then closes the journal and unlocks the zones. */
  finish(work: () => Promise<ExitStatus>): Promise<ExitStatus>
}

export type LockResult = { readonly run: LockedRun } | { readonly run: null; readonly diagnostic: Diagnostic }

/** Locks the zones of a run, waiting as long as `--wait` says. Reports a lock that another run holds. */
export async function lockRun(
  context: ApplyContext,
  command: RunCommand,
  zones: readonly { readonly zone: string; readonly target: string }[],
): Promise<LockResult> {
  const { journal: folder, now, secrets, output, options, interruption } = context
  const id = runId(now(), () => randomInt(0x10000) / 0x10000)
  const owner = ownProcess()
  const refuse = (diagnostic: Diagnostic): LockResult => {
    output.diagnostics([diagnostic])
    return { run: null, diagnostic }
  }
  try {
    for (const path of tightenJournal(folder)) output.note(`${path} was accessible to other users; access is now restricted to you.`)
  } catch (error) {
    return refuse(unwritable(error, folder))
  }
  const locks = await lockZones({
    journal: folder,
    zones,
    owner,
    command,
    run: id,
    now,
    wait: (options.wait ?? 0) * 1000,
    signal: interruption.signal,
    onWait: ({ message }) => output.note(`Waiting: ${oneLine(message)}.`),
  }).catch((error: unknown) => ({ state: 'busy', diagnostic: unwritable(error, folder) }) as const)
  if (locks.state === 'busy') return refuse(locks.diagnostic)
  // A second Ctrl-C and program errors exit without further cleanup.
  process.once('exit', locks.release)

  let journal: Journal | null = null
  const apply: LockedRun['apply'] = async ({ plan, rollsBack }, pending, applyOptions) => {
    try {
      journal = await beginJournal({
        journal: folder,
        run: id,
        command,
        rollsBack: rollsBack ?? null,
        process: owner,
        now,
        plan,
        zones: pending,
        targets: applyOptions.providers,
        secrets,
      })
    } catch (error) {
      if (isSecretExposed(error)) throw error
      output.diagnostics([unwritable(error, folder)])
      return null
    }
    return applyJournalled(pending, applyOptions, journal)
  }
  /** Returns false, and reports it, if lines are missing in the journal. */
  const endJournal = (status: ExitStatus): boolean => {
    const problem = journal?.end(status) ?? null
    if (problem !== null) output.error('journal-failed', problem, 'the report shows the changes made; "zonewright plan" shows those left')
    journal = null
    return problem === null
  }
  const finish: LockedRun['finish'] = async (work) => {
    try {
      const status = await work()
      return endJournal(status) ? status : worstOf([status, EXIT.failure])
    } catch (error) {
      // Only the report is withheld: the changes were made and journalled.
      if (isSecretExposed(error)) endJournal(EXIT.failure)
      throw error
    } finally {
      process.off('exit', locks.release)
      locks.release()
    }
  }
  return { run: { apply, finish } }
}

/** The diagnostic for a journal that cannot be written. Rethrows an error that is not the system's. */
const unwritable = (error: unknown, folder: string): Diagnostic => ({
  severity: 'error',
  code: 'journal-failed',
  message: `the journal in ${folder} cannot be written: ${writeProblemText(error)}`,
  hint: 'nothing was changed; "journal" in the config names another folder',
})

/** The names in the folder of a journal. */
const JOURNAL_NAMES: ReadonlySet<string> = new Set(['runs', 'locks', 'stages', 'cutovers', '.gitignore'])

/** Permissions of the group and of other users. */
const OTHERS = 0o077

/**
 * Closes a journal to other users: folders get mode 0700, files 0600. Returns the paths that were open. The folder of the journal itself, which the config
 * names, is changed only if it contains nothing else. Throws the system's error.
 */
export function tightenJournal(journal: string): readonly string[] {
  if (process.platform === 'win32' || !isFolder(journal)) return []
  const parts = ['locks', 'runs', 'stages', 'cutovers'].map((name) => join(journal, name)).filter(isFolder)
  const isAlone = parts.length > 0 && readdirSync(journal).every((name) => JOURNAL_NAMES.has(name))
  return [...(isAlone ? tightenOne(journal) : []), ...parts.flatMap((part) => (isOpen(part) ? tightenAll(part) : []))]
}

function tightenAll(path: string): string[] {
  const changed = tightenOne(path)
  if (isFolder(path)) for (const name of readdirSync(path).sort()) changed.push(...tightenAll(join(path, name)))
  return changed
}

function tightenOne(path: string): string[] {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts === undefined || (facts.mode & OTHERS) === 0 || !(facts.isFile() || facts.isDirectory())) return []
  try {
    chmodSync(path, facts.isDirectory() ? 0o700 : 0o600)
  } catch (error) {
    // Another run removed the file, or it belongs to another user.
    if (!['ENOENT', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return []
  }
  return [path]
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const isOpen = (path: string): boolean => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0

/** Applies zones and journals every step. If a line cannot be written, neither its call nor a later one is sent. */
export function applyJournalled(zones: readonly ApplicableZone[], run: ApplyZonesOptions, journal: Journal): Promise<ZoneOutcome[]> {
  const journalFailed = new AbortController()
  return applyZones(zones, {
    ...run,
    stop: run.stop ? AbortSignal.any([run.stop, journalFailed.signal]) : journalFailed.signal,
    onCall(zone, call) {
      const problem = journal.call(zone, call)
      if (problem !== null && !journalFailed.signal.aborted) journalFailed.abort(problem)
      return problem ?? run.onCall?.(zone, call) ?? null
    },
    onOutcome(zone, index, outcome) {
      journal.outcome(zone, index, outcome)
      run.onOutcome?.(zone, index, outcome)
    },
    onZone(zone, outcome) {
      journal.zone(zone, outcome)
      run.onZone?.(zone, outcome)
    },
  })
}
