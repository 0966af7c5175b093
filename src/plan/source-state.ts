/** What earlier reads of the sources of a zone showed, and the decision about a value that its source no longer has. */
import { createHash } from 'node:crypto'
import { compareText } from '../base/text.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { isNewerSerial, type SerialNumber } from '../dns/serial-number.ts'
import type { QuarantineRule } from '../dns/zone-source.ts'

/** The version of a source, as its zone states it. */
export interface SourceVersion {
  /** The serial of its SOA record; null if the provider does not show it. */
  readonly serial: SerialNumber | null
  /** When the zone was changed last, in milliseconds since 1970 by the provider's clock; null if the provider does not report it. */
  readonly updated: number | null
}

/** What is known of a source. Times are in milliseconds since 1970 by the clock of the machine that read it. */
export interface SourceFacts {
  /** The newest version that was read; null if the source has none. */
  readonly version: SourceVersion | null
  /** Since when every read failed or was stale; null if the last one was good. */
  readonly unreadSince: number | null
}

/** A live value that its source no longer has. */
export interface AbsentValue {
  /** When it was first missed. */
  readonly since: number
  /** When a read was last counted. */
  readonly counted: number
  /** The number of counted reads without it. */
  readonly reads: number
}

/** The state of the sources of one zone at one target. It has digests of values instead of values. */
export interface SourceState {
  /** By the place of the source. */
  readonly sources: ReadonlyMap<string, SourceFacts>
  /** By `valueKey`. */
  readonly absent: ReadonlyMap<string, AbsentValue>
}

export const NO_SOURCE_STATE: SourceState = { sources: new Map(), absent: new Map() }

/** Maximum values in a state. Those beyond it are kept and not counted until others are gone. */
export const MAX_ABSENT = 10_000

/** Maximum sources in a state that a read keeps although it did not use them. */
export const MAX_SOURCES = 100

/** Reads this close together, in milliseconds, count as one, unless the rule asks for more in its time. */
const ONE_READ = 60_000

/**
 * Identifies a value of a zone in a state: owner, type and a digest of the data and of the sources that lack it. So reads of one source never count for
 * another, such as one that only the definitions of a branch name.
 */
export const valueKey = ({ name, type, data }: ResourceRecord, sources: readonly string[]): string => {
  const subject = JSON.stringify([data, ...[...new Set(sources)].sort(compareText)])
  return `${name} ${type} ${createHash('sha256').update(subject).digest('hex').slice(0, 16)}`
}

/** Whether a source is older than it was at an earlier read. */
export const isOlder = (version: SourceVersion, known: SourceVersion | null): boolean => {
  if (known === null) return false
  if (version.serial !== null && known.serial !== null)
    return version.serial !== known.serial && !isNewerSerial(version.serial, known.serial)
  return version.updated !== null && known.updated !== null && version.updated < known.updated
}

/** A value after one more read without it. A time in the future is from a machine with another clock: the count begins again, or the read does not count. */
export function countAbsence(known: AbsentValue | undefined, now: number, { reads, seconds }: QuarantineRule): AbsentValue {
  if (known === undefined || known.since > now) return { since: now, counted: now, reads: 1 }
  const { counted } = known
  if (counted > now) return { ...known, counted: now }
  const apart = Math.min(ONE_READ, (seconds * 1000) / reads)
  return counted === now || now - counted < apart ? known : { ...known, counted: now, reads: known.reads + 1 }
}

/** Whether a value has been absent for as many reads and as long as the rule asks. */
export const isOver = ({ since, reads }: AbsentValue, now: number, rule: QuarantineRule): boolean =>
  reads >= rule.reads && now - since >= rule.seconds * 1000

/** Whether two states are equal, so that none has to be written. */
export const sameState = (a: SourceState, b: SourceState): boolean => stateText(a) === stateText(b)

const sorted = <T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] => [...map].sort(([a], [b]) => compareText(a, b))

/** The entries of a state in a fixed order, as text. */
const stateText = ({ sources, absent }: SourceState): string =>
  JSON.stringify([
    sorted(sources).map(([name, { version, unreadSince }]) => [name, version?.serial, version?.updated, unreadSince]),
    sorted(absent).map(([key, { since, counted, reads }]) => [key, since, counted, reads]),
  ])
