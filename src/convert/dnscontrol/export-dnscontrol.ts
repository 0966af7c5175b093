import type { OutputFile } from '../../definition/imported-zone.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, ROOT } from '../../dns/domain-name.ts'
import { mailboxName, withMailbox } from '../../dns/mailbox.ts'
import { type ResourceRecord, recordKey, rrsetKey } from '../../dns/record.ts'
import type { DesiredZone, RrsetScope } from '../../dns/zone.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import { printZoneFile } from '../../dns/zone-file/print-zone-file.ts'
import type { Exporter, UnsupportedFeature } from '../conversion.ts'
import { exportZoneFiles } from '../zone-files/export-zone-files.ts'
import { AT_LABEL, printDomain } from './print-domain.ts'
import { isSoundIdn } from './record-call.ts'

const HEAD = `// Zones for DNSControl, whose BIND provider holds them in the folder zones: dnscontrol preview.
var REG_NONE = NewRegistrar('none', 'NONE');
var DSP_BIND = NewDnsProvider('bind', 'BIND');
`

const CREDENTIALS = `{
  "none": {"TYPE": "NONE"},
  "bind": {"TYPE": "BIND", "directory": "zones"}
}
`

/** Whether DNSControl has a domain of that name: `!` begins a tag there, and of a slash (RFC 2317) what is before it becomes a folder. */
const isDomain = (name: DomainName): boolean =>
  name !== ROOT && isSoundIdn(name) && !/[\\!]/.test(name) && name.split('/').every((part) => /^[^/.]/.test(part))

/**
 * A `dnsconfig.js` for DNSControl, and each zone as the zone file its BIND provider keeps, which hold the same: the one says what the zone
 * should be, the other what it is. A record that DNSControl cannot hold is in neither, since it stops at a zone file with such a one.
 */
export const exportDnscontrol: Exporter = (zones, options) => {
  const files: OutputFile[] = []
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  let script = HEAD
  for (const given of zones) {
    const { zone, ignored } = withoutIgnored(given)
    const keepsUnknown = zone.policy === 'upsert-only'
    const exported = exportZoneFiles([{ ...zone, unmanaged: [], policy: keepsUnknown ? null : zone.policy }], options)
    dropped.push(...exported.dropped)
    diagnostics.push(...exported.diagnostics)
    const [file] = exported.files
    if (file === undefined) continue
    if (!isDomain(zone.name)) {
      dropped.push({
        zone: zone.name,
        name: null,
        type: null,
        what: 'a zone whose name DNSControl takes for another, or for none',
        at: zone.at,
      })
      continue
    }
    const path = `zones/${zone.name.includes('/') ? `${zone.name.slice(0, -1)}.zone` : file.path}`
    if (files.some((one) => one.path === path)) {
      dropped.push({ zone: zone.name, name: null, type: null, what: `a zone whose file is ${path}, too`, at: zone.at })
      continue
    }
    const placeOf = placesOf(zone)
    const mailbox = mailboxName(zone.settings.soa_email ?? '')
    const records = [...parseZoneFile(file.text, { origin: zone.name, file: path }).records].map((record) => ({
      ...record,
      data: record.type === 'SOA' && mailbox !== null ? withMailbox(record.data, mailbox) : record.data,
      at: placeOf(record),
    }))
    const domain = printDomain({ name: zone.name, records, unmanaged: zone.unmanaged, ignored, keepsUnknown }, dropped)
    dropped.push(...ignored.map(({ name, type }) => ({ zone: zone.name, name, type, what: OTHERS, at: zone.at })))
    if (/^ {2}AT\(/m.test(domain.script) && !script.includes(AT_LABEL)) script += `\n${AT_LABEL}`
    script += `\n${domain.script}`
    const kept = records.filter((record) => record.type === 'SOA' || domain.printed.has(record))
    const isWhole = kept.length === records.length
    files.push({ path, text: isWhole ? file.text : printZoneFile(kept, { origin: zone.name, style: options.style, defaultTtl: null }) })
  }
  return {
    files: [{ path: 'dnsconfig.js', text: script }, { path: 'creds.json', text: CREDENTIALS }, ...files],
    isSingleFile: false,
    dropped,
    diagnostics,
  }
}

const OTHERS = 'what is said of a record set that is left to others; IGNORE leaves it alone'

/** The zone without record sets that are ignored at all its targets: DNSControl refuses a domain that has what it ignores. */
function withoutIgnored(zone: DesiredZone): { readonly zone: DesiredZone; readonly ignored: readonly RrsetScope[] } {
  const ignored = zone.scopes.filter((scope) => scope.ignored)
  if (ignored.length === 0) return { zone, ignored }
  const keys = new Set(ignored.map(rrsetKey))
  const records = zone.records.filter((record) => !keys.has(rrsetKey(record)))
  return { zone: { ...zone, records, scopes: zone.scopes.filter((scope) => !scope.ignored) }, ignored }
}

/** Where the definition says a record of the zone's file; of what only the file has, where the zone or its mailbox is said. */
function placesOf({ at, records, settingsAt }: DesiredZone): (record: ResourceRecord) => SourcePosition {
  const places = new Map(records.map((record) => [recordKey(record), record.at]))
  const soaAt = settingsAt?.soa_email ?? at
  return (record) => places.get(recordKey(record)) ?? (record.type === 'SOA' ? soaAt : at)
}
