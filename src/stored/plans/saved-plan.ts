/** The types of saved plans and their JSON form, and reading of plan files. */
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { failure, ok, type Result } from '../../base/result.ts'
import type { RecordSettings } from '../../dns/record.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { notAFile } from '../../files/file-error.ts'
import { describeReadError } from '../../files/read-text.ts'
import type { PlannedZones } from '../../plan/planned-zone.ts'
import type { PlanDocument, PlannedZoneDocument } from '../../report/plan-document.ts'
import type { GivenApprovals } from '../approvals/approvals-of-plan.ts'

/** A target as it was when the plan was made. A plan is applied only if its targets are still the same. */
export interface SavedTarget {
  /** The provider's name in the config. */
  readonly name: string
  readonly type: string
  /** Its base URL, or the address of its server. */
  readonly address: string
}

/** A plan that was read from a file and validated. */
export interface SavedPlan extends PlannedZones {
  readonly targets: readonly SavedTarget[]
  readonly signed: boolean
  /** Who has approved the file. Absent for a plan that no run applies, such as one in a journal. */
  readonly approvals?: GivenApprovals
}

/** A record of the state: identifier, owner, type, TTL in seconds, data. */
export type SavedRecord = readonly [
  id: number | string | null,
  name: string,
  type: string,
  ttl: number | null,
  data: string,
  settings?: RecordSettings,
]

/** A zone before the changes, in JSON. */
export interface SavedState {
  readonly id: number | string | null
  readonly settings: ZoneSettings
  readonly records: readonly SavedRecord[]
}

export interface SavedZoneDocument extends PlannedZoneDocument {
  /** Absent for a zone that did not exist or has no changes. */
  readonly state?: SavedState
}

/** The document of a plan, bound to its targets and to the state it was made from. */
export interface SavedPlanDocument extends PlanDocument {
  readonly checksum: string
  readonly signature?: string
  readonly targets: readonly SavedTarget[]
  readonly zones: readonly SavedZoneDocument[]
}

/** Maximum octets of a plan file: enough for changes of some 400,000 records. */
export const MAX_PLAN_OCTETS = 64 * 1024 * 1024

/** Flags for opening a file that do not block on a named pipe without a writer. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a plan file or another document, which messages call `what`. Fails if it is not a regular file, is too large or is not UTF-8. Reads no more than its
 * size when it was opened. Failures are worded to follow the file's name.
 */
export async function readPlanText(path: string, what = 'saved plan'): Promise<Result<string>> {
  try {
    const handle = await open(path, READ)
    try {
      const stats = await handle.stat()
      if (!stats.isFile()) return failure(notAFile(stats))
      if (stats.size > MAX_PLAN_OCTETS) return failure(`has ${stats.size} octets; a ${what} has at most ${MAX_PLAN_OCTETS}`)
      const octets = Buffer.alloc(stats.size)
      let length = 0
      // One read may return fewer octets than requested.
      while (length < octets.length) {
        const { bytesRead } = await handle.read(octets, length, octets.length - length, length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return ok(UTF8.decode(octets.subarray(0, length)))
    } finally {
      await handle.close()
    }
  } catch (error) {
    // The decoder throws a TypeError.
    if (error instanceof TypeError) return failure('is not UTF-8 text')
    return failure(describeReadError(error))
  }
}

/** Whether a file begins like JSON. This distinguishes a plan file from a zone file that is named like its zone. */
export const beginsLikeJson = (path: string): Promise<boolean> => startMatches(path, /^(?:\ufeff)?\s*\{/)

/** The start of the documents that the program writes to files. */
const BEGINNINGS = {
  plan: /^\s*\{\s*"format"\s*:\s*"zonewright-plan"/,
  snapshot: /^\s*\{\s*"format"\s*:\s*"zonewright-snapshot"/,
} as const

export type WrittenDocument = keyof typeof BEGINNINGS

/** Whether a file begins like such a document. */
export const beginsLikeDocument = (path: string, kind: WrittenDocument): Promise<boolean> => startMatches(path, BEGINNINGS[kind])

async function startMatches(path: string, pattern: RegExp): Promise<boolean> {
  try {
    const handle = await open(path, READ)
    try {
      if (!(await handle.stat()).isFile()) return false
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0)
      return pattern.test(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch {
    return false
  }
}

/** Whether the file exists, has content and does not begin like a document of that kind, so that it must not be overwritten. */
export async function isForeignFile(path: string, kind: WrittenDocument): Promise<boolean> {
  const facts = await stat(path).catch(() => null)
  return facts !== null && facts.size > 0 && !(await beginsLikeDocument(path, kind))
}
