/** Imports zones by transfer from a name server. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { isSecretReference, resolveSecret } from '../config/resolve-secret.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName } from '../dns/domain-name.ts'
import { restoreMailboxCase } from '../dns/mailbox.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { recordKey } from '../dns/record.ts'
import { isMetaType } from '../dns/record-type.ts'
import { isServerAddress, parseServerAddress } from '../dns/server-address.ts'
import { splitSoa } from '../dns/soa.ts'
import { parseTsigSecret, TSIG_ALGORITHMS, type TsigAlgorithm, type TsigKey } from '../dns/wire/tsig.ts'
import { checkZoneDigest } from '../dns/zone-file/zone-digest.ts'
import { readHostPolicy, refusedServer } from '../transport/allowed-hosts.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import { type TransferredRecord, transferZone } from '../transport/dns-transfer.ts'
import { splitByRules } from './definable-records.ts'
import type { ImportedZones, ImportRequest } from './importer.ts'
import { withoutOtherClients } from './other-clients.ts'
import { droppedRecord, shownData, type UnsupportedFeature } from './unsupported-features.ts'

/** Seconds to wait for each message of a transfer. */
const TIMEOUT = 10

/** A definition of more records would exceed the size limit of its file. */
const MAX_RECORDS = 500_000

/** Duplicate records that are reported one by one. */
const MAX_REPORTED = 100

/** Types that signing a zone generates (RFC 4034 sections 3 and 4, RFC 5155 sections 3 and 4). */
const SIGNER_TYPES: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])

const NO_POSITION = { file: '--tsig', line: 1, column: 1 }

interface TransferredRecords {
  /** The records of the zone without duplicates, in the order received. */
  readonly records: readonly ResourceRecord[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

type TransferKey = { readonly value: TsigKey; readonly diagnostic: null } | { readonly value: undefined; readonly diagnostic: Diagnostic }

/** Imports zones by transfer from a name server (AXFR, RFC 5936), one after the other, because few servers allow many transfers at once. */
export async function importByTransfer(request: ImportRequest): Promise<ImportedZones> {
  const { source, zones, options, env } = request
  const refuse = (message: string, hint?: string): ImportedZones => ({
    zones: [],
    dropped: [],
    diagnostics: [{ severity: 'error', code: 'usage', message, hint }],
  })
  if (!isServerAddress(source))
    return refuse(`${JSON.stringify(source)} is not a name server`, 'such as 192.0.2.53 or ns1.example.net:5353')
  if (zones.length === 0)
    return refuse('import axfr needs the zones to transfer', `such as: zonewright import axfr ${source} example.com -o zones`)
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
      const unsigned = withoutSignatures(zone, transferred.records)
      const whole = zoneOfTransfer(zone, unsigned.records, records[0]?.mailbox)
      const { records: kept, undefinable } = splitByRules(zone, whole.records)
      const left = withoutOtherClients({ ...whole, records: kept })
      imported.push(left.zone)
      dropped.push(...transferred.dropped, ...undefinable.map(({ record, reason }) => droppedRecord(zone, record, reason)))
      const at = { file: source, line: 1, column: 1 }
      const digests = checkZoneDigest(
        transferred.records.map((record) => ({ ...record, at })),
        zone,
      )
      diagnostics.push(
        ...left.diagnostics,
        ...transferred.diagnostics,
        ...unsigned.diagnostics,
        ...digests.map((found) => ({ ...found, at: undefined })),
      )
    } catch (error) {
      if (!isDnsFailure(error)) throw error
      diagnostics.push(failedTransfer(zone, error.message, key !== null))
    }
  }
  return { zones: imported, dropped, diagnostics }
}

/** Reads the TSIG key `[ALGORITHM:]NAME:SECRET`. Refuses a secret on the command line itself, where every process can read it. */
async function readTransferKey(text: string, { cwd, env, config }: Pick<ImportRequest, 'cwd' | 'env' | 'config'>): Promise<TransferKey> {
  const [, algorithm = 'hmac-sha256', nameText = '', reference = ''] = /^(?:(hmac-[a-z0-9-]+):)?([^:]+):(.+)$/is.exec(text) ?? []
  if (!isSecretReference(reference)) return refuse('the secret must be env:NAME or file:PATH, after the name of the key')
  const known = TSIG_ALGORITHMS.find((one) => one === algorithm.toLowerCase())
  if (known === undefined) return refuse(`the algorithm must be one of ${TSIG_ALGORITHMS.join(', ')}`)
  const name = parseAbsoluteName(nameText)
  if (!name.ok) return refuse('the name of the key is not a domain name')
  const secret = await resolveSecret(reference, '--tsig', NO_POSITION, { folder: cwd, env, loaded: config.secrets })
  if (secret.diagnostic) return { value: undefined, diagnostic: { ...secret.diagnostic, at: undefined } }
  const octets = parseTsigSecret(secret.value)
  if (octets === null) return refuse('the secret is not base64', 'secret-missing')
  return { value: { name: name.value, algorithm: known satisfies TsigAlgorithm, secret: octets }, diagnostic: null }
}

const refuse = (message: string, code: Diagnostic['code'] = 'usage'): TransferKey => ({
  value: undefined,
  diagnostic: {
    severity: 'error',
    code,
    message: `--tsig: ${message}`,
    hint: 'such as --tsig hmac-sha256:transfer.example.:env:TSIG_SECRET',
  },
})

/**
 * Selects the records of a transfer that belong to its zone; records outside it must be ignored (RFC 5936 section 3.5). Of records with
 * equal owner, type and data only the first is kept, with its TTL (RFC 2181 section 5).
 */
function transferredRecords(zone: DomainName, all: readonly TransferredRecord[]): TransferredRecords {
  const known = new Map<string, ResourceRecord>()
  const records: ResourceRecord[] = []
  const dropped: UnsupportedFeature[] = []
  const duplicates: Diagnostic[] = []
  for (const record of all) {
    const { name, type, malformed } = record
    const problem = transferProblem(record, zone)
    const first = problem === null ? known.get(recordKey(record)) : undefined
    if (problem !== null) dropped.push({ zone, name, type, what: problem })
    else if (malformed !== undefined) dropped.push(droppedRecord(zone, record, `invalid data for its type: ${malformed}`))
    else if (first !== undefined) duplicates.push(duplicateWarning(zone, record, first))
    else {
      known.set(recordKey(record), record)
      records.push(record)
    }
  }
  const omitted = duplicates.length - MAX_REPORTED
  const more: Diagnostic[] = omitted > 0 ? [warning(`${omitted} more duplicate records in the transfer of ${zone}`)] : []
  return { records, dropped, diagnostics: [...duplicates.slice(0, MAX_REPORTED), ...more] }
}

function transferProblem({ name, type, data }: TransferredRecord, zone: DomainName): string | null {
  if (!isAtOrBelow(name, zone)) return `a record that is not in ${zone}`
  return isMetaType(type) ? `${shownData(data)}: no zone has records of this type (RFC 6895 section 3.1)` : null
}

function duplicateWarning(zone: DomainName, { name, type, data, ttl }: ResourceRecord, first: ResourceRecord): Diagnostic {
  const ttls = ttl === first.ttl ? '' : `, with TTL ${first.ttl}, not ${ttl}`
  return warning(`the transfer of ${zone} has ${name} ${type} ${shownData(data)} more than once; one is kept (RFC 2181 section 5)${ttls}`)
}

const warning = (message: string): Diagnostic => ({ severity: 'warning', code: 'record-duplicate', message })

/**
 * Removes the records that signing generated. They are valid for some weeks and for one serial, which a definition does not contain;
 * signing the zone again generates new ones. Keys (DNSKEY, CDS, CDNSKEY) and delegations (DS) stay.
 */
function withoutSignatures<R extends ResourceRecord>(
  zone: DomainName,
  all: readonly R[],
): { readonly records: readonly R[]; readonly diagnostics: readonly Diagnostic[] } {
  const counts = new Map<string, number>()
  const records = all.filter(({ type }) => {
    if (!SIGNER_TYPES.has(type)) return true
    counts.set(type, (counts.get(type) ?? 0) + 1)
    return false
  })
  if (counts.size === 0) return { records, diagnostics: [] }
  const signed = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => `${count} ${type}`)
  const message = `${zone} is signed (DNSSEC): ${signed.join(', ')} are left out, because signing generates them`
  const hint = 'sign the zone where it is served; keys (DNSKEY, CDS, CDNSKEY) are kept'
  return { records, diagnostics: [{ severity: 'warning', code: 'import-lossy', message, hint }] }
}

function zoneOfTransfer(name: DomainName, records: readonly ResourceRecord[], mailbox = ''): ImportedZone {
  const [soa, ...others] = records
  return {
    name,
    ...(soa === undefined ? { settings: {} } : splitSoa({ ...soa, data: restoreMailboxCase(soa.data, mailbox) })),
    records: others,
  }
}

/** Adds the zone to a connection error, which names only the server. */
function failedTransfer(zone: DomainName, reason: string, isSigned: boolean): Diagnostic {
  const message = reason.startsWith('the transfer of ') ? reason : `the transfer of ${zone} failed: ${reason}`
  return { severity: 'error', code: 'nameserver-failed', message, hint: hintFor(reason, isSigned) }
}

function hintFor(message: string, isSigned: boolean): string | undefined {
  if (/\bits clock is\b/.test(message)) return 'a signature is valid for a few minutes only: set both clocks'
  if (!/\bREFUSED\b|\bNOTAUTH\b/.test(message)) return undefined
  return isSigned
    ? 'the server must have the zone and allow its transfer with this key, and its secret and clock must match'
    : 'the server must have the zone and allow its transfer to this host; --tsig adds a key'
}
