/** What providers that talk to one name server have in common: looking up zones, and the errors of requests. */
import pLimit from 'p-limit'
import { counted, listed } from '../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { RDATA_TYPES } from '../dns/rdata/rdata-types.ts'
import { isSignerRecord } from '../dns/signer-records.ts'
import { createQuery, type Message, RCODE, rcodeName } from '../dns/wire/message.ts'
import type { TsigKey } from '../dns/wire/tsig.ts'
import { type DnsServer, formatServer, isDnsFailure, requestTcp } from '../transport/dns-exchange.ts'
import { createFindings, MAX_LISTED } from './examine-zones.ts'
import { type OnRequest, type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from './provider.ts'
import { refuseIf } from './record-rules.ts'

/** A name server that a provider talks to, over TCP only. */
export interface NameServer {
  /** Its name in the config. */
  readonly provider: string
  readonly server: DnsServer
  readonly key: TsigKey | null
  /** Milliseconds to wait for each message. */
  readonly timeout: number
  readonly parallelism: number
  readonly onRequest?: OnRequest | undefined
}

/** Whether the server maintains the record itself, so that it is neither read nor written: the SOA (RFC 2136 section 3.6), and what belongs to its signer. */
export const isServerOwned = (record: { readonly name: string; readonly type: string }, zone: string): boolean =>
  record.type === 'SOA' || isSignerRecord(record, zone)

/** Refuses a record of a provider's own type, such as ALIAS, which has no number and so no place in a message. */
export const refusePseudoTypes = refuseIf(({ type }) =>
  RDATA_TYPES.get(type)?.code === null ? ['type-unsupported', 'name servers do not know this type of a provider'] : null,
)

/** Refuses a record that the server maintains itself. */
export const refuseServerTypes = refuseIf((record, zone) =>
  isServerOwned(record, zone) ? ['type-unsupported', 'the server maintains these records itself'] : null,
)

/** Whether the server is authoritative for a zone with this name. Servers refuse queries for zones that they do not have, or refer to others. */
export async function hasZone(options: NameServer, name: DomainName, call?: ProviderCallOptions): Promise<boolean> {
  const { rcode, authoritative, answers } = await exchange(options, createQuery(0, { name, type: 'SOA' }), `looking up ${name}`, call)
  if (rcode === RCODE.SERVFAIL || rcode === RCODE.NOTAUTH)
    throw refusal(
      options,
      rcode,
      `looking up ${name}`,
      'the server may have no data for the zone yet, or none that is valid: give it a zone file with SOA and NS records',
    )
  return rcode === RCODE.NOERROR && authoritative && answers.some((record) => record.type === 'SOA' && record.name === name)
}

/** The zones with these names for which the server is authoritative; as many look-ups at a time as the provider may make. */
export async function findServedZones(
  options: NameServer,
  names: readonly DomainName[],
  call?: ProviderCallOptions,
): Promise<readonly DomainName[]> {
  const limit = pLimit(options.parallelism)
  const found = await Promise.all(names.map((name) => limit(() => hasZone(options, name, call))))
  return names.filter((_, index) => found[index])
}

/** Reads a zone without a look-up; null if the server does not have it. Only after a refused or failed transfer the server is asked whether it has the zone. */
export async function readServed<T>(
  options: NameServer,
  zone: DomainName,
  read: () => Promise<T>,
  call?: ProviderCallOptions,
): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    const mayBeMissing = error instanceof ProviderError && (error.code === 'provider-unauthorized' || error.code === 'provider-failed')
    if (mayBeMissing && !(await hasZone(options, zone, call))) return null
    throw error
  }
}

/** The address of a server, for saved plans. */
export const addressOf = ({ server }: NameServer): string =>
  `dns://${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`

/** The error of a listing of all zones. */
export const noZoneList = (provider: string): ProviderError =>
  new ProviderError('provider-rejected', `${provider}: a name server has no list of its zones`, { hint: 'name the zones' })

/** Sends a message over TCP, signed if there is a key. Throws a `ProviderError`. */
export async function exchange(
  { server, key, timeout, provider, onRequest }: NameServer,
  message: Message,
  what: string,
  call?: ProviderCallOptions,
): Promise<Message> {
  assertMaySend(provider, call)
  onRequest?.(provider, false)
  try {
    return await requestTcp(server, message, { timeout, key: key ?? undefined })
  } catch (error) {
    if (isDnsFailure(error)) throw failureOf(provider, what, error)
    throw error
  }
}

export function assertMaySend(provider: string, call?: ProviderCallOptions): void {
  if (call?.stop?.aborted || call?.signal?.aborted)
    throw new ProviderError('provider-stopped', `${provider}: the run was stopped before the request`, { notSent: true })
}

/** Errors of the system before a connection existed: nothing was sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
])

/** The error of a request that failed. */
export function failureOf(
  provider: string,
  what: string,
  failure: Error & { readonly reason: string },
  more: { hint?: string | undefined } = {},
): ProviderError {
  const message = `${provider}: ${what}: ${failure.message}`
  const { cause } = failure
  switch (failure.reason) {
    case 'timeout':
      return new ProviderError('provider-timeout', message, { ambiguous: true, mayCompleteLater: true, cause })
    case 'rejected':
      return new ProviderError('provider-unauthorized', message, { ...more, cause })
    case 'failed':
      return new ProviderError('provider-failed', message, { hint: 'look into the log of the server, and try again', cause })
    case 'garbled':
      return new ProviderError('provider-garbled', message, { ambiguous: true, cause })
    default:
      return new ProviderError('provider-unreachable', message, { ambiguous: !wasNeverConnected(cause), cause })
  }
}

function wasNeverConnected(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(wasNeverConnected)
  return NOT_CONNECTED.has(String((cause as { code?: unknown } | undefined)?.code))
}

const CONFLICTS: ReadonlySet<number> = new Set([RCODE.NXDOMAIN, RCODE.YXDOMAIN, RCODE.YXRRSET, RCODE.NXRRSET])

/** The error of a response that is no success (RFC 2136 section 3.8). */
export function refusal({ provider, server, key }: NameServer, rcode: number, what: string, failedHint?: string): ProviderError {
  const status = rcodeName(rcode)
  const message = `${provider}: ${what}: ${formatServer(server)} responds ${status}`
  if (CONFLICTS.has(rcode))
    return new ProviderError(
      'provider-conflict',
      `${provider}: ${what}: another client changed the records after they were read for the plan (${status})`,
      {
        status,
        hint: 'plan again to see the change',
      },
    )
  switch (rcode) {
    case RCODE.SERVFAIL:
      return new ProviderError('provider-failed', message, { status, ambiguous: true, hint: failedHint })
    case RCODE.NOTAUTH:
      return new ProviderError('provider-unauthorized', message, {
        status,
        hint:
          key === null ? 'set "tsig" with a key that may update the zone' : 'the server does not know the key, or does not have the zone',
      })
    case RCODE.REFUSED:
      return new ProviderError('provider-forbidden', message, {
        status,
        hint: 'allow updates with this key: "update-policy" or "allow-update" in BIND, an "acl" with "update" in Knot, "TSIG-ALLOW-DNSUPDATE" in PowerDNS',
      })
    case RCODE.NOTIMP:
      return new ProviderError('provider-rejected', message, {
        status,
        hint: 'the server has no dynamic update; NSD, for example, needs zone files',
      })
    default:
      return new ProviderError('provider-rejected', message, { status })
  }
}

/** What differs between providers that talk to one name server. */
interface NameServerChecks {
  /** Why unsigned requests are a risk; null if they are none. */
  readonly unsigned: string | null
  /** What to do about missing zones. */
  readonly missing: string
  /** Throws a `ProviderError` if the server refuses updates of the zone; null if the provider only reads. Changes nothing. */
  readonly tryUpdate: ((zone: ZoneReference) => Promise<void>) | null
}

/** The checks of `doctor` for a name server: connection, key, and for each zone that the config assigns to it the transfer and the permission to update it. */
export async function examineNameServer(
  provider: Provider,
  { server: address, key }: NameServer,
  { unsigned, missing: missingHint, tryUpdate }: NameServerChecks,
  usage: ProviderUsage,
): Promise<DoctorFinding[]> {
  const server = formatServer(address)
  const { findings, add, attempt } = createFindings()
  if (key === null && unsigned !== null) add('warning', 'token', `requests to ${server} are not signed: ${unsigned}`, 'set "tsig"')
  if (usage.zones.length === 0) {
    add('ok', 'zones', 'no selected zone is there, so the server was not asked')
    return findings
  }
  await attempt(async () => {
    const found = await provider.findZones(usage.zones)
    add('ok', 'connection', `${server} responds`)
    const missing = usage.zones.filter((zone) => !found.has(zone))
    if (missing.length > 0) add('error', 'zones', `${server} does not have ${listed(missing, MAX_LISTED)}`, missingHint)
    for (const zone of found.values()) {
      await attempt(async () => {
        const { records } = await provider.readZone(zone)
        add('ok', 'zones', `${zone.name}: ${counted(records.length, 'record')} by transfer`)
      }, refusalIs('grants'))
      await attempt(async () => {
        await tryUpdate?.(zone)
        add('ok', 'grants', `${zone.name}: ${tryUpdate === null ? 'can only be read' : 'the server accepts updates'}`)
      }, refusalIs('grants'))
    }
  }, refusalIs('token'))
  return findings
}

const REFUSALS: ReadonlySet<string> = new Set(['provider-unauthorized', 'provider-forbidden', 'provider-rejected'])

const refusalIs =
  (check: DoctorFinding['check']) =>
  (code: string): DoctorFinding['check'] =>
    REFUSALS.has(code) ? check : 'connection'
