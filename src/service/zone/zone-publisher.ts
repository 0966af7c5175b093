/**
 * Gives the name server what is to be served, as the database says it: all of it at the start, then whatever has changed since the
 * revision seen last, whichever process changed it.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'
import type { Connection, Database } from '../store/database.ts'
import { findRevision, findServedFiles, findServedSince, type ServedFile, type ServedRow } from '../store/zone-file-store.ts'
import type { StoredZone } from './store-zone.ts'
import { parseZoneText } from './zone-text.ts'

/** A zone to be served. */
export interface PublishedZone {
  /** The number of its domain. */
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
  /** Called with each zone that is to be served, at the start and when anything of it may have changed. */
  readonly onZone: (zone: PublishedZone) => void
  /** Called with the name of a zone that is to be answered for without data: of a slave that has not been transferred, or has expired. */
  readonly onUnavailable: (name: DomainName) => void
  /** Called with the name of a zone that is to be served no longer. */
  readonly onRemoved: (name: DomainName) => void
  /** Told of a zone that could not be given out; the others are. */
  readonly onError: (error: unknown) => void
}

export interface ZonePublisher {
  /** Remembers a zone that this process has just stored, so that its text need not be read back. */
  stored(zone: StoredZone): void
  /** Gives out what has changed. Calls that overlap are one. */
  catchUp(): Promise<void>
}

/** Zones read in one go: a bound on what is in memory twice. */
const BATCH_SIZE = 100

export function createZonePublisher({ database, onZone, onUnavailable, onRemoved, onError }: ZonePublisherOptions): ZonePublisher {
  const fresh = new Map<number, StoredZone>()
  const served = new Set<string>()
  /** Null before the start. */
  let seen: number | null = null
  let running: Promise<void> | null = null
  let again = false

  const publish = (row: ServedRow, file: ServedFile | undefined): void => {
    const { domain_id: id, serial } = row
    const name = `${row.name}.` as DomainName
    const stored = fresh.get(id)
    fresh.delete(id)
    if (!row.served) {
      if (served.delete(row.name)) onRemoved(name)
      return
    }
    if (file === undefined) {
      served.add(row.name)
      onUnavailable(name)
      return
    }
    // It has changed again since, and that is still to come.
    if (file.serial !== serial) return
    const records = stored?.serial === serial && stored.name === name ? stored.records : parseZoneText(name, file.text)
    served.add(row.name)
    onZone({ id, type: file.type, accountId: file.accountId, name, serial, records, axfrIps: file.axfrIps })
  }

  const run = async (): Promise<void> => {
    again = false
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
    stored: (zone) => void fresh.set(zone.id, zone),
    catchUp: async () => {
      again = true
      while (again || running !== null) {
        running ??= run().finally(() => {
          running = null
        })
        await running
      }
    },
  }
}
