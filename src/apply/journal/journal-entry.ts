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
