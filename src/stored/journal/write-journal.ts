/** Writes the journal of a run. */
import { closeSync, constants, existsSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { oneLine } from '../../base/diagnostic.ts'
import { assertNoSecret, type LoadedSecrets } from '../../base/secret-guard.ts'
import { makeFolder } from '../../files/make-folder.ts'
import type { ProcessIdentity } from '../../files/process-identity.ts'
import type { Changeset } from '../../plan/changesets.ts'
import type { Outcome, ZoneOutcome } from '../../plan/plan.ts'
import type { PlannedZone, PlannedZones } from '../../plan/planned-zone.ts'
import { diagnosticDocument } from '../../report/plan-document.ts'
import type { SavedTarget } from '../plans/saved-plan.ts'
import { savedPlanText } from '../plans/saved-plan-text.ts'
import { keepOutOfGit } from './journal-folder.ts'
import {
  type BeginEntry,
  countFigures,
  JOURNAL_FILE,
  JOURNAL_FORMAT,
  JOURNAL_VERSION,
  type JournalEntry,
  PLANS_FOLDER,
  planFile,
  type RolledBackRun,
  type RunCommand,
} from './journal-format.ts'

export interface JournalRequest {
  /** The journal's folder. */
  readonly journal: string
  readonly run: string
  readonly command: RunCommand
  readonly rollsBack: RolledBackRun | null
  readonly approvedBy: readonly string[]
  readonly process: ProcessIdentity
  readonly now: () => Date
  readonly planned: PlannedZones
  /** The zones that have changes, with their state before the run. */
  readonly zones: readonly PlannedZone[]
  readonly targets: ReadonlyMap<string, SavedTarget>
  /** Secrets of the run, which are never written. */
  readonly secrets: LoadedSecrets
  /** Called with each line that was written, without its newline. */
  readonly onLine?: ((text: string) => void) | undefined
}

/**
 * The journal of a run in progress. A method returns once the operating system has the line, so the line survives the process. After a failed
 * write, later lines are dropped; `call` and `end` return the error.
 */
export interface Journal {
  readonly run: string
  /** Writes that a call is about to be sent. If that fails, returns why the call must not be sent. */
  call(zone: PlannedZone, call: Changeset): string | null
  outcome(zone: PlannedZone, change: number, outcome: Outcome): void
  /** Writes the result of reading a zone back. */
  zone(zone: PlannedZone, outcome: ZoneOutcome): void
  /** Closes the journal with the program's exit status. Returns why lines are missing; null if the journal is complete. */
  end(status: number): string | null
}

/** Maximum plans written concurrently. */
const FILES_AT_ONCE = 16

/**
 * Writes the state and the plan of each zone and the first line to a hidden folder, and renames it last. So a visible run always has its plans,
 * and a run without a folder has sent nothing. Throws the system's error, and `SecretExposed`.
 */
export async function beginJournal(request: JournalRequest): Promise<Journal> {
  const { journal, run, zones, secrets } = request
  const runs = join(journal, 'runs')
  const temporary = join(runs, `.${run}`)
  const folder = join(runs, run)
  makeFolder(runs, 0o700)
  keepOutOfGit(journal)
  if (existsSync(folder)) throw Object.assign(new Error(`${folder} exists`), { code: 'EEXIST' })
  await mkdir(temporary, { mode: 0o700 })
  try {
    await mkdir(join(temporary, PLANS_FOLDER), { mode: 0o700 })
    const limit = pLimit(FILES_AT_ONCE)
    await Promise.all(
      zones.map((zone, index) =>
        limit(() => writeFile(join(temporary, PLANS_FOLDER, planFile(index)), planText(request, zone), { mode: 0o600, flush: true })),
      ),
    )
    const descriptor = openSync(
      join(temporary, JOURNAL_FILE),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND,
      0o600,
    )
    try {
      writeLine(descriptor, beginEntry(request), secrets, request.onLine)
      fsyncSync(descriptor)
      await rename(temporary, folder)
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
    return openJournal(request, descriptor)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw error
  }
}

function planText({ planned, targets, secrets }: JournalRequest, zone: PlannedZone): string {
  const target = targets.get(zone.plan.target)
  if (!target) throw new Error(`no target ${zone.plan.target}`)
  return savedPlanText({ ...planned, zones: [zone], diagnostics: [], targets: [target] }, null, secrets)
}

const beginEntry = ({ run, command, rollsBack, approvedBy, process, now, planned, zones }: JournalRequest): BeginEntry => ({
  event: 'begin',
  format: JOURNAL_FORMAT,
  version: JOURNAL_VERSION,
  time: now().toISOString(),
  run,
  tool: planned.tool,
  command,
  rollsBack,
  ...(approvedBy.length > 0 && { approvedBy }),
  process,
  zones: zones.map(({ plan: { zone, target, calls } }) => ({ zone, target, calls: { ...calls } })),
})

/** Appends a line, so that only the last line can be incomplete. Throws `SecretExposed`. */
function writeLine(descriptor: number, entry: JournalEntry, secrets: LoadedSecrets, onLine?: JournalRequest['onLine']): void {
  const text = JSON.stringify(entry)
  assertNoSecret(secrets, text, 'a line of the journal')
  const line = Buffer.from(`${text}\n`)
  let written = writeSync(descriptor, line)
  while (written < line.length) written += writeSync(descriptor, line, written)
  onLine?.(text)
}

function openJournal({ run, zones, now, secrets, onLine }: JournalRequest, descriptor: number): Journal {
  const indexes = new Map(zones.map((zone, index) => [zone, index]))
  const latest: Outcome[][] = zones.map(() => [])
  /** Why a line could not be written. No further line is written then. */
  let problem: string | null = null
  const write = (entry: JournalEntry): void => {
    if (problem !== null) return
    try {
      writeLine(descriptor, entry, secrets, onLine)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      problem = `the journal of run ${run} cannot be written: ${code === 'ENOSPC' ? 'the disk is full' : oneLine(message)}`
    }
  }
  const indexOf = (zone: PlannedZone): number => {
    const index = indexes.get(zone)
    if (index === undefined) throw new Error(`${zone.plan.zone} does not belong to run ${run}`)
    return index
  }
  const time = (): string => now().toISOString()
  return {
    run,
    call(zone, { indexes, changes }) {
      const carried = changes.map(({ action, name, type }, position) => ({ change: indexes[position] as number, action, name, type }))
      write({ event: 'call', time: time(), zone: indexOf(zone), changes: carried })
      return problem
    },
    outcome(zone, change, outcome) {
      const index = indexOf(zone)
      ;(latest[index] as Outcome[])[change] = outcome
      write({ event: 'outcome', time: time(), zone: index, change, outcome })
    },
    zone(zone, { outcomes, readBack, diagnostics }) {
      const index = indexOf(zone)
      const journalled = latest[index] as Outcome[]
      const resolved = outcomes.flatMap((outcome, change) => (isSame(outcome, journalled[change]) ? [] : [{ change, outcome }]))
      latest[index] = [...outcomes]
      write({ event: 'zone', time: time(), zone: index, readBack, resolved, diagnostics: diagnostics.map(diagnosticDocument) })
    },
    end(status) {
      const states = zones.flatMap(({ plan }, index) =>
        plan.changes.map(({ action }, change) => [action, latest[index]?.[change]?.state ?? 'skipped'] as const),
      )
      write({ event: 'end', time: time(), status, ...countFigures(states) })
      closeSync(descriptor)
      return problem
    },
  }
}

const isSame = (a: Outcome, b: Outcome | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)
