/**
 * Renders a domain and stores its zone for serving. The domain and its records are read in one snapshot and rendered. Then one transaction locks
 * the domain and decides whether the zone needs a new serial, or whether another process or a later change was faster. So the serial increases
 * exactly once per change of content, whichever process renders it, and the served zone never goes back to an earlier state.
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

/** The zone of a domain after it was stored with a new serial. `id` is the domain's. */
export type StoredZone = RenderedZone & { readonly id: number }

/**
 * Renders and stores the zone of a domain. Returns it if it got a new serial; null if its content is unchanged, if nothing is served any more, or
 * if only processes of another version of the program may render.
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
  // A deleted domain was already withdrawn in the transaction that deleted it.
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
  const lastSerial = await lockServedName(connection, domain, id)
  if (existing !== null && existing.serial === lastSerial && isSame(rendered, existing)) {
    await serveZone(connection, domain, id, existing.serial)
    return null
  }
  const zone = withSerial(rendered, serialAfter(lastSerial === null ? null : serialNumber(lastSerial), year))
  await saveZoneFile(connection, id, { serial: zone.serial, text: zone.lines.join('\n') })
  await serveZone(connection, domain, id, zone.serial)
  return { ...zone, id }
}

/** Maximum number of omitted records listed in the domain's errors. The zone file lists all. */
const MAX_LISTED = 50

const errorsText = (omitted: readonly string[]): string => {
  const others = omitted.length - MAX_LISTED
  return [...omitted.slice(0, MAX_LISTED), ...(others > 0 ? [`and ${others} more, listed in the zone file`] : [])].join('\n')
}

/** Whether the content is unchanged. Then the zone keeps its serial. */
const isSame = (rendered: RenderedZone, existing: ZoneFile): boolean =>
  withSerial(rendered, existing.serial as SerialNumber).lines.join('\n') === existing.text

/** Serves the transferred zone of a slave, without data if it was not transferred yet or has expired. Withdraws a disabled domain. */
async function storeUnrendered(connection: Connection, source: ZoneSource): Promise<void> {
  const { id, domain, status } = source
  if (!(await markDomainRendered(connection, source))) return
  if (status !== 'active') return unserveDomain(connection, id)
  const file = await findZoneFile(connection, id)
  const lastSerial = await lockServedName(connection, domain, id)
  await serveZone(connection, domain, id, file === null ? lastSerial : file.serial)
}

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
