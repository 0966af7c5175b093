import { isSecretReference, resolveSecret } from '../definition/config/secret.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import { settingsOfSoa } from '../definition/load/zone-file-definition.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { isAtOrBelow, parseDomainName } from '../dns/domain-name.ts'
import { restoreMailboxCase } from '../dns/mailbox.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { recordKey } from '../dns/record.ts'
import { isMetaType } from '../dns/record-type.ts'
import { isServerAddress, parseServerAddress } from '../dns/server-address.ts'
import { parseTsigSecret, TSIG_ALGORITHMS, type TsigAlgorithm, type TsigKey } from '../dns/wire/tsig.ts'
import { checkZoneDigest } from '../dns/zone-file/zone-digest.ts'
import { readHostPolicy, refusedServer } from '../transport/allowed-hosts.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import { type TransferredRecord, transferZone } from '../transport/dns-transfer.ts'
import { recordsWithinRules } from './definable-records.ts'
import { checkSoaSettings } from './definable-settings.ts'
import type { ImportedZones, ImportRequest } from './importer.ts'
import { excerpt, type UnsupportedFeature } from './unsupported-features.ts'

/** Seconds to wait for each message of a transfer. */
const TIMEOUT = 10

/** More than a definition can hold, whose file has a bound of its own. */
const MAX_RECORDS = 500_000

/** Zones as a name server sends them (AXFR, RFC 5936), one after another: few servers allow many transfers at once. */
export async function importByTransfer(request: ImportRequest): Promise<ImportedZones> {
  const { source, zones, options, env } = request
  const refuse = (message: string, hint?: string): ImportedZones => ({
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
  return {
    name,
    settings: soa === undefined ? {} : settingsOfSoa({ ...soa, data: restoreMailboxCase(soa.data, mailbox) }),
    records: others,
  }
}

/** Repetitions that are told one by one. */
const TOLD = 100

interface TransferredRecords {
  /** Those of the zone, each once, in the order they came. */
  readonly records: readonly ResourceRecord[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * What of a transfer is of its zone. A server may send what is not; nobody is to take it for that (RFC 5936 section 3.5). Of records that are equal in
 * owner, type and data there is one, the first with its TTL (RFC 2181 section 5).
 */
function transferredRecords(zone: DomainName, all: readonly TransferredRecord[]): TransferredRecords {
  const firsts = new Map<string, ResourceRecord>()
  const records: ResourceRecord[] = []
  const dropped: UnsupportedFeature[] = []
  const repeated: Diagnostic[] = []
  for (const record of all) {
    const { name, type } = record
    const strange = strangeness(record, zone)
    const first = strange === null ? firsts.get(recordKey(record)) : undefined
    if (strange !== null) dropped.push({ zone, name, type, what: strange })
    else if (first !== undefined) repeated.push(tellRepetition(zone, record, first))
    else {
      firsts.set(recordKey(record), record)
      records.push(record)
    }
  }
  const untold = repeated.length - TOLD
  const more: Diagnostic[] = untold > 0 ? [warning(`${untold} more records came again in the transfer of ${zone}`)] : []
  return { records, dropped, diagnostics: [...repeated.slice(0, TOLD), ...more] }
}

function strangeness({ name, type, data, malformed }: TransferredRecord, zone: DomainName): string | null {
  if (!isAtOrBelow(name, zone)) return `a record that is not in ${zone}`
  if (malformed !== undefined) return `${excerpt(data)}: data that are none of its type: ${malformed}`
  return isMetaType(type) ? `${excerpt(data)}: no zone has records of this type (RFC 6895 section 3.1)` : null
}

function tellRepetition(zone: DomainName, { name, type, data, ttl }: ResourceRecord, first: ResourceRecord): Diagnostic {
  const ttls = ttl === first.ttl ? '' : `, with TTL ${first.ttl}, not ${ttl}`
  return warning(`the transfer of ${zone} has ${name} ${type} ${excerpt(data)} again; it is taken once (RFC 2181 section 5)${ttls}`)
}

const warning = (message: string): Diagnostic => ({ severity: 'warning', code: 'record-duplicate', message })

/** What the signer of a zone makes of its other records (RFC 4034 sections 3 and 4, RFC 5155 sections 3 and 4). */
const MADE_BY_SIGNER: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])

/**
 * The records of a transfer without those that signing it made. They are true of the zone as it was sent alone: of its serial, which is no part of a
 * definition, and for some weeks. Whoever serves the zone makes them anew. Keys (DNSKEY, CDS, CDNSKEY) and
 * delegations (DS) stay.
 */
function withoutSigning<R extends ResourceRecord>(
  zone: DomainName,
  all: readonly R[],
): { readonly records: readonly R[]; readonly diagnostics: readonly Diagnostic[] } {
  const counts = new Map<string, number>()
  const records = all.filter(({ type }) => {
    if (!MADE_BY_SIGNER.has(type)) return true
    counts.set(type, (counts.get(type) ?? 0) + 1)
    return false
  })
  if (counts.size === 0) return { records, diagnostics: [] }
  const left = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => `${count} ${type}`)
  const message = `${zone} is signed (DNSSEC): ${left.join(', ')} are left out, as every signing makes them anew`
  const hint = 'have the zone signed where it is to be served; keys (DNSKEY, CDS, CDNSKEY) are kept'
  return { records, diagnostics: [{ severity: 'warning', code: 'import-lossy', message, hint }] }
}

type TransferKey = { readonly value: TsigKey; readonly diagnostic: null } | { readonly value: undefined; readonly diagnostic: Diagnostic }

const refuse = (message: string, code: Diagnostic['code'] = 'usage'): TransferKey => ({
  value: undefined,
  diagnostic: {
    severity: 'error',
    code,
    message: `--tsig: ${message}`,
    hint: 'such as --tsig hmac-sha256:transfer.example.:env:TSIG_SECRET',
  },
})

const NO_PLACE = { file: '--tsig', line: 1, column: 1 }

/** The key that `[ALGORITHM:]NAME:SECRET` stands for. A secret on the command line itself, where every process sees it, is refused. */
async function readTransferKey(text: string, { cwd, env, config }: Pick<ImportRequest, 'cwd' | 'env' | 'config'>): Promise<TransferKey> {
  const [, algorithm = 'hmac-sha256', nameText = '', reference = ''] = /^(?:(hmac-[a-z0-9-]+):)?([^:]+):(.+)$/is.exec(text) ?? []
  if (!isSecretReference(reference)) return refuse('the secret is given as env:NAME or file:PATH, after the name of the key')
  const known = TSIG_ALGORITHMS.find((one) => one === algorithm.toLowerCase())
  if (known === undefined) return refuse(`the algorithm is one of ${TSIG_ALGORITHMS.join(', ')}`)
  const name = parseDomainName(nameText.endsWith('.') ? nameText : `${nameText}.`)
  if (!name.ok) return refuse('the name of the key is not a domain name')
  const secret = await resolveSecret(reference, '--tsig', NO_PLACE, { folder: cwd, env, loaded: config.secrets })
  if (secret.diagnostic) return { value: undefined, diagnostic: { ...secret.diagnostic, at: undefined } }
  const octets = parseTsigSecret(secret.value)
  if (octets === null) return refuse('the secret is not base64', 'secret-missing')
  return { value: { name: name.value, algorithm: known satisfies TsigAlgorithm, secret: octets }, diagnostic: null }
}
