/**
 * Keeps the rendered zones up to date with the records. A change marks its zone; marked zones are rendered together after a
 * moment, so that a burst of changes costs one rendering, and a large zone that changes all the time is rendered no oftener than
 * leaves most of the time to requests. A serial is stored before the zone that carries it is given out.
 */
import type { DomainName } from '../../model/domain-name.ts'
import { serialNumber } from '../../model/serial-number.ts'
import type { Database } from '../store/database.ts'
import { findServedDomains, findZoneFile, findZoneRecords, findZoneSource, saveZoneFile } from '../store/zone-file-store.ts'
import { type RenderedZone, renderZone, withSerial } from './render-zone.ts'
import { serialAfter } from './zone-serial.ts'

export interface ZoneRendererOptions {
  readonly database: Database
  /** The service's name servers, the primary first. */
  readonly nsNames: readonly DomainName[]
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Called with each zone that is new or has changed. */
  readonly onRendered: (zone: RenderedZone & { readonly id: number }) => void
  /** Called with the name of a zone that is served no longer. */
  readonly onRemoved: (name: DomainName) => void
  readonly onError: (error: unknown) => void
}

export interface ZoneRenderer {
  /** Marks a zone for rendering. To be called after every committed change of a domain or its records. */
  changed(domainId: number): void
  /** Renders every zone that is to be served. */
  renderAll(): Promise<void>
  /** Renders what is marked, and resolves when nothing is. */
  flush(): Promise<void>
  /** Renders what is marked, then no more. */
  close(): Promise<void>
}

/** Milliseconds between a change and its rendering. */
const DELAY = 40

/** Times as long as a rendering took to wait at least before the next. */
const REST = 3

export function createZoneRenderer(options: ZoneRendererOptions): ZoneRenderer {
  const marked = new Set<number>()
  /** What is given out: the zone's name, by domain. */
  const served = new Map<number, DomainName>()
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let restUntil = 0
  let closed = false

  const run = async (): Promise<void> => {
    const started = performance.now()
    const due = [...marked]
    marked.clear()
    for (const id of due) {
      try {
        await renderOne(options, served, id)
      } catch (error) {
        options.onError(error)
      }
    }
    restUntil = performance.now() + REST * (performance.now() - started)
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

  return {
    changed: (domainId) => {
      marked.add(domainId)
      schedule()
    },
    renderAll: async () => {
      for (const id of await options.database.read(findServedDomains)) marked.add(id)
      await flush()
    },
    flush,
    close: async () => {
      closed = true
      await flush()
    },
  }
}

async function renderOne(options: ZoneRendererOptions, served: Map<number, DomainName>, id: number): Promise<void> {
  const { database, nsNames, clock } = options
  const found = await database.read(async (connection) => {
    const source = await findZoneSource(connection, id)
    if (source?.type !== 'master' || source.status !== 'active') return null
    return { source, records: await findZoneRecords(connection, id), file: await findZoneFile(connection, id) }
  })
  if (found === null) return withdraw(options, served, id)

  const { source, records, file } = found
  // Only what the zone says decides whether it gets a serial: what is the same under the serial it has keeps that.
  let zone = renderZone(source, records, nsNames, serialNumber(file?.serial ?? 0))
  if (file === null || zone.lines.join('\n') !== file.text) {
    zone = withSerial(zone, serialAfter(file && serialNumber(file.serial), new Date(clock()).getUTCFullYear()))
    const stored = { serial: zone.serial, text: zone.lines.join('\n') }
    const errors = zone.omitted.join('\n')
    if (!(await database.write((connection) => saveZoneFile(connection, id, stored, errors)))) return withdraw(options, served, id)
  } else if (served.get(id) === zone.name) return
  if (served.get(id) !== zone.name) withdraw(options, served, id)
  served.set(id, zone.name)
  options.onRendered({ ...zone, id })
}

function withdraw({ onRemoved }: ZoneRendererOptions, served: Map<number, DomainName>, id: number): void {
  const name = served.get(id)
  if (name === undefined) return
  served.delete(id)
  // Another domain may have taken the name meanwhile.
  if (![...served.values()].includes(name)) onRemoved(name)
}
