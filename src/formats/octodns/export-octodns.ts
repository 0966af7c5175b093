import type { Exporter, LostItem } from '../../model/exchange.ts'
import type { DesiredZone, ZoneSettings } from '../../model/zone.ts'
import { lostOfZone } from '../lost-items.ts'
import { printOctodnsZone } from './print-octodns-zone.ts'

/** Seconds that a record without a TTL has where its zone says none. */
const DEFAULT_TTL = 86_400

const HELD: ReadonlySet<keyof ZoneSettings> = new Set()

/** Each zone as the file that octoDNS's YamlProvider looks for. A record without a TTL gets that of its zone. */
export const exportOctodns: Exporter = (zones) => {
  const lost: LostItem[] = []
  const managed = new Set(zones.map(({ name }) => name))
  const files = zones.flatMap((zone) => {
    if (zone.settings.type === 'slave' || zone.absent) {
      const what = zone.absent ? 'that the zone is to be deleted' : 'a slave zone: its records are those of its masters'
      lost.push({ zone: zone.name, name: null, type: null, what, at: zone.at })
      return []
    }
    const path = fileNameOf(zone)
    if (path === null) {
      lost.push({ zone: zone.name, name: null, type: null, what: 'a zone whose name is no name of a file', at: zone.at })
      return []
    }
    const printed = printOctodnsZone({ ...zone, defaultTtl: zone.settings.ttl_sec || DEFAULT_TTL, managed })
    lost.push(...lostOfZone({ ...zone, scopes: [] }, { settings: HELD }), ...printed.lost)
    return [{ path, text: printed.text }]
  })
  return { files, isSingleFile: false, lost, diagnostics: [] }
}

/** octoDNS finds a file by the name of its zone alone, so that a name with a slash has no file (RFC 2317 zones). */
const fileNameOf = ({ name }: DesiredZone): string | null => (/^[a-z0-9_.-]{1,200}\.$/.test(name) ? `${name}yaml` : null)
