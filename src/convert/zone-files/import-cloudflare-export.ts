/**
 * Imports the zone file that Cloudflare exports (developers.cloudflare.com/dns/manage-dns-records/how-to/import-and-export). Comments after records have settings:
 * `; COMMENT cf_tags=cf-proxied:true,NAME:VALUE`.
 */
import { basename, resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import { type ExistingRecord, isApexNs, type RecordSettings, recordKey } from '../../dns/record.ts'
import { displayPath } from '../../files/file-path.ts'
import { readZoneFileText } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { parseFileName } from '../../load/definition-name.ts'
import { failedImport, type Importer, missingZones } from '../importer.ts'
import { exportReader } from '../provider-entry.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { readCommentedZone } from './import-zone-files.ts'

/** Imports one zone. Its SOA and NS records at the apex belong to Cloudflare. */
export const importCloudflareExport: Importer = async ({ source, zones, cwd, config }) => {
  const path = resolve(cwd, source)
  const file = displayPath(path, cwd)
  const text = await readZoneFileText(path, file, sourcePolicy({ ...config, cwd }, 'allowed'))
  if (!text.ok) return failedImport(text.problem)
  const [, domain] = /^;; Domain:[ \t]+(\S+)/m.exec(text.text) ?? []
  const stated = domain === undefined ? null : parseAbsoluteName(domain)
  const name = stated?.ok ? stated.value : (parseFileName(basename(path))?.zone ?? (zones.length === 1 ? (zones[0] ?? null) : null))
  // The owner of the SOA record lacks its final dot.
  const read = readCommentedZone({ file, text: text.text.replace(/^\S+[ \t]+[0-9]+[ \t]+IN[ \t]+SOA[ \t].*$/m, '') }, name)
  if (read.zone === null) return { zones: [], dropped: [], diagnostics: read.diagnostics }
  const { zone } = read
  const remarks = new Map(
    (zone.comments ?? []).flatMap(({ name, rrset, place, text }) =>
      name !== null && rrset?.data !== undefined && place === 'same-line'
        ? [[recordKey({ name, type: rrset.type, data: rrset.data }), text]]
        : [],
    ),
  )
  const dropped: UnsupportedFeature[] = [...read.dropped]
  const records = zone.records.flatMap((record): ExistingRecord[] => {
    if (isApexNs(record, zone.name)) return []
    const { settings, others } = settingsOf(remarks.get(recordKey(record)) ?? '')
    const { name, at } = record
    const kept = { keepsRecords: true, outcome: 'plans leave it as it is' } as const
    for (const what of others)
      dropped.push({ zone: zone.name, name, type: record.type, what: `${what}, a setting of Cloudflare`, at, ...kept })
    const type = record.type === 'CNAME' && name === zone.name ? 'ALIAS' : record.type
    // Cloudflare chooses the TTL.
    const data = type === 'TXT' ? octetsToTxtRdata(txtRdataToOctets(record.data)) : record.data
    return [{ name, type, ttl: record.ttl === 1 ? null : record.ttl, data, settings }]
  })
  const plan = records.some(({ settings }) => settings?.['tags'] !== undefined) && { plan: 'pro' }
  const { convert } = exportReader(config, { type: 'cloudflare', token: 'env:CLOUDFLARE_TOKEN', ...plan })
  const converted = convert({ name: zone.name, settings: {}, records })
  const diagnostics: Diagnostic[] = [...read.diagnostics, ...converted.diagnostics, ...missingZones(zones, [zone], file)]
  return { zones: [converted.zone], dropped: [...dropped, ...converted.dropped], diagnostics }
}

const TAGS = 'cf_tags='

/** The settings in a comment. `others` are attributes that plans do not know. */
function settingsOf(text: string): { readonly settings: RecordSettings; readonly others: readonly string[] } {
  const at = text.lastIndexOf(TAGS)
  const hasTags = at === 0 || text[at - 1] === ' '
  const comment = (hasTags ? text.slice(0, at) : text).trim()
  const list = hasTags ? text.slice(at + TAGS.length) : ''
  const all = [...list.matchAll(/([^\s:,]+)(?::("(?:[^"\\]|\\.)*"|[^,]*))?/g)].map(([, name = '', value = '']) => {
    const plain = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value.trim()
    return `${name}:${plain}`
  })
  const tags = all.filter((tag) => !tag.startsWith('cf-'))
  return {
    settings: {
      ...(all.includes('cf-proxied:true') && { proxied: true }),
      ...(comment !== '' && { comment }),
      ...(tags.length > 0 && { tags }),
    },
    others: all.filter((tag) => tag.startsWith('cf-') && !tag.startsWith('cf-proxied:')),
  }
}
