import { join } from 'node:path'
import { type DomainName, parseDomainName } from '../dns/domain-name.ts'
import type { Certificate } from './api/http-app.ts'
import { type RateLimits, UNLIMITED_RATES } from './api/rate-limit.ts'
import type { Limits } from './api/route.ts'
import type { RegionResolvers } from './catalogue/read-region-resolvers.ts'
import type { UploadLimits } from './images/image-uploads.ts'
import type { NameServerLimits } from './nameserver/name-server.ts'
import type { LogOptions } from './observability/log.ts'
import { type Quotas, UNLIMITED_QUOTAS } from './quotas.ts'
import type { Seed } from './seed/seed.ts'
import type { SmsDestination } from './sms/sms-sink.ts'
import type { TransferKey } from './transfers/transfer-keys.ts'
import type { TransferLimits } from './transfers/transfer-zone.ts'

export interface ServiceOptions {
  /** Where the service keeps its data; null for a place that is gone when it stops. */
  readonly dataDirectory: string | null
  /** The URL of a PostgreSQL database to use instead of a directory; several processes may use one. */
  readonly database?: string | null
  /** Where HTTP is served; port 0 takes a free one; null for nowhere, as in a process that is a name server only. */
  readonly listen: Address | null
  /** Where DNS is served, over UDP and TCP; null for nowhere. */
  readonly dns: Address | null
  /** Names of the service's name servers, the primary first; one at least. */
  readonly nsNames?: readonly string[]
  /** A token of the administrator. Without it the first start makes one. */
  readonly bootstrapToken?: string | null
  /** Accounts, users and domains to make where they are not there yet; `readSeed` makes it from a file. */
  readonly seed?: Seed | null
  /** Real time in milliseconds since 1970. */
  readonly clock?: () => number
  /** How many times as fast as real time the service's time passes; for tests. */
  readonly clockSpeed?: number
  /** The port of the name servers that zones are transferred from, and that are notified; 53 unless given. */
  readonly peerPort?: number
  /** The addresses that the service transfers zones to: connections are made from those of them that the machine has. */
  readonly transferAddresses?: readonly string[]
  /** The keys that transfers and NOTIFY are signed with; `readTransferKeys` makes them from a file. */
  readonly transferKeys?: readonly TransferKey[]
  /** Transfers zones from, and sends NOTIFY to, addresses of the public Internet only: for users who are not trusted with the service's own network. */
  readonly publicPeersOnly?: boolean
  readonly transferLimits?: Partial<TransferLimits>
  /** The recursive name servers of regions; those that are not named have documentation addresses. */
  readonly regionResolvers?: RegionResolvers
  /** What the name server bears. */
  readonly nameServerLimits?: Partial<NameServerLimits>
  readonly limits?: Partial<Limits>
  /** What one account can have; `DEFAULT_QUOTAS` as far as it is not given. A seed may give accounts their own. */
  readonly quotas?: Partial<Quotas>
  /**
   * What clients reach the service by, such as a proxy: `https://dns.example.net`. Unless given, the address of `listen`; a service that
   * listens on all addresses begins no upload without it.
   */
  readonly publicUrl?: string
  /** Where the data of images is kept: `images` in the data directory unless given; nowhere where there is neither. */
  readonly imageDirectory?: string | null
  readonly uploadLimits?: Partial<UploadLimits>
  /** HTTP connections at most; what comes beyond is closed at once. */
  readonly maxConnections?: number
  /** How many requests one caller may make of this process; `DEFAULT_RATE_LIMITS` as far as it is not given. */
  readonly rateLimits?: Partial<RateLimits>
  /** Where messages to phones go; the log unless given. */
  readonly smsSink?: SmsDestination
  /**
   * The key that secrets are encrypted with, of 32 characters at least, or two keys separated by a comma, the new one first. With null a SQLite database
   * has its key in a file beside it, made by the first start; PostgreSQL needs a key unless `listen` is null.
   */
  readonly secretsKey?: string | null
  /** For HTTP over TLS; null for HTTP without it. */
  readonly tls?: Certificate | null
  /** Where `/metrics` and `/healthz` are served, apart from the interface; null for nowhere. */
  readonly observability?: Address | null
  /** A structured log of requests and events; null for none. */
  readonly log?: LogOptions | null
  /** Told of what goes wrong inside; a request it concerns is answered by 500. */
  readonly onError?: (error: unknown) => void
}

export interface Address {
  readonly host: string
  readonly port: number
}

export interface RunningService {
  /** With the version segment: `http://127.0.0.1:8080/v4`; empty where HTTP is not served. */
  readonly baseUrl: string
  readonly dnsAddress: Address | null
  /** Where `/metrics` and `/healthz` are: `http://127.0.0.1:9353`; null where they are not served. */
  readonly observabilityUrl: string | null
  /** The administrator's token in clear: the one given, or the one made at the first start; null at later starts. */
  readonly token: string | null
  /** Resolves when every committed change is rendered and served. */
  flush(): Promise<void>
  /** Runs all jobs that are due by the service's clock; resolves when none is. For tests that set the clock. */
  catchUp(): Promise<void>
  /** Uses another certificate for connections made from now on. Throws if it cannot be used, or if the service speaks without TLS. */
  useCertificate(certificate: Certificate): void
  /** Uses other transfer keys from now on. Rejects with a `RangeError`, and keeps the former ones, if an account has no user of the name. */
  useTransferKeys(keys: readonly TransferKey[]): Promise<void>
  /** Finishes what is under way, then stops. */
  stop(): Promise<void>
}

/** Under a name that is reserved for tests (RFC 2606): an installation has its own. */
export const DEFAULT_NS_NAMES = [1, 2, 3, 4, 5].map((number) => `ns${number}.zonewright.test`)

/** For services whose users are all trusted, such as those of demos and tests. */
export const UNLIMITED = { rateLimits: UNLIMITED_RATES, quotas: UNLIMITED_QUOTAS } as const satisfies Partial<ServiceOptions>

export const DEFAULT_LIMITS: Limits = { recordsPerDomain: 12_000 }

/** Throws a `RangeError` unless they are names, one at least. */
export function parseNsNames(names: readonly string[]): readonly DomainName[] {
  if (names.length === 0) throw new RangeError('the service needs the name of one name server at least')
  return names.map((text) => {
    const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
    if (!name.ok) throw new RangeError(`${JSON.stringify(text)} is no name of a name server: ${name.message}`)
    return name.value
  })
}

/** The origin of a URL; null for none. Throws a `RangeError` where it is more, or no URL at all. */
export function parsePublicUrl(url: string | undefined): string | null {
  if (url === undefined) return null
  const { protocol, origin, href } = URL.canParse(url) ? new URL(url) : { protocol: '', origin: '', href: '' }
  if (!['http:', 'https:'].includes(protocol) || href !== `${origin}/`) {
    throw new RangeError(`${JSON.stringify(url)} is no URL of a service such as https://dns.example.net`)
  }
  return origin
}

/** Where the data of images is kept; null for nowhere. */
export const imageDirectoryOf = ({ listen, imageDirectory, dataDirectory }: ServiceOptions): string | null =>
  listen === null ? null : (imageDirectory ?? (dataDirectory && join(dataDirectory, 'images')))
