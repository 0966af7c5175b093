/** The SOA record of a zone, which settings describe. The server raises the serial of each SOA record that it is sent, unless the zone's `soa_edit_api` is empty. */
import type { DomainName } from '../../dns/domain-name.ts'
import { emailToName } from '../../dns/mailbox.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { isNewerSerial, nextSerial, type SerialNumber } from '../../dns/serial-number.ts'
import { SOA_TIMES, serialOf } from '../../dns/soa.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { isPrimary, type LiveZone } from './live-zone.ts'

interface SoaChange {
  readonly name: DomainName
  readonly type: 'SOA'
  readonly ttl: number
  readonly changetype: 'REPLACE'
  readonly records: readonly [{ readonly content: string; readonly disabled: false }]
}

const soaChange = (name: DomainName, ttl: number, fields: readonly string[]): SoaChange => ({
  name,
  type: 'SOA',
  ttl,
  changetype: 'REPLACE',
  records: [{ content: fields.join(' '), disabled: false }],
})

const SERIAL = 2

/** The fields with the settings that are given. A setting of 0 means the present value. */
function withSettings(fields: readonly string[], settings: ZoneSettings): string[] {
  const [, mailbox] = fields
  const changed = [...fields]
  changed[1] = (settings.soa_email && emailToName(settings.soa_email)) || (mailbox ?? '.')
  for (const [index, [, setting]] of SOA_TIMES.entries()) if (settings[setting]) changed[index + 3] = String(settings[setting])
  return changed
}

/** The default SOA record of PowerDNS (`default-soa-content`), without its mailbox. */
const DEFAULTS = ['0', '10800', '3600', '604800', '3600'] as const
const UNKNOWN_PRIMARY = 'a.misconfigured.dns.server.invalid.'

/** The SOA record of a new zone; null without settings for it, so that the server makes its own. */
export function newSoa(name: DomainName, settings: ZoneSettings, nameserver: string | undefined): SoaChange | null {
  const { type: _, master_ips: __, ...times } = settings
  if (Object.values(times).every((value) => !value)) return null
  const mailbox = name === '.' ? 'hostmaster.' : `hostmaster.${name}`
  const fields = withSettings([nameserver ?? UNKNOWN_PRIMARY, mailbox, ...DEFAULTS], settings)
  return soaChange(name, Number(fields[6]), fields)
}

/** The SOA record of a zone with other settings; null if the zone has none, or nothing changes. */
export function changedSoa({ name, soa, zone }: LiveZone, settings: ZoneSettings): SoaChange | null {
  if (soa === null) return null
  const fields = rdataFields(soa.data)
  const changed = withSettings(fields, settings)
  if (changed.join(' ') === fields.join(' ')) return null
  if (zone.soaEditApi === '') changed[SERIAL] = String(nextSerial(serialOf(soa)))
  return soaChange(name, soa.ttl ?? Number(changed[6]), changed)
}

/** The SOA record with the next serial if secondaries need one and the server does not raise it; null otherwise. */
export function raisedSoa({ name, soa, zone }: LiveZone): SoaChange | null {
  return soa === null || zone.soaEditApi !== '' || !isPrimary(zone) ? null : soaAfter(name, soa, serialOf(soa))
}

/** The SOA record of a new zone with a serial after `last`; null if it has one, or none. */
export const newerSoa = ({ name, soa }: LiveZone, last: SerialNumber): SoaChange | null =>
  soa === null || isNewerSerial(serialOf(soa), last) ? null : soaAfter(name, soa, last)

function soaAfter(name: DomainName, { ttl, data }: ResourceRecord, last: SerialNumber): SoaChange {
  const fields = rdataFields(data)
  fields[SERIAL] = String(nextSerial(last))
  return soaChange(name, ttl ?? Number(fields[6]), fields)
}
