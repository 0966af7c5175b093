/** Identifies processes across time and hosts. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process, so that another process can find out whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number
  /** The start time in clock ticks since boot; null if the system does not report it. A reused pid has another start time. */
  readonly started: string | null
  /** The host name; in a container followed by the pid namespace, because the pid is valid only there. */
  readonly host: string
}

/** The identity of this process. */
export const ownProcess = (): ProcessIdentity => ({ pid: process.pid, started: startTimeOf('self'), host: hostId() })

/** Returns `elsewhere` for a process of another host or container, whose status is unknown here. */
export function processStatus(identity: ProcessIdentity, here: ProcessIdentity): 'running' | 'dead' | 'elsewhere' {
  if (identity.host !== here.host) return 'elsewhere'
  if (!isRunning(identity.pid)) return 'dead'
  const started = identity.started === null ? null : startTimeOf(identity.pid)
  return started === null || started === identity.started ? 'running' : 'dead'
}

/** Whether a process of this host has the pid, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** The pid namespace of processes outside containers (PROC_PID_INIT_INO of Linux). */
const INITIAL_NAMESPACE = 'pid:[4026531836]'

export function hostId(): string {
  const namespace = orNull(() => readlinkSync('/proc/self/ns/pid'))
  return namespace === null || namespace === INITIAL_NAMESPACE ? hostname() : `${hostname()} (${namespace})`
}

/**
 * Field 22 of /proc/PID/stat (proc(5)). Field 2, the program's name, may contain blanks and parentheses; later fields do not. A zombie never matches a
 * start time.
 */
function startTimeOf(pid: number | 'self'): string | null {
  const stat = orNull(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined) return null
  return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? null)
}

/** What `read` returns; null if it throws. */
export function orNull(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}
