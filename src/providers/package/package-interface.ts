/**
 * The interface of providers that are npm packages, for `type: npm:NAME`. The package `zonewright-provider-NAME` exports a `ProviderPackage` as
 * `provider`. Zonewright exports these types, and `ProviderError`, as `zonewright/provider`.
 */
import type { ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import type { Change } from '../../plan/plan.ts'
import type { AppliedChange, ProviderCall, ProviderCallOptions } from '../provider.ts'

export type { Capabilities } from '../../plan/capabilities.ts'
export type { RrsetChange } from '../../plan/changesets.ts'
export type { Change } from '../../plan/plan.ts'
export { type AppliedChange, type ProviderCall, type ProviderCallOptions, ProviderError } from '../provider.ts'

/** The version of this interface. It changes if a package of an earlier version no longer works. */
export const API_VERSION = 1

/** The export `provider` of a package. */
export interface ProviderPackage {
  readonly apiVersion: typeof API_VERSION
  /** The JSON Schema (2020-12) of its settings without `type`, `parallelism` and `timeout`; `validate` checks them against it. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What it can store. Absent fields are those of a plain store of RRsets, see `docs/contributors/writing-a-provider.md`. */
  readonly capabilities: Partial<Capabilities>
  /** Every host that a provider with these settings contacts, as a URL or as `host:port`; absent if there is none. Needs no secret. */
  hosts?(settings: Readonly<Record<string, unknown>>): readonly string[]
  /** Creates a provider. Opens no connection. */
  create(options: PackageOptions): Promise<PackageProvider> | PackageProvider
}

export interface PackageOptions {
  /** Its name in the config, for messages. */
  readonly name: string
  /** The settings, valid by the schema. */
  readonly settings: Readonly<Record<string, unknown>>
  /** The folder of the config, absolute. */
  readonly folder: string
  /** Maximum concurrent calls, if the user sets it. */
  readonly parallelism?: number | undefined
  /** The secret of a setting such as `env:NAME` or `file:PATH`. It never appears in messages and reports. */
  readonly resolveSecret: (reference: string) => Promise<string>
  /** Reports that the server asks for a pause. */
  readonly onThrottled: (milliseconds: number) => void
}

/** A zone. Names are absolute, in lower case and with a final dot. */
export interface PackageZone {
  readonly name: string
  /** Its name if absent. */
  readonly id?: number | string | undefined
  readonly settings?: ZoneSettings | undefined
}

/** A record in presentation form. */
export interface PackageRecord {
  /** Absolute, or relative to the zone; `@` is the apex. */
  readonly name: string
  readonly type: string
  /** In seconds. */
  readonly ttl: number
  readonly data: string
  /** Absent if records have no identifiers. */
  readonly id?: number | string | undefined
}

/**
 * A server or service that stores zones. A method throws a `ProviderError` (or any error with its fields) if the server refuses or fails. Any other
 * error is reported as a failure after which the call may have been carried out.
 */
export interface PackageProvider {
  /** The URL or address of the server, without secrets. A saved plan is valid only for this address. */
  readonly address: string
  /** Maximum concurrent calls; 4 if absent. */
  readonly parallelism?: number | undefined
  listZones(options?: ProviderCallOptions): Promise<readonly PackageZone[]>
  /** All records of a zone, without its SOA. */
  readZone(zone: PackageZone, options?: ProviderCallOptions): Promise<readonly PackageRecord[]>
  /**
   * Makes one call, which carries what `capabilities.calls` permits: `call.rrsets` if its unit is the RRset, otherwise `call.changes`. A change of the zone
   * itself (`subject: 'domain'`) is in `call.changes`. `zone` is null only for the creation of a zone.
   */
  apply(zone: PackageZone | null, call: PackageCall, options?: ProviderCallOptions): Promise<PackageResult | undefined>
  close?(): Promise<void>
}

/** The result of a call that was carried out. */
export interface PackageResult {
  /** One per change of the call, in the same order; absent if there are no identifiers and every record is stored as it was sent. */
  readonly changes?: readonly AppliedChange[] | undefined
  /** The zone after it was created, if its identifier is not its name. */
  readonly zone?: PackageZone | undefined
}

/** The content of one call. */
export interface PackageCall extends ProviderCall {
  readonly changes: readonly Change[]
  /** Each RRset before and after the call; null if it does not exist. */
  readonly rrsets: readonly RrsetChange[]
}
