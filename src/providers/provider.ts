import type { ProviderConfig } from '../definitions/config.ts'
import type { SecretSource } from '../definitions/secret.ts'
import type { Diagnostic, Severity } from '../model/diagnostic.ts'
import type { DiagnosticCode } from '../model/diagnostic-codes.ts'
import type { DomainName } from '../model/domain-name.ts'
import type { ExistingZone, ZoneSettings } from '../model/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import type { Change } from '../plan/change.ts'

/** A zone at a provider, without its records. */
export interface ZoneReference {
  readonly name: DomainName
  readonly id: number | string
  readonly settings: ZoneSettings
  /** When the provider last changed the zone's settings, in milliseconds since 1970; null where it does not say. */
  readonly updated: number | null
}

/** A zone with its records as they were read at one moment. */
export interface ReadZone extends ExistingZone {
  readonly id: number | string
  /** Milliseconds between the last change the provider tells of and the reading, by the provider's clock; null where it does not say. */
  readonly quietFor: number | null
}

/** The zone file a provider rendered last, as lines; empty where it has not rendered one. */
export interface RenderedFile {
  readonly lines: readonly string[]
}

export interface ProviderCallOptions {
  readonly signal?: AbortSignal | undefined
}

/** What a provider did for a change. */
export interface AppliedChange {
  /** The identifier of what was created, updated or deleted. */
  readonly id: number | string | null
  /** The zone as it is after a change to the zone itself. */
  readonly zone?: ZoneReference | undefined
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
  listZones(options?: ProviderCallOptions): Promise<readonly ZoneReference[]>
  readZone(zone: ZoneReference, options?: ProviderCallOptions): Promise<ReadZone>
  /** The rendered zone file; null where the provider has none to show. */
  readRendered(zone: ZoneReference, options?: ProviderCallOptions): Promise<RenderedFile | null>
  /** Makes one change. `zone` is null exactly for the creation of a zone. */
  applyChange(zone: ZoneReference | null, change: Change, options?: ProviderCallOptions): Promise<AppliedChange>
  close(): Promise<void>
}

/** What the command line adds to every provider's settings. */
export interface ProviderContext {
  readonly secrets: SecretSource
  /** Requests under way at once, over the config's own setting. */
  readonly parallelism?: number | undefined
}

export interface MadeProvider {
  /** Null where the diagnostics hold an error. */
  readonly provider: Provider | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Makes a provider of one type from its entry in the config. */
export type ProviderFactory = (config: ProviderConfig, context: ProviderContext) => Promise<MadeProvider>

/** A provider's failure in the user's words. */
export class ProviderError extends Error {
  readonly code: DiagnosticCode
  /** The request may have been carried out all the same. */
  readonly ambiguous: boolean
  /** HTTP status or DNS rcode, for a report. */
  readonly status: string | null
  readonly severity: Severity = 'error'
  readonly hint: string | undefined
  constructor(
    code: DiagnosticCode,
    message: string,
    options: { ambiguous?: boolean; status?: string; hint?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ProviderError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.status = options.status ?? null
    this.hint = options.hint
  }
}
