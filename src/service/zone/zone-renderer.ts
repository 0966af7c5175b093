/**
 * Keeps the served zones up to date with domains and records. A change marks its zone. Marked zones are rendered together after a short delay,
 * so a burst of changes costs one rendering. After each run, the renderer rests, so that a large zone that changes all the time leaves most of
 * the processor time to requests. A serial is stored before its zone is published. If other processes use the database, their zones are
 * published as well, and changes that they left unrendered are rendered.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { findOutdatedDomains, findRenderingInputs, setRenderingInputs } from '../store/zone-file-store.ts'
import { nameServersOf, renderingInputs } from './render-zone.ts'
import { type StoreZoneOptions, storeZone } from './store-zone.ts'
import { createZonePublisher, type PublishedZone } from './zone-publisher.ts'

export interface ZoneRendererOptions extends StoreZoneOptions {
  /** The service's name servers, primary first. They apply to all processes until one is started with others. */
  readonly nsNames: readonly DomainName[]
  /** Called when a process started later changed the name servers; null if it has another version, so that only it renders. */
  readonly onOverridden?: (nsNames: readonly DomainName[] | null) => void
  /** Called with each zone to serve, at startup and whenever it may have changed. */
  readonly onZone: (zone: PublishedZone) => void
  /** Called with the name of a zone without data: a slave that was not transferred yet or has expired. */
  readonly onUnavailable: (name: DomainName) => void
  /** Called with the name of a zone that is no longer served. */
  readonly onRemoved: (name: DomainName) => void
  readonly onError: (error: unknown) => void
  /** Milliseconds between checks for work that other processes left; 5 seconds by default. */
  readonly pollInterval?: number
}

export interface ZoneRenderer {
  /** Marks a zone for rendering. Call it after every committed change of a domain or its records. */
  changed(domainId: number): void
  /** Resolves when all zones have been published. */
  start(): Promise<void>
  /** Renders the marked zones. Resolves when none is marked. */
  flush(): Promise<void>
  /** Renders the marked zones, then stops. */
  close(): Promise<void>
}

/** Milliseconds between a change and its rendering. */
const DELAY = 40

/** Minimum wait after a rendering, as a multiple of its duration. */
const REST_FACTOR = 3

/** Milliseconds before a retry after an error. */
const RETRY = 1_000

const POLL_INTERVAL = 5_000

export function createZoneRenderer(options: ZoneRendererOptions): ZoneRenderer {
  const { database, onError, pollInterval = POLL_INTERVAL } = options
  const publisher = createZonePublisher(options)
  const marked = new Set<number>()
  const retries = new Set<NodeJS.Timeout>()
  const stops: (() => unknown)[] = []
  /** Running background tasks, which need the database. */
  const tasks = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let restUntil = 0
  let closed = false
  let inputs = renderingInputs(options.nsNames)

  const run = async (): Promise<void> => {
    const started = performance.now()
    const due = [...marked]
    marked.clear()
    for (const id of due) {
      try {
        const zone = await storeZone(options, id)
        if (zone !== null) publisher.stored(zone)
      } catch (error) {
        onError(error)
        later(() => changed(id))
      }
    }
    await catchUp()
    restUntil = performance.now() + REST_FACTOR * (performance.now() - started)
  }

  const catchUp = async (): Promise<void> => {
    try {
      await publisher.catchUp()
    } catch (error) {
      onError(error)
      later(catchUp)
    }
  }

  const later = (work: () => unknown): void => {
    if (closed) return
    const retry = setTimeout(() => {
      retries.delete(retry)
      void work()
    }, RETRY)
    retries.add(retry)
  }

  const start = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    running ??= run().finally(() => {
      running = null
      if (marked.size > 0) schedule()
    })
    return running
  }

  const schedule = (): void => {
    if (closed || timer !== null || running !== null) return
    timer = setTimeout(() => void start(), Math.max(DELAY, restUntil - performance.now()))
  }

  const flush = async (): Promise<void> => {
    while (marked.size > 0 || running !== null) await start()
  }

  const changed = (domainId: number): void => {
    marked.add(domainId)
    schedule()
  }

  /** Handles changes whose notification was missed, and those that another process left when it ended. */
  const poll = async (): Promise<void> => {
    try {
      for (const id of await database.read(findOutdatedDomains)) changed(id)
      await publisher.catchUp()
      const found = await database.readOne(findRenderingInputs)
      if (found !== inputs) options.onOverridden?.(nameServersOf(found))
      inputs = found
    } catch (error) {
      onError(error)
    }
  }

  const runTask = (work: () => Promise<void>): void => {
    const done = work().finally(() => tasks.delete(done))
    tasks.add(done)
  }

  return {
    changed,
    start: async () => {
      await database.write((connection) => setRenderingInputs(connection, inputs))
      if (database.otherProcesses !== null) stops.push(await database.otherProcesses.subscribe(() => runTask(catchUp)))
      for (const id of await database.read(findOutdatedDomains)) marked.add(id)
      await flush()
      await publisher.catchUp()
      if (database.otherProcesses === null) return
      const polling = setInterval(() => runTask(poll), pollInterval)
      stops.push(() => clearInterval(polling))
    },
    flush,
    close: async () => {
      closed = true
      for (const retry of retries) clearTimeout(retry)
      while (stops.length > 0) await stops.pop()?.()
      await Promise.all(tasks)
      await flush()
    },
  }
}
