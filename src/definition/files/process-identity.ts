import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Which process something belongs to, so that another process can tell whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number
  /** When the process began, in clock ticks since the system did; null where the system does not say. A pid comes again, this with it does not. */
  readonly started: string | null
  readonly host: string
  /** The system as it was installed, its boot, and the pid namespace that the pid is a number in; null where the system does not say. */
  readonly machine: string | null
  readonly boot: string | null
  readonly namespace: string | null
}

/** This process. */
export function ownProcess(): ProcessIdentity {
  const started = startOf('self')
  const machine = textOf('/etc/machine-id')?.trim() || null
  const boot = textOf('/proc/sys/kernel/random/boot_id')?.trim() || null
  return { pid: process.pid, started, host: hostname(), machine, boot, namespace: pidNamespace() }
}

/** The pid namespace of a system that is no container (PROC_PID_INIT_INO of Linux). */
const INITIAL_NAMESPACE = 'pid:[4026531836]'

/**
 * Whether a process still runs; `elsewhere` is one of another host or container, of which nothing can be known. A system that was started anew has no
 * process of its boot before; containers of one name can be on many systems.
 */
export function processStatus(owner: ProcessIdentity, here: ProcessIdentity): 'running' | 'dead' | 'elsewhere' {
  if (owner.host !== here.host) return 'elsewhere'
  if (owner.namespace !== here.namespace || owner.machine !== here.machine) return 'elsewhere'
  if (owner.boot !== here.boot) return owner.machine !== null && owner.namespace === INITIAL_NAMESPACE ? 'dead' : 'elsewhere'
  if (!isProcess(owner.pid)) return 'dead'
  const started = owner.started === null ? null : startOf(owner.pid)
  return started === null || started === owner.started ? 'running' : 'dead'
}

/** A process that may not be sent signals is there all the same. */
function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/**
 * Field 22 of /proc/PID/stat (proc(5)). The name of the program, field 2, may hold blanks and parentheses; what follows it does not. A process that
 * has ended and that nobody waited for has no start: it is as good as gone.
 */
function startOf(pid: number | 'self'): string | null {
  const stat = textOf(`/proc/${pid}/stat`)
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined) return null
  return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? null)
}

function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
