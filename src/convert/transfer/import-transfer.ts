import type { ImportedZone } from '../../definition/imported-zone.ts'
import { settingsOfSoa } from '../../definition/load/zone-file-definition.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { withMailbox } from '../../dns/mailbox.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { isServerAddress, parseServerAddress } from '../../dns/server-address.ts'
import { checkZoneDigest } from '../../dns/zone-file/zone-digest.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import { isDnsFailure } from '../../transport/dns-exchange.ts'
import { transferZone } from '../../transport/dns-transfer.ts'
import { checkSoaSettings } from '../check-soa-settings.ts'
import type { Imported, UnsupportedFeature } from '../conversion.ts'
import { recordsWithinRules } from '../definable-records.ts'
import { excerpt } from '../excerpt.ts'
import type { ImportRequest } from '../importer.ts'
import { withoutSigning } from './signed-zone.ts'
import { readTransferKey } from './transfer-key.ts'
import { transferredRecords } from './transferred-records.ts'

/** Seconds to wait for each message of a transfer. */
const TIMEOUT = 10

/** More than a definition can hold, whose file has a bound of its own. */
const MAX_RECORDS = 500_000

/** Zones as a name server sends them (AXFR, RFC 5936), one after another: few servers allow many transfers at once. */
export async function importByTransfer(request: ImportRequest): Promise<Imported> {
  const { source, zones, options, env } = request
  const refuse = (message: string, hint?: string): Imported => ({
    zones: [],
    dropped: [],
    diagnostics: [{ severity: 'error', code: 'usage', message, hint }],
  })
  if (!isServerAddress(source))
    return refuse(`${JSON.stringify(source)} is not a name server`, 'such as 192.0.2.53 or ns1.example.net:5353')
  if (zones.length === 0) return refuse('a name server does not list its zones', 'name the zones to transfer')
  const server = parseServerAddress(source)
  const refused = refusedServer(readHostPolicy(env), 'import axfr', server)
  if (refused !== null) return { zones: [], dropped: [], diagnostics: [refused] }
  const key = options.tsig === undefined ? null : await readTransferKey(options.tsig, request)
  if (key?.diagnostic) return { zones: [], dropped: [], diagnostics: [key.diagnostic] }
  const imported: ImportedZone[] = []
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  for (const zone of new Set(zones)) {
    try {
      const limits = { timeout: (options.timeout ?? TIMEOUT) * 1000, maxRecords: MAX_RECORDS }
      const records = await transferZone(server, zone, { ...limits, key: key?.value })
      const transferred = transferredRecords(zone, records)
      const unsigned = withoutSigning(zone, transferred.records)
      const checked = checkSoaSettings(zoneOfTransfer(zone, unsigned.records, records[0]?.mailbox))
      const { records: kept, others } = recordsWithinRules(zone, checked.zone.records)
      imported.push({ ...checked.zone, records: kept })
      dropped.push(...checked.dropped, ...transferred.dropped, ...others.map((other) => lostToRules(zone, other)))
      const at = { file: source, line: 1, column: 1 }
      const digests = checkZoneDigest(
        transferred.records.map((record) => ({ ...record, at })),
        zone,
      )
      diagnostics.push(...transferred.diagnostics, ...unsigned.diagnostics, ...digests.map((found) => ({ ...found, at: undefined })))
    } catch (error) {
      if (!isDnsFailure(error)) throw error
      diagnostics.push(failedTransfer(zone, error.message, key !== null))
    }
  }
  return { zones: imported, dropped, diagnostics }
}

const lostToRules = (
  zone: DomainName,
  { record: { name, type, data }, why }: { record: ResourceRecord; why: string },
): UnsupportedFeature => ({
  zone,
  name,
  type,
  what: `${excerpt(data)}: ${why}`,
})

/** What the connection itself says names the server alone. */
function failedTransfer(zone: DomainName, reason: string, isSigned: boolean): Diagnostic {
  const message = reason.startsWith('the transfer of ') ? reason : `the transfer of ${zone} failed: ${reason}`
  return { severity: 'error', code: 'nameserver-failed', message, hint: hintFor(reason, isSigned) }
}

function hintFor(message: string, isSigned: boolean): string | undefined {
  if (/\bthe clock\b/.test(message)) return 'a signature is good for a few minutes only: have both clocks set'
  if (!/\bREFUSED\b|\bNOTAUTH\b/.test(message)) return undefined
  return isSigned
    ? 'the server must have the zone and allow its transfer with this key; secret and clock must be those of the server'
    : 'the server must have the zone, and allow its transfer to this host; --tsig gives a key'
}

function zoneOfTransfer(name: DomainName, records: readonly ResourceRecord[], mailbox = ''): ImportedZone {
  const [soa, ...others] = records
  return { name, settings: soa === undefined ? {} : settingsOfSoa({ ...soa, data: withMailbox(soa.data, mailbox) }), records: others }
}
