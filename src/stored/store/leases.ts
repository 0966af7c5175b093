/**
 * Leases: each run that may change zones keeps an object `leases/RUN` in the store, and renews it. A run whose lease was not renewed in time by the clock of the
 * store is dead to others: they remove its lease, on condition that it was not renewed meanwhile. Its next renewal then fails, so that it learns of that.
 */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { orNull, ownProcess, type ProcessIdentity, processStatus } from '../../files/process-identity.ts'
import type { RunCommand } from '../journal/journal-format.ts'
import { isRunId } from '../journal/journal-format.ts'
import type { JournalStore, ListedObject } from './journal-store.ts'

const LEASES = 'leases/'

export const leaseName = (run: string): string => LEASES + run

export interface LeasedZone {
  readonly zone: string
  readonly target: string
}

/** Who holds a lease. */
export interface LeaseHolder extends ProcessIdentity {
  /** Of the start of the machine; null if the system does not say. Without it a process of another machine could have the same name and number. */
  readonly boot: string | null
  readonly user: string | null
  /** The address of the CI job; null outside CI. */
  readonly job: string | null
}

export interface Lease {
  readonly run: string
  readonly command: RunCommand
  readonly holder: LeaseHolder
  /** When the run began: ISO 8601, by the clock of its machine. */
  readonly since: string
  readonly zones: readonly LeasedZone[]
  /** How long it lasts after each renewal. */
  readonly seconds: number
  /** Renewals so far, so that no two texts of a lease are equal. */
  readonly renewals: number
  /** Set if `unlock` has broken it: when the run can send nothing any more, in milliseconds since 1970 by the clock of the store. */
  readonly brokenUntil?: number
}

/** A lease as it was found. */
export interface FoundLease extends Lease {
  readonly version: string
  /** When it was last renewed, by the clock of the store. */
  readonly renewed: number
}

export interface LiveLeases {
  readonly leases: readonly FoundLease[]
  /** The time by the clock of the store when they were listed. */
  readonly now: number
}

/** Milliseconds that the clock of a store may be coarse. */
const COARSE = 1000

/** Largest number of leases that are read. */
const MAX_LEASES = 10_000

/** When the lease ends unless it is renewed, in milliseconds since 1970 by the clock of the store. */
export const endOfLease = ({ renewed, seconds, brokenUntil }: FoundLease): number => brokenUntil ?? renewed + seconds * 1000 + COARSE

/**
 * Whether the holder may still send a call. A process of this machine that has ended can not, whatever its lease says. In a store that machines share,
 * names of machines say nothing, so the start of the machine must be the same.
 */
export function isLive(lease: FoundLease, now: number, { isShared }: Pick<JournalStore, 'isShared'>, here: LeaseHolder): boolean {
  if (now > endOfLease(lease)) return false
  const { holder } = lease
  const isSameStart = holder.boot === here.boot
  if (isShared && (!isSameStart || here.boot === null)) return true
  // The machine was started again.
  if (holder.host === here.host && !isSameStart) return false
  return processStatus(holder, here) !== 'dead'
}

const parsed = new WeakMap<JournalStore, Map<string, Lease>>()

/** All leases but that of the run `own`, also those that have ended without being removed. A lease that cannot be understood is left out: it says nothing about its zones. */
export async function listLeases(store: JournalStore, own: string | null = null): Promise<LiveLeases> {
  const all = await store.list(LEASES)
  const listed = all.filter(({ name }) => own === null || name !== leaseName(own)).slice(0, MAX_LEASES)
  const now = listed.length === 0 ? 0 : await store.clock()
  const known = parsed.get(store) ?? new Map<string, Lease>()
  parsed.set(store, known)
  const leases = await Promise.all(listed.map((object) => readLease(store, object, known)))
  return { leases: leases.filter((lease) => lease !== null), now }
}

/** What a lease says stays the same but for its renewals, unless it is broken. */
async function readLease(
  store: JournalStore,
  { name, version, modified }: ListedObject,
  known: Map<string, Lease>,
): Promise<FoundLease | null> {
  const before = known.get(`${name} ${version}`)
  if (before !== undefined) return { ...before, version, renewed: modified }
  const read = await store.read(name)
  const lease = read === null ? null : parseLease(read.text, name)
  if (read === null || lease === null) return null
  known.set(`${name} ${read.version}`, lease)
  return { ...lease, version: read.version, renewed: read.modified }
}

/** The lease of an object; null if it cannot be understood. */
export function parseLease(text: string, name: string): Lease | null {
  try {
    const value = JSON.parse(text) as Lease
    const { run, command, holder, since, zones, seconds, brokenUntil } = value
    const isText = (one: unknown): one is string => typeof one === 'string' && one.length <= 1000
    const isValid =
      isRunId(run) &&
      name === leaseName(run) &&
      [command, since, holder.host].every(isText) &&
      !Number.isNaN(Date.parse(since)) &&
      Number.isSafeInteger(holder.pid) &&
      Number.isFinite(seconds) &&
      (brokenUntil === undefined || Number.isFinite(brokenUntil)) &&
      zones.every(({ zone, target }) => isText(zone) && isText(target))
    return isValid ? value : null
  } catch {
    return null
  }
}

/** This process as the holder of a lease. */
export function ownHolder(env: Readonly<Record<string, string | undefined>>): LeaseHolder {
  return {
    ...ownProcess(),
    boot: orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    user: userOf(),
    job: jobOf(env),
  }
}

const userOf = (): string | null => orNull(() => userInfo().username)

/** The address of the job of GitHub or GitLab. */
function jobOf({
  CI_JOB_URL: gitlab,
  GITHUB_SERVER_URL: github,
  GITHUB_REPOSITORY: repository,
  GITHUB_RUN_ID: id,
}: Parameters<typeof ownHolder>[0]) {
  const job = gitlab || (github && repository && id ? `${github}/${repository}/actions/runs/${id}` : null)
  return job === null ? null : job.slice(0, 500)
}
