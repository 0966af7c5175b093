import { settingsOfSoa } from '../../definitions/zone-file-definition.ts'
import { checkZoneDigest } from '../../formats/zone-file/zone-digest.ts'
import type { Diagnostic } from '../../model/diagnostic.ts'
import { type DomainName, isAtOrBelow } from '../../model/domain-name.ts'
import type { Imported, ImportedZone, LostItem } from '../../model/exchange.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { isServerAddress, parseServerAddress } from '../../model/server-address.ts'
import { isDnsFailure } from '../../transport/dns-client-failure.ts'
import { transferZone } from '../../transport/dns-client-transfer.ts'
import { checkMailbox } from './check-mailbox.ts'
import type { ImportRequest } from './importer.ts'
import { readTransferKey } from './transfer-key.ts'

/** Seconds to wait for each message of a transfer. */
const TIMEOUT = 10

/** Zones as a name server sends them (AXFR, RFC 5936), one after another: few servers allow many transfers at once. */
export async function importByTransfer(request: ImportRequest): Promise<Imported> {
  const { source, zones, options } = request
  const refuse = (message: string, hint?: string): Imported => ({
    zones: [],
    lost: [],
    diagnostics: [{ severity: 'error', code: 'usage', message, hint }],
  })
  if (!isServerAddress(source))
    return refuse(`${JSON.stringify(source)} is not a name server`, 'such as 192.0.2.53 or ns1.example.net:5353')
  if (zones.length === 0) return refuse('a name server does not list its zones', 'name the zones to transfer')
  const key = options.tsig === undefined ? null : await readTransferKey(options.tsig, request)
  if (key?.diagnostic) return { zones: [], lost: [], diagnostics: [key.diagnostic] }
  const imported: ImportedZone[] = []
  const lost: LostItem[] = []
  const diagnostics: Diagnostic[] = []
  const server = parseServerAddress(source)
  for (const zone of new Set(zones)) {
    try {
      const records = await transferZone(server, zone, { timeout: (options.timeout ?? TIMEOUT) * 1000, key: key?.value })
      const inside = records.filter(({ name }) => isAtOrBelow(name, zone))
      const mailbox = checkMailbox(zoneOfTransfer(zone, inside))
      imported.push(mailbox.zone)
      lost.push(...mailbox.lost, ...outsideOf(zone, records))
      const at = { file: source, line: 1, column: 1 }
      for (const found of checkZoneDigest(
        inside.map((record) => ({ ...record, at })),
        zone,
      ))
        diagnostics.push({ ...found, at: undefined })
    } catch (error) {
      if (!isDnsFailure(error)) throw error
      diagnostics.push({ severity: 'error', code: 'nameserver-failed', message: error.message, hint: hintFor(error.message, key !== null) })
    }
  }
  return { zones: imported, lost, diagnostics }
}

/** A server may send what is not of the zone; nobody is to take it for that (RFC 5936 section 3.5). */
const outsideOf = (zone: DomainName, records: readonly ResourceRecord[]): LostItem[] =>
  records
    .filter(({ name }) => !isAtOrBelow(name, zone))
    .map(({ name, type }) => ({ zone, name, type, what: `a record that is not in ${zone}`, at: undefined }))

function hintFor(message: string, isSigned: boolean): string | undefined {
  if (!/\bREFUSED\b|\bNOTAUTH\b/.test(message)) return undefined
  return isSigned
    ? 'the server must have the zone, and allow its transfer with this key'
    : 'the server must have the zone, and allow its transfer to this host; --tsig gives a key'
}

function zoneOfTransfer(name: DomainName, records: readonly ResourceRecord[]): ImportedZone {
  const [soa, ...others] = records
  return { name, settings: soa === undefined ? {} : settingsOfSoa(soa), records: others }
}
