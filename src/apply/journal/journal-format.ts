/** The lines of a journal: one JSON object each, in the order in which things happened. `schemas/journal.schema.json` describes them. */

import type { ProcessIdentity } from '../../definition/files/process-identity.ts'
import type { Action, CallCount, Outcome, ZoneOutcome } from '../../plan/plan.ts'
import type { DiagnosticDocument } from '../../report/plan-document.ts'

export const JOURNAL_FORMAT = 'zonewright-journal'
export const JOURNAL_VERSION = 1

/** The file of the lines in a run's folder, and the folder of its plans, which are called `1.json`, `2.json`, … in the order of the run's zones. */
export const JOURNAL_FILE = 'journal.jsonl'
export const PLANS_FOLDER = 'plans'
export const planFile = (zone: number): string => `${zone + 1}.json`

export type RunCommand = 'apply' | 'rollback'

/** Of a rollback: the run whose changes it takes back. */
export interface RolledBackRun {
  readonly run: string
  /** Whether it takes all of them back: no zone was left out and no record set left alone. */
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
  readonly process: ProcessIdentity
  readonly zones: readonly RunZone[]
}

/** A zone that a run was to change. */
export interface RunZone {
  readonly zone: string
  readonly target: string
  readonly calls: CallCount
}

/** `zone` and `change` count from 0: zones as they stand in the first entry, changes as they stand in the zone's plan. */
export interface CallEntry {
  readonly event: 'call'
  readonly time: string
  readonly zone: number
  readonly change: number
  /** What the change does, so that the line can be read by itself. */
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

/** A zone is done and was read again. */
export interface ZoneEntry {
  readonly event: 'zone'
  readonly time: string
  readonly zone: number
  readonly readBack: ZoneOutcome['readBack']
  /** Outcomes that reading told otherwise than the calls. */
  readonly settled: readonly { readonly change: number; readonly outcome: Outcome }[]
  readonly diagnostics: readonly DiagnosticDocument[]
}

/** What a run came to, in numbers of changes. */
export interface RunFigures {
  /** By what was done; `total` is their sum. */
  readonly applied: CallCount
  readonly failed: number
  readonly skipped: number
  readonly unknown: number
}

export interface EndEntry extends RunFigures {
  readonly event: 'end'
  readonly time: string
  /** What the program ended with. */
  readonly status: number
}

export type JournalEntry = BeginEntry | CallEntry | OutcomeEntry | ZoneEntry | EndEntry

/** A run's name: when it began, to the second, and four hexadecimal digits, so that names sort by time and two runs of one second differ. */

/** `20261121T063000Z-4f2a`; `random` is a number from 0 up to 1. */
export function runId(began: Date, random: () => number): string {
  const time = began.toISOString().replace(/[-:]|\.[0-9]+/g, '')
  const suffix = Math.floor(random() * 0x10000)
    .toString(16)
    .padStart(4, '0')
  return `${time}-${suffix}`
}

export const isRunId = (text: string): boolean => /^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}$/.test(text)

/** Whether a text may be the beginning of a run's name, or the name. */
export const isRunPrefix = (text: string): boolean => /^[0-9][0-9a-fTZ-]{0,20}$/i.test(text)

/** Counts outcomes; each is given with what its change does. */
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
