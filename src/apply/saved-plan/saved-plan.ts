import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { describeReadError } from '../../definition/files/read-text.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { ExistingZone, ZoneSettings } from '../../dns/zone.ts'
import type { Plan, ZonePlan } from '../../plan/plan.ts'
import type { PlanDocument, ZoneDocument } from '../../report/plan-document.ts'

/** A target when the plan was made. A plan is applied only if its targets are still the same. */
export interface SavedTarget {
  /** The provider's name in the config. */
  readonly name: string
  readonly type: string
  /** Its base URL, or the address of its server. */
  readonly address: string
}

/** A zone's plan with the live state it was made from. */
export interface SavedZone {
  readonly plan: ZonePlan
  /** Null if the zone did not exist; also for a zone without changes, whose state is not needed. */
  readonly existing: ExistingZone | null
}

/** A plan that was read from a file and validated. */
export interface SavedPlan {
  readonly plan: Plan
  readonly targets: readonly SavedTarget[]
  readonly zones: readonly SavedZone[]
  readonly signed: boolean
}

/** A record of the state: identifier, owner, type, TTL in seconds, data. */
export type SavedRecord = readonly [id: number | string | null, name: string, type: string, ttl: number | null, data: string]

export interface SavedState {
  readonly id: number | string | null
  readonly settings: ZoneSettings
  readonly records: readonly SavedRecord[]
}

export interface SavedZoneDocument extends ZoneDocument {
  readonly state?: SavedState
}

/** The document of a plan, bound to its targets and to the state it was made from. */
export interface SavedPlanDocument extends PlanDocument {
  readonly checksum: string
  readonly signature?: string
  readonly targets: readonly SavedTarget[]
  readonly zones: readonly SavedZoneDocument[]
}

/** The largest plan file, in octets: changes of some 400,000 records. */
export const MAX_PLAN_OCTETS = 64 * 1024 * 1024

/** Does not wait for a writer if the path is a named pipe. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Reads a plan file, unless it is too large. Text that is appended meanwhile is not read. */
export async function readPlanText(path: string): Promise<Result<string>> {
  try {
    const handle = await open(path, READ)
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) return failure('is not a file')
      if (facts.size > MAX_PLAN_OCTETS) return failure(`has ${facts.size} octets; a saved plan has at most ${MAX_PLAN_OCTETS}`)
      const octets = Buffer.alloc(facts.size)
      let length = 0
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
    if (error instanceof TypeError) return failure('is not text in UTF-8')
    return failure(describeReadError(error))
  }
}

/** Whether a file begins like a saved plan. A zone file may have the name of a zone, too. */
export async function looksLikePlan(path: string): Promise<boolean> {
  try {
    const handle = await open(path, READ)
    try {
      if (!(await handle.stat()).isFile()) return false
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0)
      return /^(?:\ufeff)?\s*\{/.test(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch {
    return false
  }
}
