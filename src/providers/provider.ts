import type { ProviderConfig } from '../definition/config/config.ts'
import type { SecretSource } from '../definition/config/resolve-secret.ts'
import type { Diagnostic, Severity, SourcePosition } from '../dns/diagnostic.ts'
import type { DiagnosticCode } from '../dns/diagnostic-codes.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { Finding, ProviderUsage } from '../dns/finding.ts'
import type { InventoryObject, InventoryQuery } from '../dns/inventory.ts'
import type { ExistingRecord, ResourceRecord } from '../dns/record.ts'
import type { ExistingZone, ZoneSettings } from '../dns/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import type { Change } from '../plan/plan.ts'
import type { Endpoint } from '../transport/allowed-hosts.ts'

/** A zone at a provider, without its records. */
export interface ZoneReference {
  readonly name: DomainName
  readonly id: number | string
  readonly settings: ZoneSettings
  /** As `ExistingZone` has it. */
  readonly unknownSettings?: readonly string[] | undefined
  /** When the provider last changed the zone's settings, in milliseconds since 1970; null where it does not say. */
  readonly updated: number | null
}

/** What a provider lists among its zones and nothing here can name, or that another one of its zones is already. */
export interface UnusableZone {
  /** In the provider's own spelling. */
  readonly name: string
  readonly id: number | string
  /** Why it is not among the zones, in words that follow its name. */
  readonly reason: string
}

/** All that a provider lists. */
export interface ZoneList {
  /** Each name once. */
  readonly zones: readonly ZoneReference[]
  readonly unusable: readonly UnusableZone[]
}

/** A zone with its records as they were read at one moment. */
export interface ZoneSnapshot extends ExistingZone {
  readonly id: number | string
  /** Milliseconds between the last change the provider tells of and the reading, by the provider's clock; null where it does not say. */
  readonly millisecondsSinceLastChange: number | null
}

/** The zone file a provider rendered last, as lines; empty where it has not rendered one. */
export interface RenderedFile {
  readonly lines: readonly string[]
}

export interface ProviderCallOptions {
  /** Ends what is under way at once. */
  readonly signal?: AbortSignal | undefined
  /** Lets what is on the wire end, and sends nothing after it: no further try, no further page. */
  readonly stop?: AbortSignal | undefined
}

/** What a provider did for a change. */
export interface AppliedChange {
  /** The identifier of what was created, updated or deleted. */
  readonly id: number | string | null
  /** The zone as it is after a change to the zone itself. */
  readonly zone?: ZoneReference | undefined
  /** The record as the provider says it stored it, where that is not what it was sent. */
  readonly stored?: ResourceRecord | undefined
}

/** A zone that a provider made of another one by itself. */
export interface CopiedZone {
  readonly zone: ZoneReference
  /** What it could not take over, in its words. */
  readonly remarks: readonly string[]
}

/** A place that holds zones. Methods throw `ProviderError` for every failure that is not a bug. */
export interface Provider {
  /** As the config names it. */
  readonly name: string
  readonly type: string
  /** Where it is: the base URL, or the address of the server. Without secrets; a saved plan is bound to it. */
  readonly address: string
  readonly capabilities: Capabilities
  /** Calls that may be under way at once. */
  readonly parallelism: number
  /** Those of the names that are zones here. */
  findZones(names: readonly DomainName[], options?: ProviderCallOptions): Promise<ReadonlyMap<DomainName, ZoneReference>>
  listZones(options?: ProviderCallOptions): Promise<ZoneList>
  /** A zone with its records; with none where others say them, as the masters of a slave do. */
  readZone(zone: ZoneReference, options?: ProviderCallOptions): Promise<ZoneSnapshot>
  /** The rendered zone file; null where the provider has none to show. */
  readRendered(zone: ZoneReference, options?: ProviderCallOptions): Promise<RenderedFile | null>
  /** Those records that have the owner and type of any of the given ones, without reading the whole zone. Absent where that cannot be had. */
  findRecords?(zone: ZoneReference, like: readonly ResourceRecord[], options?: ProviderCallOptions): Promise<readonly ExistingRecord[]>
  /** Whether the provider is there, and what the token or key may do of what is wanted. `now` is the local time. Failures are findings. */
  examine?(wants: ProviderUsage, now: Date, options?: ProviderCallOptions): Promise<readonly Finding[]>
  /** The resolvers of a region, as `address` or `address:port`; null where there is no such region. Absent where the provider has no regions. */
  findResolvers?(region: string, options?: ProviderCallOptions): Promise<readonly string[] | null>
  /** The objects of the account that a definition takes addresses from. Absent where the provider has none. */
  readInventory?(query: InventoryQuery, options?: ProviderCallOptions): Promise<readonly InventoryObject[]>
  /** Makes a zone of what the provider itself transfers from a name server (AXFR). Absent where it does no such thing. */
  importZone?(name: DomainName, nameserver: string, options?: ProviderCallOptions): Promise<CopiedZone>
  /** Makes a zone with the settings and records of another one. Absent where the provider does no such thing. */
  cloneZone?(source: ZoneReference, name: DomainName, options?: ProviderCallOptions): Promise<CopiedZone>
  /** Makes one change. `zone` is null exactly for the creation of a zone. */
  applyChange(zone: ZoneReference | null, change: Change, options?: ProviderCallOptions): Promise<AppliedChange>
  close(): Promise<void>
}

/** What the command line adds to every provider's settings. */
export interface ProviderContext {
  readonly secrets: SecretSource
  /** Requests under way at once, over the config's own setting. */
  readonly parallelism?: number | undefined
  /** Told of each longer wait that a provider asks for: its name and milliseconds. */
  readonly onThrottled?: OnThrottled | undefined
}

export type OnThrottled = (provider: string, milliseconds: number) => void

export interface CreatedProvider {
  /** Null where the diagnostics hold an error. */
  readonly provider: Provider | null
  readonly diagnostics: readonly Diagnostic[]
}

/** A host that a provider would contact, with the setting that names it. */
export interface ProviderEndpoint {
  /** The setting for messages, such as `providers.cloud.base_url`. */
  readonly setting: string
  readonly endpoint: Endpoint
  readonly at: SourcePosition
}

/** One type of provider. */
export interface ProviderType {
  /** What all providers of the type can hold. */
  readonly capabilities: Capabilities
  /** Every host that a provider with these settings contacts, found without a secret. Settings that name no host are left to `create`. */
  endpoints(config: ProviderConfig): readonly ProviderEndpoint[]
  /** Makes a provider from its entry in the config. */
  create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider>
}

/** A provider's failure in the user's words. */
export class ProviderError extends Error {
  readonly code: DiagnosticCode
  /** The request may have been carried out all the same. */
  readonly ambiguous: boolean
  /** The provider may carry it out even later: nothing shows that it has done with the request. */
  readonly mayCompleteLater: boolean
  /** No request was sent: the run was stopped first. */
  readonly notSent: boolean
  /** HTTP status or DNS rcode, for a report. */
  readonly status: string | null
  readonly severity: Severity = 'error'
  readonly hint: string | undefined
  constructor(
    code: DiagnosticCode,
    message: string,
    options: {
      ambiguous?: boolean
      mayCompleteLater?: boolean
      notSent?: boolean
      status?: string | undefined
      hint?: string | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ProviderError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.mayCompleteLater = options.mayCompleteLater ?? false
    this.notSent = options.notSent ?? false
    this.status = options.status ?? null
    this.hint = options.hint
  }
}

/** A provider's failure as a diagnostic; a bug stays an exception. */
export function diagnosticOf(error: unknown): Diagnostic {
  if (error instanceof ProviderError) return { severity: 'error', code: error.code, message: error.message, hint: error.hint }
  throw error
}
