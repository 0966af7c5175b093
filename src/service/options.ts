/** The options of a service, their defaults, and the running service that a start returns. */
import { join } from 'node:path'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import type { AdminPlace } from './admin/admin-server.ts'
import type { Certificate } from './api/http-server.ts'
import { type RateLimits, UNLIMITED_RATES } from './api/rate-limit.ts'
import type { Limits } from './api/route.ts'
import type { PublicImage } from './catalogue/public-images.ts'
import type { RegionResolvers } from './catalogue/regions.ts'
import type { UploadLimits } from './images/image-uploads.ts'
import type { NameServerLimits } from './nameserver/name-server.ts'
import type { LogOptions } from './observability/log.ts'
import { type Quotas, UNLIMITED_QUOTAS } from './quotas.ts'
import type { Seed } from './seed/seed.ts'
import type { SmsDestination } from './sms/sms-sink.ts'
import type { TransferKey } from './transfers/transfer-keys.ts'
import type { TransferLimits } from './transfers/transfer-zone.ts'

export interface ServiceOptions {
  /** The data folder; null for a temporary one. */
  readonly dataFolder: string | null
  /** The URL of a PostgreSQL database, instead of SQLite in the data folder. Several processes may share it. */
  readonly database?: string | null
  /** The address for HTTP; port 0 picks a free port. Null for a process that is only a name server. */
  readonly listen: Address | null
  /** The address for DNS over UDP and TCP; null for none. */
  readonly dns: Address | null
  /** The names of the service's name servers, primary first; at least one. */
  readonly nsNames?: readonly string[]
  /** A token for the administrator. Without it, the first start generates one. */
  readonly bootstrapToken?: string | null
  /** Accounts, users and domains to create if they do not exist; see `readSeed`. */
  readonly seed?: Seed | null
  /** Real time in milliseconds since 1970. */
  readonly clock?: () => number
  /** Speed of the service's clock relative to real time, for tests. */
  readonly clockSpeed?: number
  /** The port of masters and of secondaries that get NOTIFY; 53 by default. */
  readonly peerPort?: number
  /** The addresses from which peers expect transfers. Connections are made from one of them that this machine has. */
  readonly transferAddresses?: readonly string[]
  /** The operator's secondaries: addresses that may transfer every zone and get NOTIFY. */
  readonly secondaries?: readonly string[]
  /** The name of the catalog zone for the secondaries; null for none. */
  readonly catalogZone?: string | null
  /** The TSIG keys of transfers and NOTIFY; see `readTransferKeys`. */
  readonly transferKeys?: readonly TransferKey[]
  /** Transfers zones from and sends NOTIFY to public addresses only. For users who must not reach the service's own network. */
  readonly publicPeersOnly?: boolean
  readonly transferLimits?: Partial<TransferLimits>
  /** The recursive name servers of regions. Other regions have documentation addresses. */
  readonly regionResolvers?: RegionResolvers
  /** Public images in addition to those of the program, which they may replace; see `readPublicImages`. */
  readonly publicImages?: readonly PublicImage[]
  readonly nameServerLimits?: Partial<NameServerLimits>
  readonly limits?: Partial<Limits>
  /** Quotas per account; missing ones are from `DEFAULT_QUOTAS`. A seed can override them for an account. */
  readonly quotas?: Partial<Quotas>
  /**
   * The URL under which clients reach the service, for example through a proxy: `https://dns.example.net`. By default, the address of `listen`. A
   * service that listens on all addresses needs it for uploads.
   */
  readonly publicUrl?: string | null
  /** The folder for image data; by default `images` in the data folder. Null without both: image data cannot be uploaded. */
  readonly imageFolder?: string | null
  readonly uploadLimits?: Partial<UploadLimits>
  /** Maximum number of HTTP connections. Further ones are closed immediately. */
  readonly maxConnections?: number
  /** Rate limits per client and process; missing ones are from `DEFAULT_RATE_LIMITS`. */
  readonly rateLimits?: Partial<RateLimits>
  /** Days for which entries of the audit log are kept; `AUDIT_DAYS` by default. */
  readonly auditDays?: number
  /** Where SMS messages are sent; the log by default. */
  readonly smsSink?: SmsDestination
  /**
   * The key that encrypts secrets, with at least 32 characters, or two keys separated by a comma, the new one first. If it is null, SQLite uses a key
   * file in the data folder, created at the first start; PostgreSQL needs a key unless `listen` is null.
   */
  readonly secretsKey?: string | null
  /** The certificate for HTTPS; null for HTTP. */
  readonly tls?: Certificate | null
  /** The address or socket of the administrative API, or the socket in the data folder, if there is one; null for none. An address needs `adminToken`. */
  readonly admin?: AdminPlace | 'data-folder' | null
  readonly adminToken?: string | null
  /** The address for `/metrics` and `/readyz`, separate from the API; null for none. */
  readonly observability?: Address | null
  /** The structured log of requests and events; null for none. */
  readonly log?: LogOptions | null
  /** Called with internal errors. An affected request gets a response with status 500. */
  readonly onError?: (error: unknown) => void
}

/** The options that a command gives: each of them, so that the compiler finds one that the command forgets. Only tests give the others. */
export type CommandOptions = Required<
  Omit<ServiceOptions, 'clock' | 'limits' | 'maxConnections' | 'onError' | 'transferLimits' | 'uploadLimits'>
>

export interface Address {
  readonly host: string
  readonly port: number
}

export interface RunningService {
  /** With the version segment, such as `http://127.0.0.1:8080/v4`; empty without HTTP. */
  readonly baseUrl: string
  readonly dnsAddress: Address | null
  /** The origin of `/metrics` and `/readyz`, such as `http://127.0.0.1:9353`; null if they are not served. */
  readonly observabilityUrl: string | null
  /** The address of the administrative API, or the path of its socket; null without one. */
  readonly adminAddress: string | null
  /** The administrator's token: the given one, or the one generated at the first start; null at later starts. */
  readonly token: string | null
  /** Resolves when every committed change is rendered and served. */
  flush(): Promise<void>
  /** Runs all due jobs. Resolves when none is due. For tests that set the clock. */
  catchUp(): Promise<void>
  /** Replaces the certificate for new connections. Throws if the certificate is invalid or the service does not use TLS. */
  useCertificate(certificate: Certificate): void
  /** Replaces the transfer keys. If a user does not exist, rejects with a `RangeError` and keeps the previous keys. */
  useTransferKeys(keys: readonly TransferKey[]): Promise<void>
  /** Finishes running requests, then stops. */
  stop(): Promise<void>
}

/** Names under a domain reserved for tests (RFC 2606). An installation needs its own. */
export const DEFAULT_NS_NAMES = [1, 2, 3, 4, 5].map((number) => `ns${number}.zonewright.test`)

/** For services with only trusted users, such as demos and tests. */
export const UNLIMITED = { rateLimits: UNLIMITED_RATES, quotas: UNLIMITED_QUOTAS } as const satisfies Partial<ServiceOptions>

export const AUDIT_DAYS = 365

export const DEFAULT_LIMITS: Limits = { recordsPerDomain: 12_000 }

/** Parses the names of name servers. Throws a `RangeError` if there is none or one is invalid. */
export function parseNsNames(names: readonly string[]): readonly DomainName[] {
  if (names.length === 0) throw new RangeError('the service needs the name of at least one name server')
  return names.map((text) => {
    const name = parseAbsoluteName(text)
    if (!name.ok) throw new RangeError(`${JSON.stringify(text)} is not a valid name server name: ${name.message}`)
    return name.value
  })
}

/** The origin of the public URL; null without one. Throws a `RangeError` if it is not an HTTP origin. */
export function parsePublicUrl(url: string | null): string | null {
  if (url === null) return null
  const { protocol, origin, href } = URL.canParse(url) ? new URL(url) : { protocol: '', origin: '', href: '' }
  if (!['http:', 'https:'].includes(protocol) || href !== `${origin}/`) {
    throw new RangeError(`${JSON.stringify(url)} is not a service URL such as https://dns.example.net`)
  }
  return origin
}

/** The folder for image data; null for none. */
export const imageFolderOf = ({ listen, imageFolder, dataFolder }: ServiceOptions): string | null =>
  listen === null ? null : (imageFolder ?? (dataFolder && join(dataFolder, 'images')))
