/** Passes the served zones from the database to the name server: all zones at startup, then those that changed since the last revision, in any process. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'
import type { Connection, Database } from '../store/database.ts'
import { findRevision, findServedFiles, findServedSince, type ServedFile, type ServedRow } from '../store/zone-file-store.ts'
import type { StoredZone } from './store-zone.ts'
import { parseZoneText } from './zone-text.ts'

/** A zone for the name server. */
export interface PublishedZone {
  /** The id of its domain. */
  readonly id: number
  readonly type: 'master' | 'slave'
  readonly accountId: number
  readonly name: DomainName
  readonly serial: number
  /** The SOA record first. */
  readonly records: readonly ServedRecord[]
  /** Addresses that may transfer it. */
  readonly axfrIps: readonly string[]
}

export interface ZonePublisherOptions {
  readonly database: Database
  /** Called with each zone to serve, at startup and whenever it may have changed. */
  readonly onZone: (zone: PublishedZone) => void
  /** Called with the name of a zone without data: a slave that was not transferred yet or has expired. */
  readonly onUnavailable: (name: DomainName) => void
  /** Called with the name of a zone that is no longer served. */
  readonly onRemoved: (name: DomainName) => void
  /** Called if a zone could not be published. The other zones still are. */
  readonly onError: (error: unknown) => void
}

export interface ZonePublisher {
  /** Keeps a zone that this process has just stored, so that its text need not be parsed again. */
  stored(zone: StoredZone): void
  /** Publishes what has changed. Overlapping calls are combined. */
  catchUp(): Promise<void>
}

/** Zones read per query, to limit how many are in memory twice. */
const BATCH_SIZE = 100

export function createZonePublisher({ database, onZone, onUnavailable, onRemoved, onError }: ZonePublisherOptions): ZonePublisher {
  const justStored = new Map<number, StoredZone>()
  const served = new Set<string>()
  /** The last published revision; null before startup. */
  let seen: number | null = null
  let running: Promise<void> | null = null
  let runAgain = false

  const publish = (row: ServedRow, file: ServedFile | undefined): void => {
    const { domain_id: id, serial } = row
    const name = `${row.name}.` as DomainName
    const stored = justStored.get(id)
    justStored.delete(id)
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
    const records = stored?.serial === serial && stored.name === name ? stored.records : parseZoneText(name, file.text)
    served.add(row.name)
    onZone({ id, type: file.type, accountId: file.accountId, name, serial, records, axfrIps: file.axfrIps })
  }

  const run = async (): Promise<void> => {
    runAgain = false
    const { rows, revision } = await database.read(async (connection) => ({
      rows: await findServedSince(connection, seen),
      revision: await findRevision(connection),
    }))
    for (let from = 0; from < rows.length; from += BATCH_SIZE) await publishBatch(rows.slice(from, from + BATCH_SIZE))
    seen = revision
  }

  const publishBatch = async (rows: readonly ServedRow[]): Promise<void> => {
    const ids = rows.filter((row) => row.served).map((row) => row.domain_id)
    const files = await database.read((connection: Connection) => findServedFiles(connection, ids))
    for (const row of rows) {
      try {
        publish(row, files.get(row.domain_id))
      } catch (error) {
        onError(error)
      }
    }
  }

  return {
    stored: (zone) => void justStored.set(zone.id, zone),
    catchUp: async () => {
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
