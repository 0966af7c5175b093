import { randomInt } from 'node:crypto'
import type { ApplicableZone, ApplyRun } from '../apply/apply-plan.ts'
import type { RolledBackRun, RunCommand } from '../apply/journal/journal-entry.ts'
import { applyJournalled } from '../apply/journal/journalled-apply.ts'
import { tightenJournal } from '../apply/journal/private-journal.ts'
import { runId } from '../apply/journal/run-id.ts'
import { beginJournal, type Journal } from '../apply/journal/write-journal.ts'
import { lockZones } from '../apply/lock-zones.ts'
import { ownProcess } from '../definition/files/process-identity.ts'
import { isSecretExposed } from '../definition/load/loaded-secrets.ts'
import { type Diagnostic, oneLine } from '../dns/diagnostic.ts'
import type { Plan, ZoneOutcome } from '../plan/plan.ts'
import type { Console } from './console.ts'
import { EXIT, type ExitStatus, worstOf } from './exit-status.ts'
import type { CliIo } from './io.ts'
import { writeProblemText } from './write-problem.ts'

export interface GuardRequest {
  /** The journal's folder. */
  readonly journal: string
  readonly command: RunCommand
  readonly zones: readonly { readonly zone: string; readonly target: string }[]
  /** Seconds to wait for other runs; 0 where absent. */
  readonly wait?: number | undefined
  readonly signal: AbortSignal
}

/** A run that has its zones to itself, from before it reads them until it ends, and that writes a journal of what it does. */
export interface GuardedRun {
  /** Applies zones that have changes. Null, and said why, where no journal can be written: then nothing was done. */
  apply(
    plan: Plan,
    zones: readonly ApplicableZone[],
    run: ApplyRun,
    rollsBack?: RolledBackRun | undefined,
  ): Promise<readonly ZoneOutcome[] | null>
  /** Closes the journal, if one was begun. False, and said, where lines are missing in it. */
  end(status: ExitStatus): boolean
  /** Gives the zones back to others. */
  release(): void
}

export type Guard = { readonly run: GuardedRun } | { readonly run: null; readonly diagnostic: Diagnostic }

/** Locks the zones of a run. None, and said why, where another run has one of them. */
export async function guardRun(io: CliIo, console: Console, request: GuardRequest): Promise<Guard> {
  const { journal: folder, command, zones, wait = 0, signal } = request
  const id = runId(io.now(), () => randomInt(0x10000) / 0x10000)
  const owner = ownProcess()
  try {
    for (const path of tightenJournal(folder)) console.note(`${path} was open to other users; it is closed to them now.`)
  } catch (error) {
    const { diagnostic } = unwritable(error, folder)
    console.diagnostics([diagnostic])
    return { run: null, diagnostic }
  }
  const locks = await lockZones({
    journal: folder,
    zones,
    owner,
    command,
    run: id,
    now: io.now,
    wait: wait * 1000,
    signal,
    onWait: ({ message }) => console.note(`Waiting: ${oneLine(message)}.`),
  }).catch((error: unknown) => unwritable(error, folder))
  if (locks.state === 'held') {
    console.diagnostics([locks.diagnostic])
    return { run: null, diagnostic: locks.diagnostic }
  }
  // A second Ctrl-C and faults of the program end it without further ado.
  process.once('exit', locks.release)
  let journal: Journal | null = null
  const run: GuardedRun = {
    async apply(plan, pending, run, rollsBack) {
      const targets = run.providers
      const begun = {
        journal: folder,
        run: id,
        command,
        rollsBack: rollsBack ?? null,
        process: owner,
        now: io.now,
        plan,
        zones: pending,
        targets,
        secrets: io.secrets,
      }
      try {
        journal = await beginJournal(begun)
      } catch (error) {
        if (isSecretExposed(error)) throw error
        console.diagnostics([unwritable(error, folder).diagnostic])
        return null
      }
      return applyJournalled(pending, run, journal)
    },
    end(status) {
      const problem = journal?.end(status) ?? null
      if (problem !== null) console.error('journal-failed', problem, 'what was done is in the report; "zonewright plan" shows what is left')
      journal = null
      return problem === null
    },
    release() {
      process.off('exit', locks.release)
      locks.release()
    },
  }
  return { run }
}

/** An error that is not the system's is thrown on. */
function unwritable(error: unknown, folder: string): { readonly state: 'held'; readonly diagnostic: Diagnostic } {
  return {
    state: 'held',
    diagnostic: {
      severity: 'error',
      code: 'journal-failed',
      message: `the journal in ${folder} cannot be written: ${writeProblemText(error)}`,
      hint: 'nothing was changed; "journal" in the config names another folder',
    },
  }
}

/** Does the work of a run, then closes its journal and gives the zones back. */
export async function endRun(run: GuardedRun, work: () => Promise<ExitStatus>): Promise<ExitStatus> {
  try {
    const status = await work()
    return run.end(status) ? status : worstOf([status, EXIT.failure])
  } catch (error) {
    // The report alone is withheld: what was done is done, and is in the journal.
    if (isSecretExposed(error)) run.end(EXIT.failure)
    throw error
  } finally {
    run.release()
  }
}
