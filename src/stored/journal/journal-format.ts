/** The format of a journal: one JSON object per line, in chronological order (`schemas/journal.schema.json`). */
import type { ProcessIdentity } from '../../files/process-identity.ts'
import type { Action, CallCount, Outcome, ZoneOutcome } from '../../plan/plan.ts'
import type { DiagnosticDocument } from '../../report/plan-document.ts'

export const JOURNAL_FORMAT = 'zonewright-journal'
export const JOURNAL_VERSION = 2

/** The journal's file in the folder of a run, and the folder of its plans: `1.json`, `2.json`, … in the order of the run's zones. */
export const JOURNAL_FILE = 'journal.jsonl'
export const PLANS_FOLDER = 'plans'
export const planFile = (zone: number): string => `${zone + 1}.json`

export type RunCommand = 'apply' | 'rollback' | 'copy' | 'cutover'

/** The run that a rollback undoes. */
export interface RolledBackRun {
  readonly run: string
  /** Whether it undoes all changes: no zone and no record set is left out. */
  readonly whole: boolean
}

export interface BeginEntry {
  readonly event: 'begin'
  readonly format: typeof JOURNAL_FORMAT
  readonly version: typeof JOURNAL_VERSION
  readonly time: string
  readonly run: string
  readonly tool: string
  readonly command: RunCommand
  readonly rollsBack: RolledBackRun | null
  /** The people whose approvals of the saved plan counted; absent for a plan that nobody has approved. */
  readonly approvedBy?: readonly string[]
  readonly process: ProcessIdentity
  readonly zones: readonly RunZone[]
}

/** A zone that a run changes. */
export interface RunZone {
  readonly zone: string
  readonly target: string
  readonly calls: CallCount
}

/** The number of changes of a zone, however few calls carry them. */
export const plannedChanges = ({ create, update, delete: deletes }: CallCount): number => create + update + deletes

/** A call is about to be sent. `zone` is an index into the zones of the first entry, `change` into the changes of the zone's plan. */
export interface CallEntry {
  readonly event: 'call'
  readonly time: string
  readonly zone: number
  readonly changes: readonly CalledChange[]
}

/** A change that a call carries, repeated from the plan, so that the line can be understood alone. */
export interface CalledChange {
  readonly change: number
  readonly action: Action
  readonly name: string
  readonly type: string | null
}

export interface OutcomeEntry {
  readonly event: 'outcome'
  readonly time: string
  readonly zone: number
  readonly change: number
  readonly outcome: Outcome
}

/** A zone is finished and was read back. */
export interface ZoneEntry {
  readonly event: 'zone'
  readonly time: string
  readonly zone: number
  readonly readBack: ZoneOutcome['readBack']
  /** Outcomes that reading back has corrected. */
  readonly resolved: readonly { readonly change: number; readonly outcome: Outcome }[]
  readonly diagnostics: readonly DiagnosticDocument[]
}

/** The numbers of changes by outcome. */
export interface RunFigures {
  /** By action; `total` is their sum, however few calls carried them. */
  readonly applied: CallCount
  readonly failed: number
  readonly skipped: number
  readonly unknown: number
}

export interface EndEntry extends RunFigures {
  readonly event: 'end'
  readonly time: string
  /** The exit status of the program. */
  readonly status: number
}

export type JournalEntry = BeginEntry | CallEntry | OutcomeEntry | ZoneEntry | EndEntry

/** A run's name, such as `20261121T063000Z-4f2a`: its start in seconds, so that names sort by time, and four random digits. `random` returns a number in [0, 1). */
export function runId(began: Date, random: () => number): string {
  const time = began.toISOString().replace(/[-:]|\.[0-9]+/g, '')
  const suffix = Math.floor(random() * 0x10000)
    .toString(16)
    .padStart(4, '0')
  return `${time}-${suffix}`
}

export const isRunId = (text: string): boolean => /^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}$/.test(text)

/** Whether a text can be a run's name or a prefix of one. */
export const isRunPrefix = (text: string): boolean => /^[0-9][0-9a-fTZ-]{0,20}$/i.test(text)

/** Counts outcomes, each given with the action of its change. */
export function countFigures(outcomes: Iterable<readonly [Action, Outcome['state']]>): RunFigures {
  const applied = { create: 0, update: 0, delete: 0, total: 0 }
  const others = { failed: 0, skipped: 0, unknown: 0 }
  for (const [action, state] of outcomes) {
    if (state !== 'applied') {
      others[state] += 1
      continue
    }
    applied[action] += 1
    applied.total += 1
  }
  return { applied, ...others }
}
