/**
 * The counts of queries in the data folder while the service is stopped. They are written when it stops on request, and removed when it starts: a process
 * that was killed leaves none, because its last counts are lost.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DomainName } from '../../dns/domain-name.ts'

/** The counters of a name server. Times in seconds since 1970. */
export interface SavedCounts {
  /** When the counting began. */
  readonly from: number
  /** When it ended. */
  readonly to: number
  readonly zones: readonly SavedZone[]
}

export interface SavedZone {
  readonly zone: DomainName
  readonly accountId: number
  /** When there was no room to count an RRset; null if there was. */
  readonly refusedAt: number | null
  /** Name, type, time of the last query, hour that was counted last, and the counts of the hours of a day. */
  readonly rrsets: readonly (readonly [name: DomainName, type: string, lastAsked: number, hour: number, hours: readonly number[]])[]
}

const FILE = 'query-counts.json'

/** Reads the counts. Null if there are none or the file is damaged; that is reported. */
export function readSavedCounts(folder: string, onError: (error: unknown) => void): SavedCounts | null {
  try {
    const saved: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
    if (isSaved(saved)) return saved
    throw new Error(`${FILE} does not have counts of queries`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error)
    return null
  }
}

/** Removes the counts once a name server continues them: if its process is killed, they are too old. */
export const removeSavedCounts = (folder: string): void => rmSync(join(folder, FILE), { force: true })

/** Writes the counts. An error is reported: the next start counts from its own begin. */
export function saveCounts(folder: string, counts: SavedCounts, onError: (error: unknown) => void): void {
  const temporary = join(folder, `${FILE}.new`)
  try {
    writeFileSync(temporary, JSON.stringify(counts), { mode: 0o600 })
    renameSync(temporary, join(folder, FILE))
  } catch (error) {
    onError(error)
    rmSync(temporary, { force: true })
  }
}

const isSaved = (value: unknown): value is SavedCounts => {
  const { from, to, zones } = (value ?? {}) as Partial<Record<keyof SavedCounts, unknown>>
  return isWhole(from) && isWhole(to) && Array.isArray(zones) && zones.every(isZone)
}

const isZone = (value: unknown): value is SavedZone => {
  const { zone, accountId, refusedAt, rrsets } = (value ?? {}) as Partial<Record<keyof SavedZone, unknown>>
  return (
    typeof zone === 'string' &&
    isWhole(accountId) &&
    (refusedAt === null || isWhole(refusedAt)) &&
    Array.isArray(rrsets) &&
    rrsets.every(isRrset)
  )
}

const isRrset = (value: unknown): boolean => {
  const [name, type, lastAsked, hour, hours] = Array.isArray(value) ? value : []
  const areTexts = typeof name === 'string' && typeof type === 'string'
  return areTexts && isWhole(lastAsked) && isWhole(hour) && Array.isArray(hours) && hours.every(isWhole)
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
