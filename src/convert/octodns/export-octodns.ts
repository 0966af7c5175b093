import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DesiredZone, ZoneSettings } from '../../dns/zone.ts'
import type { Exporter, UnsupportedFeature } from '../conversion.ts'
import { unsupportedFeaturesOf } from '../unsupported-features.ts'
import { printOctodnsZone } from './print-octodns-zone.ts'

/** Seconds that a record without a TTL has where its zone says none. */
const DEFAULT_TTL = 86_400

const HELD: ReadonlySet<keyof ZoneSettings> = new Set()

/** Each zone as the file that octoDNS's YamlProvider looks for. A record without a TTL gets that of its zone. */
export const exportOctodns: Exporter = (zones) => {
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const managed = new Set(zones.map(({ name }) => name))
  const files = zones.flatMap((zone) => {
    if (zone.settings.type === 'slave' || zone.absent) {
      const what = zone.absent ? 'that the zone is to be deleted' : 'a slave zone: its records are those of its masters'
      dropped.push({ zone: zone.name, name: null, type: null, what, at: zone.at })
      return []
    }
    const path = fileNameOf(zone)
    if (path === null) {
      dropped.push({ zone: zone.name, name: null, type: null, what: 'a zone whose name is no name of a file', at: zone.at })
      return []
    }
    if (!isListed(path)) {
      const message = `${zone.name}: octoDNS finds ${path} only where its configuration names the zone; an entry "*" passes over it`
      diagnostics.push({ severity: 'warning', code: 'file-format', message, at: zone.at })
    }
    const printed = printOctodnsZone({ ...zone, defaultTtl: zone.settings.ttl_sec || DEFAULT_TTL, managed })
    dropped.push(...unsupportedFeaturesOf({ ...zone, scopes: [] }, { settings: HELD }), ...printed.dropped)
    return [{ path, text: printed.text }]
  })
  return { files, isSingleFile: false, dropped, diagnostics }
}

/**
 * octoDNS joins the name of a zone and `yaml` to its directory, so that a slash leads into a folder: `0/26.2.0.192.in-addr.arpa.yaml` of an
 * RFC 2317 zone. Null where a part of that is no name of a file.
 */
const fileNameOf = ({ name }: DesiredZone): string | null =>
  /^(?:[a-z0-9_-][a-z0-9_.-]*\/)*[a-z0-9_-][a-z0-9_.-]{0,199}$/.test(name) ? `${name}yaml` : null

/** Whether octoDNS lists the file as one of a zone: in its directory itself, with two dots (its provider/yaml.py). */
const isListed = (path: string): boolean => !path.includes('/') && /\..*\.yaml$/.test(path)
