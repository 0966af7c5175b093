/**
 * What follows a change of a file: lists of the zones are written, and commands make servers load the change. Before the change, a marker beside the file says
 * what has to follow; it is removed when that is done. So a later run completes what failed or was interrupted.
 */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { temporaryName } from '../../files/temporary-file.ts'
import { type CompletedCalls, diagnosticOf } from '../provider.ts'
import { canBeServed } from './capabilities.ts'
import { type Command, type CommandRun, fillIn, hasPlaceholder, runCommand } from './run-command.ts'
import type { ZoneFolder } from './zone-folder.ts'

export type FileChange = 'created' | 'changed' | 'deleted'

export interface PublishOptions {
  /** The provider's name in the config. */
  readonly provider: string
  /** Absolute. */
  readonly directory: string
  readonly folder: ZoneFolder
  /** Makes servers load a changed zone; null for none. */
  readonly reload: Command | null
  /** Makes servers read the list of zones; null for none. */
  readonly listReload: Command | null
  /** The catalog zone; null without one. */
  readonly catalog: DomainName | null
  /** Writes the lists of zones that differ from the folder, and returns whether there were any; null if the config has no list. Throws a `ProviderError`. */
  readonly writeLists: (() => Promise<boolean>) | null
  readonly commands: Omit<CommandRun, 'signal'>
  /** Replaces the secrets of the run in a text. */
  readonly redact: (text: string) => string
}

export interface Publisher {
  /** Notes what has to follow a change that is about to be made. Throws the system's error. */
  mark(zone: DomainName, change: FileChange): void
  /** Does what follows a change. Returns what failed. */
  publish(zone: DomainName, change: FileChange): Promise<readonly Diagnostic[]>
  /** Does what earlier runs left, and corrects the lists of zones. */
  complete(): Promise<CompletedCalls>
  isPending(zone: DomainName): boolean
}

/** A marker beside the file `NAME` is `.NAME.pending`. */
const MARKER = /^\..+\.pending$/

/** Larger files are not markers. */
const MAX_MARKER_OCTETS = 2048

export function createPublisher(options: PublishOptions): Publisher {
  const { provider, directory, folder, reload, listReload, catalog, writeLists } = options
  const hasSteps = reload !== null || writeLists !== null
  const markerOf = (zone: DomainName): string => join(directory, `.${folder.fileNameOf(zone)}.pending`)

  const run = async (command: Command, zone: DomainName, after: string): Promise<Diagnostic[]> => {
    const shownZone = zone === '.' ? zone : zone.slice(0, -1)
    const problem = await runCommand(fillIn(command, { zone: shownZone }), options.commands)
    if (problem === null) return []
    const message = options.redact(`${provider}: ${after}, but "${command[0]}" ${problem}`)
    return [{ severity: 'error', code: 'reload-failed', message, hint: 'solve the problem and apply again: that repeats the command' }]
  }
  const reloadAll = coalesced(() => run(reload as Command, '.' as DomainName, 'files were written'))
  const isForOne = reload !== null && hasPlaceholder(reload, 'zone')
  const reloadZone = (zone: DomainName): Promise<Diagnostic[]> =>
    isForOne ? run(reload, zone, `${zone} was written`) : reload === null ? Promise.resolve([]) : reloadAll()

  /** Whether servers were not told of a zone that an earlier run created: they cannot load a change of it. */
  const isUntold = (zone: DomainName): boolean => markerIn(markerOf(zone))?.change === 'created'

  const publishLists = coalesced(async (): Promise<Diagnostic[]> => {
    try {
      await writeLists?.()
    } catch (error) {
      return [diagnosticOf(error)]
    }
    const read = listReload === null ? [] : await run(listReload, '.' as DomainName, 'the list of zones was written')
    if (read.length > 0) return read
    if (catalog !== null) return reloadZone(catalog)
    return listReload === null && !isForOne ? reloadZone('.' as DomainName) : []
  })

  const follow = async (zone: DomainName, change: FileChange): Promise<Diagnostic[]> => {
    if (change === 'changed') return reloadZone(zone)
    if (writeLists !== null) return publishLists()
    // A server that does not know the zone any more cannot reload it.
    return change === 'created' || !isForOne ? reloadZone(zone) : []
  }

  const publish: Publisher['publish'] = async (zone, change) => {
    if (!hasSteps) return []
    const created = change === 'changed' && isUntold(zone) ? await follow(zone, 'created') : []
    const problems = created.length > 0 ? created : await follow(zone, change)
    if (problems.length === 0) removeMarker(markerOf(zone))
    return problems
  }

  const correctLists = async (done: string[], problems: Diagnostic[]): Promise<void> => {
    try {
      if (!(await writeLists?.())) return
      problems.push(...(await publishLists()))
      done.push(`${provider}: the list of zones is up to date.`)
    } catch (error) {
      problems.push(diagnosticOf(error))
    }
  }

  return {
    mark(zone, change) {
      if (!hasSteps) return
      const pending = change === 'changed' && isUntold(zone) ? 'created' : change
      writeMarker(markerOf(zone), { zone, change: pending })
    },
    publish,
    async complete() {
      const done: string[] = []
      const problems: Diagnostic[] = []
      if (!hasSteps) return { done, problems }
      for (const { zone, change } of markersIn(directory)) {
        const failed = await publish(zone, change)
        problems.push(...failed)
        if (failed.length === 0) done.push(`${provider}: an earlier run had ${change} ${zone}; servers were told.`)
      }
      if (problems.length === 0) await correctLists(done, problems)
      return { done, problems: distinct(problems) }
    },
    isPending: (zone) => hasSteps && statSync(markerOf(zone), { throwIfNoEntry: false })?.isFile() === true,
  }
}

/** Throws the system's error. */
function writeMarker(path: string, marker: Marker): void {
  const temporary = temporaryName(path)
  try {
    writeFileSync(temporary, `${JSON.stringify(marker)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** A marker that cannot be removed only repeats what follows a change. */
function removeMarker(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The folder has become unwritable.
  }
}

/** Several zones may have the same problem. */
const distinct = (problems: readonly Diagnostic[]): Diagnostic[] => [...new Map(problems.map((one) => [one.message, one])).values()]

interface Marker {
  readonly zone: DomainName
  readonly change: FileChange
}

function markersIn(directory: string): Marker[] {
  const names = readdirOrNone(directory).filter((name) => MARKER.test(name))
  return names.sort().flatMap((name) => markerIn(join(directory, name)) ?? [])
}

/** Null for a file that is not a marker. */
function markerIn(path: string): Marker | null {
  try {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (!facts?.isFile() || facts.size > MAX_MARKER_OCTETS) return null
    const { zone, change } = JSON.parse(readFileSync(path, 'utf8')) as { zone?: unknown; change?: unknown }
    const parsed = parseAbsoluteName(String(zone))
    const known = (['created', 'changed', 'deleted'] as const).find((one) => one === change)
    return parsed.ok && canBeServed(parsed.value) && known !== undefined ? { zone: parsed.value, change: known } : null
  } catch {
    return null
  }
}

function readdirOrNone(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** Combines calls: those that arrive while the work is being done share the next one, which starts after it. */
function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  let next: Promise<T> | null = null
  const start = (): Promise<T> => {
    const current = work().finally(() => {
      if (running === current) running = null
    })
    running = current
    return current
  }
  return () => {
    if (running === null) return start()
    next ??= running
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        next = null
        return start()
      })
    return next
  }
}
