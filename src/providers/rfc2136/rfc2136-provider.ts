/** A provider that changes zones by dynamic update (RFC 2136) and reads them by transfer (AXFR, IXFR), over TCP only. */
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { createQuery, type Message, RCODE, rcodeName } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { createUpdate } from '../../dns/wire/update.ts'
import { type DnsServer, formatServer, isDnsFailure } from '../../transport/dns-exchange.ts'
import { requestTcp } from '../../transport/dns-request.ts'
import { transferZone } from '../../transport/dns-transfer.ts'
import { type Provider, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { isServerOwned, RFC2136_CAPABILITIES } from './capabilities.ts'
import { examineServer } from './examine.ts'
import { updateContent } from './update-content.ts'

export interface Rfc2136Options {
  /** Its name in the config. */
  readonly provider: string
  readonly server: DnsServer
  readonly key: TsigKey | null
  /** Milliseconds to wait for each message. */
  readonly timeout: number
  readonly parallelism: number
}

export function createRfc2136Provider(options: Rfc2136Options): Provider {
  const { provider, server, parallelism } = options
  const provided: Provider = {
    name: provider,
    type: 'rfc2136',
    address: `dns://${server.host.includes(':') ? `[${server.host}]` : server.host}:${server.port}`,
    capabilities: RFC2136_CAPABILITIES,
    parallelism,
    async findZones(names, call) {
      const found = await Promise.all(names.map(async (name) => ((await hasZone(options, name, call)) ? name : null)))
      return new Map(found.filter((name) => name !== null).map((name) => [name, referenceTo(name)]))
    },
    async listZones() {
      throw new ProviderError('provider-rejected', `${provider}: a name server has no list of its zones`, { hint: 'name the zones' })
    },
    async readZone(zone, call) {
      return { ...referenceTo(zone.name), records: await readRecords(options, zone.name, call), millisecondsSinceLastChange: null }
    },
    readRendered: async () => null,
    examine: (usage) => examineServer(provided, formatServer(server), options.key !== null, usage),
    apply: (zone, call, more) => applyUpdate(options, zone, call, more),
    close: async () => undefined,
  }
  return provided
}

const referenceTo = (name: DomainName): ZoneReference & { readonly id: string } => ({ name, id: name, settings: {}, updated: null })

/** Whether the server is authoritative for a zone with this name. Servers refuse queries for zones that they do not have, or refer to others. */
async function hasZone(options: Rfc2136Options, name: DomainName, call?: ProviderCallOptions): Promise<boolean> {
  const { rcode, authoritative, answers } = await exchange(options, createQuery(0, { name, type: 'SOA' }), `looking up ${name}`, call)
  if (rcode === RCODE.SERVFAIL || rcode === RCODE.NOTAUTH) throw refusal(options, rcode, `looking up ${name}`)
  return rcode === RCODE.NOERROR && authoritative && answers.some((record) => record.type === 'SOA' && record.name === name)
}

async function readRecords(options: Rfc2136Options, zone: DomainName, call?: ProviderCallOptions): Promise<ResourceRecord[]> {
  const { server, key, timeout, provider } = options
  assertMaySend(provider, call)
  try {
    const records = await transferZone(server, zone, { timeout, key: key ?? undefined })
    return records
      .filter((record) => isAtOrBelow(record.name, zone) && !isServerOwned(record, zone))
      .map(({ name, type, ttl, data }) => ({ name, type, ttl, data }))
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    const hint =
      error.reason === 'rejected'
        ? 'allow the transfer to this host or key: "allow-transfer" in BIND, an "acl" with "transfer" in Knot'
        : undefined
    throw failureOf(provider, `reading ${zone}`, error, { hint })
  }
}

async function applyUpdate(
  options: Rfc2136Options,
  zone: ZoneReference | null,
  { changes, rrsets }: ProviderCall,
  call?: ProviderCallOptions,
): Promise<Record<string, never>> {
  if (zone === null || changes.some(({ subject }) => subject === 'domain'))
    throw new Error('a dynamic update neither creates nor deletes zones')
  const what = `updating ${zone.name}`
  const message = createUpdate(0, zone.name, updateContent(rrsets, zone.name))
  let response: Message
  try {
    response = await exchange(options, message, what, call)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const largest = rrsets.map(({ name, type }) => `${name} ${type}`).slice(0, 3)
    throw new ProviderError('limit-exceeded', `${options.provider}: ${what}: ${largest.join(', ')} do not fit into one message`, {
      cause: error,
    })
  }
  if (response.rcode !== RCODE.NOERROR) throw refusal(options, response.rcode, what)
  return {}
}

async function exchange(
  { server, key, timeout, provider }: Rfc2136Options,
  message: Message,
  what: string,
  call?: ProviderCallOptions,
): Promise<Message> {
  assertMaySend(provider, call)
  try {
    return await requestTcp(server, message, { timeout, key: key ?? undefined })
  } catch (error) {
    if (isDnsFailure(error)) throw failureOf(provider, what, error)
    throw error
  }
}

function assertMaySend(provider: string, call?: ProviderCallOptions): void {
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

function failureOf(
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
function refusal({ provider, server, key }: Rfc2136Options, rcode: number, what: string): ProviderError {
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
      return new ProviderError('provider-failed', message, { status, ambiguous: true })
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
