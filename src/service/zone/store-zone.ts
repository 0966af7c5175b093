/**
 * Has what is served follow a domain. The domain and its records are read in one state and rendered, and one transaction that holds the
 * domain then decides: which serial the zone gets, whether it needs one at all, or whether another process, or a later change, has
 * been here first. So a serial grows once for each change of content, whoever renders it, and what is served never goes back.
 */
import { isNewerSerial, nextSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { Connection, Database } from '../store/database.ts'
import {
  findRenderingInputs,
  findZoneFile,
  findZoneRecords,
  findZoneSource,
  lockServedName,
  markDomainRendered,
  saveZoneFile,
  serveZone,
  unserveDomain,
  type ZoneFile,
  type ZoneSource,
} from '../store/zone-file-store.ts'
import { nameServersOf, type RenderedZone, renderZone, withSerial } from './render-zone.ts'

export interface StoreZoneOptions {
  readonly database: Database
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** The zone of a domain as it was stored under a serial that is new. */
export type StoredZone = RenderedZone & { readonly id: number }

/**
 * Returns the zone if this call gave it another serial; null where there was nothing to do but to serve it, or no more to serve, or where
 * it is for processes of another version of the program to render.
 */
export async function storeZone({ database, clock }: StoreZoneOptions, id: number): Promise<StoredZone | null> {
  const found = await database.read(async (connection) => {
    const source = await findZoneSource(connection, id)
    if (source === null || source.settled >= source.revision) return null
    const isRendered = source.type === 'master' && source.status === 'active'
    if (!isRendered) return { source, records: null }
    const nsNames = nameServersOf(await findRenderingInputs(connection))
    return nsNames && { source, records: { all: await findZoneRecords(connection, id), nsNames } }
  })
  // Whoever deleted it took it from what is served in the same transaction.
  if (found === null) return null
  const { source, records } = found
  if (records === null) {
    await database.write((connection) => storeUnrendered(connection, source))
    return null
  }
  const rendered = renderZone(source, records.all, records.nsNames, serialNumber(0))
  return database.write((connection) => storeRendered(connection, source, rendered, new Date(clock()).getUTCFullYear()))
}

async function storeRendered(connection: Connection, source: ZoneSource, rendered: RenderedZone, year: number): Promise<StoredZone | null> {
  const { id, domain } = source
  if (!(await markDomainRendered(connection, source, errorsText(rendered.omitted)))) return null
  const existing = await findZoneFile(connection, id)
  const given = await lockServedName(connection, domain, id)
  if (existing !== null && existing.serial === given && isSame(rendered, existing)) {
    await serveZone(connection, domain, id, existing.serial)
    return null
  }
  const zone = withSerial(rendered, serialAfter(given === null ? null : serialNumber(given), year))
  await saveZoneFile(connection, id, { serial: zone.serial, text: zone.lines.join('\n') })
  await serveZone(connection, domain, id, zone.serial)
  return { ...zone, id }
}

/** Records left out that are told one by one; the zone file tells all. */
const MAX_LISTED = 50

const errorsText = (omitted: readonly string[]): string => {
  const others = omitted.length - MAX_LISTED
  return [...omitted.slice(0, MAX_LISTED), ...(others > 0 ? [`and ${others} more, which the zone file names`] : [])].join('\n')
}

/** Only what the zone says decides whether it gets a serial: what is the same under the serial it has keeps that. */
const isSame = (rendered: RenderedZone, existing: ZoneFile): boolean =>
  withSerial(rendered, existing.serial as SerialNumber).lines.join('\n') === existing.text

/** A slave's zone is served as it was transferred, or as one without data where it has not been or has expired; a disabled domain has none. */
async function storeUnrendered(connection: Connection, source: ZoneSource): Promise<void> {
  const { id, domain, status } = source
  if (!(await markDomainRendered(connection, source))) return
  if (status !== 'active') return unserveDomain(connection, id)
  const file = await findZoneFile(connection, id)
  const given = await lockServedName(connection, domain, id)
  await serveZone(connection, domain, id, file === null ? given : file.serial)
}

/** Serials of one year: the year in front, a counter behind it. */
const YEAR = 1_000_000

/**
 * The serial after `existing` (null for a zone that has none): the year's first one, or where that is not newer, as after more than
 * a million changes or a clock set back, one more than the existing (RFC 1982 section 3.1).
 */
function serialAfter(existing: SerialNumber | null, year: number): SerialNumber {
  const first = serialNumber(year * YEAR + 1)
  return existing === null || isNewerSerial(first, existing) ? first : nextSerial(existing)
}
