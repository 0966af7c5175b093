/**
 * Keeps the served zones up to date with domains and records. A change marks its zone. Marked zones are rendered together after a short delay, so a
 * burst of changes costs one rendering. After each run, the renderer rests, so that a large zone that changes all the time leaves most of the
 * processor time to requests. A serial is stored before its zone is published. If other processes use the database, their zones are published as
 * well, and changes that they left unrendered are rendered.
 *
 * Passes the served zones from the database to the name server: all zones at startup, then those that changed since the last revision, in any
 * process.
 *
 * One transaction locks some domains, reads and renders them, and decides which zones need a new serial. So the serial increases exactly once per
 * change of content, whichever process renders it, and the served zone never goes back to an earlier state.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { isNewerSerial, nextSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import { findSuspended } from '../store/account-store.ts'
import type { Connection, Database } from '../store/database.ts'
import {
  findOutdatedDomains,
  findRecordCounts,
  findRenderingInputs,
  findRevision,
  findServedFiles,
  findServedSince,
  findZoneRecords,
  lockServedNames,
  markDomainsRendered,
  type ServedFile,
  type ServedRow,
  saveZoneFiles,
  serveZones,
  setRenderingErrors,
  setRenderingInputs,
  type ZoneFile,
  zoneChecksum,
} from '../store/zone-file-store.ts'
import { nameServersOf, type RenderedZone, renderingInputs, renderZone, withSerial } from './render-zone.ts'

interface StoreZoneOptions {
  readonly database: Database
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/**
 * Renders and stores the zones of domains in one transaction, which locks them. Does nothing for those whose changes are rendered already, and, if
 * only processes of another version of the program may render, for active masters.
 */
async function storeZones({ database, clock }: StoreZoneOptions, ids: readonly number[]): Promise<void> {
  const year = new Date(clock()).getUTCFullYear()
  await database.write(async (connection) => {
    const nsNames = nameServersOf(await findRenderingInputs(connection))
    const sources = await markDomainsRendered(connection, ids, nsNames !== null)
    const suspended = await findSuspended(connection, [...new Set(sources.map(({ account_id }) => account_id))])
    const active = sources.filter(({ status, account_id }) => status === 'active' && !suspended.has(account_id))
    const masters = active.filter(({ type }) => type === 'master')
    const records = await findZoneRecords(connection, masters.map(idOf))
    const lastSerials = await lockServedNames(connection, active)
    const existing = await findServedFiles(connection, active.map(idOf))
    const files: (ZoneFile & { readonly domain_id: number })[] = []
    const served: Pick<ServedRow, 'name' | 'domain_id' | 'serial'>[] = []
    for (const source of active) {
      const { id, domain } = source
      const [lastSerial, file] = [lastSerials.get(domain) ?? null, existing.get(id) ?? null]
      const stored = records.get(id)
      // The transferred zone of a slave; without data if it was not transferred yet or has expired.
      let serial = file === null ? lastSerial : file.serial
      if (stored !== undefined) {
        const rendered = renderZone(source, stored, nsNames ?? [], serialNumber(0))
        const errors = errorsText(rendered.omitted)
        if (errors !== source.errors) await setRenderingErrors(connection, id, errors)
        if (file === null || file.serial !== lastSerial || !isSame(rendered, file)) {
          const zone = withSerial(rendered, serialAfter(lastSerial === null ? null : serialNumber(lastSerial), year))
          serial = zone.serial
          files.push({ domain_id: id, serial, text: zone.lines.join('\n') })
        }
      }
      served.push({ name: domain, domain_id: id, serial })
    }
    await saveZoneFiles(connection, files)
    if (sources.length > 0) await serveZones(connection, sources.map(idOf), served)
  })
}

const idOf = ({ id }: { readonly id: number }): number => id

/** Maximum number of omitted records listed in the domain's errors. The zone file lists all. */
const MAX_LISTED = 50

const errorsText = (omitted: readonly string[]): string => {
  const others = omitted.length - MAX_LISTED
  return [...omitted.slice(0, MAX_LISTED), ...(others > 0 ? [`and ${others} more, listed in the zone file`] : [])].join('\n')
}

/** Whether the content is unchanged. Then the zone keeps its serial. */
const isSame = (rendered: RenderedZone, existing: ZoneFile): boolean =>
  withSerial(rendered, existing.serial as SerialNumber).lines.join('\n') === existing.text

/** Serials have the form YYYYNNNNNN: the year and a counter. */
const YEAR = 1_000_000

/**
 * The serial after `existing` (null for a new zone): the first one of the year if it is newer. Otherwise, for example after a change in the
 * same year or if the clock was set back, `existing` plus one (RFC 1982 section 3.1).
 */
function serialAfter(existing: SerialNumber | null, year: number): SerialNumber {
  const first = serialNumber(year * YEAR + 1)
  return existing === null || isNewerSerial(first, existing) ? first : nextSerial(existing)
}

/** A zone for the name server: its records are the text of the zone file. `id` is its domain's. */
interface PublishedZone extends Omit<ServedFile, 'domain_id' | 'text' | 'checksum'> {
  readonly id: number
  readonly name: DomainName
  readonly records: string
}

interface ZonePublisherOptions {
  readonly database: Database
  /** Called with each zone to serve, at startup and whenever it may have changed. */
  readonly onZone: (zone: PublishedZone) => void
  /** Called with the name of a zone without data: a slave that was not transferred yet or has expired. */
  readonly onUnavailable: (name: DomainName) => void
  /** Called with the name of a zone that is no longer served. */
  readonly onRemoved: (name: DomainName) => void
  /** Called when all changes of served zones up to a revision have been passed on. */
  readonly onPublished?: (revision: number) => void
  /** Called if a zone could not be published, for example because its stored text is damaged. The other zones still are. */
  readonly onError: (error: unknown) => void
}

/** Zones read or stored together. */
const BATCH_SIZE = 100

function createZonePublisher({ database, onZone, onUnavailable, onRemoved, onPublished, onError }: ZonePublisherOptions) {
  const served = new Set<string>()
  /** The last published revision; null before startup. */
  let seen: number | null = null
  let running: Promise<void> | null = null
  let runAgain = false

  const publish = (row: ServedRow, file: ServedFile | undefined): void => {
    const { domain_id: id, serial } = row
    const name = `${row.name}.` as DomainName
    if (!row.served) {
      if (served.delete(row.name)) onRemoved(name)
      return
    }
    if (file === undefined) {
      served.add(row.name)
      onUnavailable(name)
      return
    }
    // It has changed again; the next run publishes it.
    if (file.serial !== serial) return
    if (zoneChecksum(file.text) !== file.checksum) throw new Error(`the stored zone file of ${name} is damaged`)
    onZone({ id, type: file.type, accountId: file.accountId, name, serial, records: file.text, axfrIps: file.axfrIps })
    served.add(row.name)
  }

  const run = async (): Promise<void> => {
    runAgain = false
    const { rows, revision } = await database.read(async (connection) => ({
      rows: await findServedSince(connection, seen),
      revision: await findRevision(connection),
    }))
    for (let from = 0; from < rows.length; from += BATCH_SIZE) await publishBatch(rows.slice(from, from + BATCH_SIZE))
    seen = revision
    onPublished?.(revision)
  }

  const publishBatch = async (rows: readonly ServedRow[]): Promise<void> => {
    const ids = rows.filter((row) => row.served).map((row) => row.domain_id)
    const files = await database.read((connection: Connection) => findServedFiles(connection, ids))
    for (const row of rows) {
      try {
        publish(row, files.get(row.domain_id))
      } catch (error) {
        onError(error)
        // No parent zone may answer for its names.
        if (!served.has(row.name)) onUnavailable(`${row.name}.` as DomainName)
        served.add(row.name)
      }
    }
  }

  return {
    /** Publishes what has changed. Overlapping calls are combined. */
    catchUp: async (): Promise<void> => {
      runAgain = true
      while (runAgain || running !== null) {
        running ??= run().finally(() => {
          running = null
        })
        await running
      }
    },
  }
}

interface ZoneRendererOptions extends StoreZoneOptions, ZonePublisherOptions {
  /** The service's name servers, primary first. They apply to all processes until one is started with others. */
  readonly nsNames: readonly DomainName[]
  /** Called when a process started later changed the name servers; null if it has another version, so that only it renders. */
  readonly onOverridden?: (nsNames: readonly DomainName[] | null) => void
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

/** Records rendered in one transaction, unless one zone has more. Other requests wait for them. */
const BATCH_RECORDS = 2_000

/** The ids of domains in groups of at most `BATCH_RECORDS` records. */
function batchesOf(domains: readonly { readonly id: number; readonly record_count: number }[]): number[][] {
  const batches: number[][] = []
  let room = 0
  for (const { id, record_count } of domains) {
    room -= record_count
    if (room < 0 || batches.length === 0) {
      batches.push([])
      room = BATCH_RECORDS - record_count
    }
    batches.at(-1)?.push(id)
  }
  return batches
}

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
    for (let from = 0; from < due.length; from += BATCH_SIZE) await storeAll(due.slice(from, from + BATCH_SIZE))
    await catchUp()
    restUntil = performance.now() + REST_FACTOR * (performance.now() - started)
  }

  const storeAll = async (ids: readonly number[]): Promise<void> => {
    let batches: readonly number[][] = ids.map((id) => [id])
    try {
      batches = batchesOf(await database.read((connection) => findRecordCounts(connection, ids)))
    } catch {
      // Storing them fails as well, and reports it for each.
    }
    for (const batch of batches) await store(batch)
  }

  /** Stores zones together, or, if that fails, one after another, so that an error affects only its own zone. */
  const store = async (ids: readonly number[]): Promise<void> => {
    try {
      await storeZones(options, ids)
    } catch (error) {
      if (ids.length > 1) {
        for (const id of ids) await store([id])
        return
      }
      onError(error)
      later(() => ids.forEach(changed))
    }
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
