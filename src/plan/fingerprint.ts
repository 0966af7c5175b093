import { createHash } from 'node:crypto'
import type { ResourceRecord } from '../dns/record.ts'
import type { ExistingZone } from '../dns/zone.ts'

/** `sha256:…` over a zone's live state: its settings and every record that is managed, with its identifier, whatever their order. */
export function fingerprint(zone: ExistingZone | null, isUnmanaged: (record: ResourceRecord) => boolean = () => false): string {
  const hash = createHash('sha256')
  if (zone === null) return `sha256:${hash.update('absent').digest('hex')}`
  const settings = Object.entries(zone.settings)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  hash.update(JSON.stringify([zone.name, zone.id ?? null, settings]))
  const managed = zone.records.filter((record) => !isUnmanaged(record))
  const lines = managed.map((record) => JSON.stringify([record.id ?? null, record.name, record.type, record.ttl, record.data]))
  for (const line of lines.sort()) hash.update(`\n${line}`)
  return `sha256:${hash.digest('hex')}`
}
