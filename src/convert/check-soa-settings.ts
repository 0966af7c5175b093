import type { ImportedZone } from '../definition/imported-zone.ts'
import { MAX_TTL } from '../dns/ttl.ts'
import { checkMailbox } from './check-mailbox.ts'
import type { UnsupportedFeature } from './conversion.ts'

const TIMES = { refresh_sec: 'REFRESH', retry_sec: 'RETRY', expire_sec: 'EXPIRE', ttl_sec: 'MINIMUM' } as const

/**
 * Takes out what no definition can hold of the fields of an SOA: a mailbox that is no address, and times that are more than any TTL. Those have 32 bits
 * (RFC 1035 section 3.3.13), a TTL has 31 (RFC 2181 section 8).
 */
export function checkSoaSettings(imported: ImportedZone): { readonly zone: ImportedZone; readonly dropped: readonly UnsupportedFeature[] } {
  const { zone, dropped } = checkMailbox(imported)
  const settings = { ...zone.settings }
  const times: UnsupportedFeature[] = []
  for (const [key, field] of Object.entries(TIMES) as [keyof typeof TIMES, string][]) {
    const seconds = settings[key]
    if (seconds === undefined || seconds <= MAX_TTL) continue
    delete settings[key]
    const what = `${seconds}, the ${field} of its SOA record: it is more than ${MAX_TTL} s`
    times.push({ zone: zone.name, name: null, type: 'SOA', what })
  }
  return times.length === 0 ? { zone, dropped } : { zone: { ...zone, settings }, dropped: [...dropped, ...times] }
}
