/**
 * Keeps what is served up to date with domains and records. A change marks its zone; marked zones are rendered together after a
 * moment, so that a burst of changes costs one rendering, and a large zone that changes all the time is rendered no oftener than
 * leaves most of the time to requests. A serial is stored before the zone that carries it is given out. Where other processes use the
 * database, what they store is given out too, and what one of them left undone is done.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { findOutdatedDomains, findRenderingInputs, setRenderingInputs } from '../store/zone-file-store.ts'
import { nameServersOf, renderingInputs } from './render-zone.ts'
import { type StoreZoneOptions, storeZone } from './store-zone.ts'
import { createZonePublisher, type PublishedZone } from './zone-publisher.ts'

export interface ZoneRendererOptions extends StoreZoneOptions {
  /** The service's name servers, the primary first: they hold for all processes, unless a later one is started with others. */
  readonly nsNames: readonly DomainName[]
  /** Told once where the name servers of a process that was started later hold; null where that is of another version, and renders alone. */
  readonly onOverridden?: (nsNames: readonly DomainName[] | null) => void
  /** Called with each zone that is to be served, at the start and when anything of it may have changed. */
  readonly onZone: (zone: PublishedZone) => void
  /** Called with the name of a zone that is to be answered for without data: of a slave that has not been transferred, or has expired. */
  readonly onUnavailable: (name: DomainName) => void
  /** Called with the name of a zone that is to be served no longer. */
  readonly onRemoved: (name: DomainName) => void
  readonly onError: (error: unknown) => void
  /** Milliseconds between looks at what other processes may have left undone; a few seconds unless given. */
  readonly pollInterval?: number
}

export interface ZoneRenderer {
  /** Marks a zone for rendering. To be called after every committed change of a domain or its records. */
  changed(domainId: number): void
  /** Resolves when every zone that is to be served has been given out. */
  start(): Promise<void>
  /** Renders what is marked, and resolves when nothing is. */
  flush(): Promise<void>
  /** Renders what is marked, then no more. */
  close(): Promise<void>
}

/** Milliseconds between a change and its rendering. */
const DELAY = 40

/** Times as long as a rendering took to wait at least before the next. */
const REST_FACTOR = 3

/** Milliseconds after which what failed is tried again. */
const RETRY = 1_000

const POLL_INTERVAL = 5_000

export function createZoneRenderer(options: ZoneRendererOptions): ZoneRenderer {
  const { database, onError, pollInterval = POLL_INTERVAL } = options
  const publisher = createZonePublisher(options)
  const marked = new Set<number>()
  const retries = new Set<NodeJS.Timeout>()
  const stops: (() => unknown)[] = []
  /** Looks under way, which need the database. */
  const looks = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let restUntil = 0
  let closed = false
  let basis = renderingInputs(options.nsNames)

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

  /** What a process stored without anyone hearing of it, or left behind when it ended. */
  const poll = async (): Promise<void> => {
    try {
      for (const id of await database.read(findOutdatedDomains)) changed(id)
      await publisher.catchUp()
      const found = await database.readOne(findRenderingInputs)
      if (found !== basis) options.onOverridden?.(nameServersOf(found))
      basis = found
    } catch (error) {
      onError(error)
    }
  }

  const look = (work: () => Promise<void>): void => {
    const done = work().finally(() => looks.delete(done))
    looks.add(done)
  }

  return {
    changed,
    start: async () => {
      await database.write((connection) => setRenderingInputs(connection, basis))
      if (database.otherProcesses !== null) stops.push(await database.otherProcesses.subscribe(() => look(catchUp)))
      for (const id of await database.read(findOutdatedDomains)) marked.add(id)
      await flush()
      await publisher.catchUp()
      if (database.otherProcesses === null) return
      const polling = setInterval(() => look(poll), pollInterval)
      stops.push(() => clearInterval(polling))
    },
    flush,
    close: async () => {
      closed = true
      for (const retry of retries) clearTimeout(retry)
      while (stops.length > 0) await stops.pop()?.()
      await Promise.all(looks)
      await flush()
    },
  }
}
