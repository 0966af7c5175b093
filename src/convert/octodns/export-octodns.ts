/** Exports zones as files of octoDNS's YamlProvider. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { octodnsFileName, printOctodnsZone } from '../../definition/print/octodns-zone.ts'
import { type Exporter, type FormatSupport, unsupportedFeaturesOf } from '../exporter.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** The TTL in seconds of records without one in a zone without a default. */
const DEFAULT_TTL = 86_400

const SUPPORTED: FormatSupport = { settings: new Set(), others: new Set(['recordSettings', 'recordIgnore']) }

/** Exports each zone as a file for octoDNS's YamlProvider. A record without a TTL gets that of its zone. */
export const exportOctodns: Exporter = (zones) => {
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const managed = new Set(zones.map(({ name }) => name))
  const files = zones.flatMap((zone) => {
    if (zone.settings.type === 'slave' || zone.absent) {
      const what = zone.absent ? 'the deletion of the zone' : 'a slave zone, whose records come from its masters'
      dropped.push({ zone: zone.name, name: null, type: null, what, at: zone.at })
      return []
    }
    const path = octodnsFileName(zone)
    if (path === null) {
      dropped.push({ zone: zone.name, name: null, type: null, what: 'a zone whose name is not a valid file name', at: zone.at })
      return []
    }
    if (!isListed(path)) {
      const message = `${zone.name}: octoDNS finds ${path} only if its config names the zone; an entry "*" skips it`
      diagnostics.push({ severity: 'warning', code: 'file-format', message, at: zone.at })
    }
    const printed = printOctodnsZone({ ...zone, defaultTtl: zone.settings.ttl_sec || DEFAULT_TTL, managed })
    dropped.push(...unsupportedFeaturesOf({ ...zone, rrsetTargets: [] }, SUPPORTED), ...printed.dropped)
    return [{ path, text: printed.text }]
  })
  return { files, isSingleFile: false, dropped, diagnostics }
}

/** Whether octoDNS lists the file as a zone: it is in the directory itself and has two dots (its provider/yaml.py). */
const isListed = (path: string): boolean => !path.includes('/') && /\..*\.yaml$/.test(path)
