/** The interface that every provider implements, and the errors of providers. */
import type { Diagnostic, Severity, SourcePosition } from '../base/diagnostic.ts'
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'
import type { ProviderConfig } from '../config/config.ts'
import type { SecretSource } from '../config/resolve-secret.ts'
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { ExistingRecord, ResourceRecord } from '../dns/record.ts'
import type { SerialNumber } from '../dns/serial-number.ts'
import type { RrsetName } from '../dns/signer-records.ts'
import type { ExistingZone, SoaFields, ZoneSettings } from '../dns/zone.ts'
import type { InventoryObject, InventoryQuery } from '../dns/zone-source.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import type { Changeset } from '../plan/changesets.ts'
import type { ReadOnlyReason } from '../plan/make-plan.ts'
import type { RenderedState } from '../plan/plan.ts'
import type { Endpoint } from '../transport/allowed-hosts.ts'

/** What the run says with each call of a provider. */
export interface ProviderCallOptions {
  /** Aborts requests immediately. */
  readonly signal?: AbortSignal | undefined
  /** Lets sent requests finish and sends no other: no retry, no further page. */
  readonly stop?: AbortSignal | undefined
  /**
   * Asked before each request that changes something, repetitions included, with the milliseconds that the request may take. Returns why it must not be sent;
   * null if it may. It may wait.
   */
  readonly mayWrite?: ((timeLimit: number) => Promise<string | null>) | undefined
  /** The serial that a zone of this name had last: a new one gets a newer serial. Absent if it is unknown. */
  readonly lastSerial?: SerialNumber | undefined
  /** The id of the run in the journal. A provider whose service keeps a log sends it along with each change. */
  readonly run?: string | undefined
}

/** `lowestTtl`: the lowest TTL in seconds that a record is to have, infinite if none has one; absent if it is unknown. Limits that permit it need no look-up. */
export type NamedReadOptions = ProviderCallOptions & { readonly lowestTtl?: number | undefined }

/** A zone at a provider without its records. */
export interface ZoneReference {
  readonly name: DomainName
  readonly id: number | string
  readonly settings: ZoneSettings
  /** See `ExistingZone`. */
  readonly unknownSettings?: readonly string[] | undefined
  /** The apex NS records that the provider sets itself and does not list; absent if it does not name them. */
  readonly ownApexNs?: readonly DomainName[] | undefined
  /** When the provider last changed the zone's settings, in milliseconds since 1970; absent if it does not report that. */
  readonly updated?: number | undefined
}

/** A listed zone that cannot be managed: its name is no domain name, or another zone has the same name. */
export interface UnusableZone {
  /** In the provider's own spelling. */
  readonly name: string
  readonly id: number | string
  /** Why the zone cannot be managed, in words that follow its name. */
  readonly reason: string
}

/** All zones of a provider. */
export interface ZoneList {
  /** Each name once. */
  readonly zones: readonly ZoneReference[]
  readonly unusable: readonly UnusableZone[]
}

/** The comparison of the rendered zone file with the records. */
export interface RenderedComparison {
  readonly state: RenderedState
  /** The apex NS records that the provider adds on its own: data of those that only the file has. Null without a file. */
  readonly providerApexNs: readonly string[] | null
  /** Descriptions of up to ten records that only one side has. */
  readonly differences: readonly string[]
}

/** A zone with its records at one moment. */
export interface ZoneSnapshot extends ExistingZone {
  readonly id: number | string
  /** Milliseconds between the last change and the read, by the provider's clock; absent if the provider does not report it. */
  readonly millisecondsSinceLastChange?: number | undefined
  /** The serial of the SOA record; absent if the provider does not show it. */
  readonly serial?: SoaFields['serial']
  /** The records of the zone's signer that `records` leaves out, because the server maintains them; absent if the provider does not show them. */
  readonly signerRecords?: readonly RrsetName[] | undefined
  /** See `ZoneReference`. */
  readonly ownApexNs?: readonly DomainName[] | undefined
  /** Why no call can change the zone; absent if calls can. */
  readonly readOnly?: ReadOnlyReason | undefined
  /** Warnings about the zone at the provider, for every plan. */
  readonly warnings?: readonly Diagnostic[] | undefined
  /** The comparison with the rendered file, if it was made when the zone was read; absent if it is made from `readRendered`. */
  readonly rendered?: RenderedComparison | undefined
}

/** The lines of the zone file that the provider rendered last; empty if it has rendered none. */
export interface RenderedFile {
  readonly lines: readonly string[]
}

/** What one call carries. */
export type ProviderCall = Pick<Changeset, 'changes' | 'rrsets'>

/** The result of one change of a call. */
export interface AppliedChange {
  /** The identifier of the created, updated or deleted object; absent if the provider has none. */
  readonly id?: number | string | undefined
  /** The stored record, if it differs from the record sent. */
  readonly stored?: ResourceRecord | undefined
}

/** The result of a call that was carried out. */
export interface AppliedCall {
  /** One per change of the call, in the same order; absent if the provider has no identifiers and stores every record as it was sent. */
  readonly changes?: readonly AppliedChange[] | undefined
  /** The zone after a change to the zone itself. */
  readonly zone?: ZoneReference | undefined
  /** The records that replace the RRsets of the call, or the records that it changed, as the response states them; absent if it does not: the zone is read back. */
  readonly storedRecords?: readonly ExistingRecord[] | undefined
  /** What failed after the change was made, such as the reload of a server that serves it. */
  readonly problems?: readonly Diagnostic[] | undefined
}

/** A zone that the provider copied from another one. */
export interface CopiedZone {
  readonly zone: ZoneReference
  /** The parts that the provider could not copy, in its words. */
  readonly remarks: readonly string[]
}

/** What the runs of a command may do besides the changes of zones. */
export interface CompletionOptions extends ProviderCallOptions {
  /** Whether to remove zones from a list or catalog zone, and with it their copies at servers, which no change of the run deletes. */
  readonly mayRemoveZones: boolean
  /** Whether the last run of this journal that changed the zone was interrupted or failed; never, if absent. */
  readonly hadFailure?: (zone: DomainName) => boolean
}

/** The earlier calls that `completeCalls` completed. */
export interface CompletedCalls {
  /** What was done, as sentences for people. */
  readonly done: readonly string[]
  /** What still fails. */
  readonly problems: readonly Diagnostic[]
}

/** What a service or class has said that capabilities depend on besides the settings, as JSON. It goes into snapshots, so it has no secret. */
export type CapabilityFacts = Readonly<Record<string, unknown>>

/** A server or service that stores zones. Methods throw `ProviderError` for every failure that is not a bug. */
export interface Provider {
  /** Its name in the config. */
  readonly name: string
  readonly type: string
  /** The base URL, or the address of the server, without secrets. A saved plan is valid only for this address. */
  readonly address: string
  readonly capabilities: Capabilities
  /** What `capabilities` depend on besides the settings for these zones, as far as it is known by now; absent if they depend on nothing else. */
  capabilityFacts?(zones: readonly DomainName[]): CapabilityFacts
  /** Maximum concurrent calls. */
  readonly parallelism: number
  /** The Python packages that it runs, each with its version as pip takes it; absent if it runs none. */
  readonly pythonPackages?: readonly string[] | undefined
  /** Finds the zones with these names. */
  findZones(names: readonly DomainName[], options?: ProviderCallOptions): Promise<ReadonlyMap<DomainName, ZoneReference>>
  listZones(options?: ProviderCallOptions): Promise<ZoneList>
  /** Reads a zone with its records. A slave zone has none, because they come from its masters. */
  readZone(zone: ZoneReference, options?: ProviderCallOptions): Promise<ZoneSnapshot>
  /** Reads the zone with this name without a look-up; null if it does not exist. Absent if a name does not lead to a zone, or if zone files are rendered. */
  readNamedZone?(name: DomainName, options?: NamedReadOptions): Promise<ZoneSnapshot | null>
  /** Reads the rendered zone file; null if there is none. Absent if the provider renders none. */
  readRendered?(zone: ZoneReference, options?: ProviderCallOptions): Promise<RenderedFile | null>
  /** Finds records with the owner and type of any of the given ones without reading the whole zone; absent if the provider cannot do that. */
  findRecords?(zone: ZoneReference, like: readonly ResourceRecord[], options?: ProviderCallOptions): Promise<readonly ExistingRecord[]>
  /** Checks the connection and the permissions of the token or key. `now` is the local time. Failures are findings. */
  examine?(usage: ProviderUsage, now: Date, options?: ProviderCallOptions): Promise<readonly DoctorFinding[]>
  /** Finds the resolvers of a region as `address` or `address:port`; null if the region does not exist. Absent if the provider has no regions. */
  findResolvers?(region: string, options?: ProviderCallOptions): Promise<readonly string[] | null>
  /** Reads the objects of the account whose addresses a definition uses; absent if the provider has none. */
  readInventory?(query: InventoryQuery, options?: ProviderCallOptions): Promise<readonly InventoryObject[]>
  /** Creates a zone that the provider itself transfers from a name server (AXFR); absent if the provider cannot do that. */
  importZone?(name: DomainName, nameserver: string, options?: ProviderCallOptions): Promise<CopiedZone>
  /** Creates a zone with the settings and records of another one; absent if the provider cannot do that. */
  cloneZone?(source: ZoneReference, name: DomainName, options?: ProviderCallOptions): Promise<CopiedZone>
  /**
   * Makes one call. It carries as many changes as `capabilities.calls` permits. A change of the zone itself comes first in its call. It is alone there, unless it
   * creates the zone at a target with `createsZoneWithRecords`: then records of the new zone follow. A call that deletes a zone has the expected RRsets of the
   * whole zone. `zone` is null only for the creation of a zone. If the target can state preconditions, the call is refused with `provider-conflict` unless
   * every RRset is as expected, and the creation of a zone unless the zone does not exist.
   */
  apply(zone: ZoneReference | null, call: ProviderCall, options?: ProviderCallOptions): Promise<AppliedCall>
  /**
   * Completes earlier calls whose last step failed or was interrupted, such as the reload of a server. Called by runs that change zones, also if no zone has
   * changes. Absent if calls have no such step.
   */
  completeCalls?(options: CompletionOptions): Promise<CompletedCalls>
  /** Says what `completeCalls` would do now besides the changes of the plan, as notices and warnings. Called after the zones of the run were found; makes no change and throws nothing. */
  previewCompletion?(options: CompletionOptions): Promise<readonly Diagnostic[]>
  close(): Promise<void>
}

/** Settings of all providers of a run. */
export interface ProviderContext {
  readonly secrets: SecretSource
  /** Maximum concurrent requests, instead of the config's setting. */
  readonly parallelism?: number | undefined
  /** The clock; that of the system if absent. */
  readonly now?: (() => Date) | undefined
  /** Ends the wait for a package that does not create its provider. */
  readonly signal?: AbortSignal | undefined
  /** Called with the provider's name and milliseconds when it asks for a longer pause. */
  readonly onThrottled?: OnThrottled | undefined
  /** Called with the provider's name before each request to its service, and whether it repeats a failed one. Classes of octoDNS and packages do not report theirs. */
  readonly onRequest?: OnRequest | undefined
}

export type OnRequest = (provider: string, isRetry: boolean) => void

export type OnThrottled = (provider: string, milliseconds: number) => void

export interface CreatedProvider {
  /** Null if the diagnostics contain an error. */
  readonly provider: Provider | null
  readonly diagnostics: readonly Diagnostic[]
}

/** A host that a provider contacts, with the setting that names it. */
export interface ProviderEndpoint {
  /** The setting for messages, such as `providers.cloud.base_url`. */
  readonly setting: string
  readonly endpoint: Endpoint
  readonly at: SourcePosition
}

/** What `init --from TYPE` or `init --from TYPE=TEXT` writes. */
export interface Starter {
  /** Settings, with references to the usual environment variables. */
  readonly settings: Readonly<Record<string, string>>
  /** The environment variables that a run needs; those of the settings if absent. */
  readonly variables?: readonly string[] | undefined
  /** The setting that the text gives; `base_url`, another address of the API, if absent. */
  readonly textKey?: string | undefined
  /** What the text is, if it must be given. */
  readonly neededText?: string | undefined
  /** Reads a text that is more than one setting; null if it is malformed. */
  readonly read?: ((text: string) => StarterText | null) | undefined
  /** The packages beside Zonewright that the type needs, each with its version. */
  readonly packages?: readonly string[] | undefined
}

/** What the text of `init --from TYPE=TEXT` says. */
export interface StarterText {
  /** The settings as YAML in flow style, without braces. */
  readonly settings: string
  /** The environment variables with secrets. */
  readonly variables: readonly string[]
  /** The code that a run has to allow, for ZONEWRIGHT_ALLOWED_PACKAGES. */
  readonly allowed: string
}

/** One type of provider. */
/** A zone whose records are in an export. */
export interface ListedZone {
  readonly name: DomainName
  /** The provider's identifier of the zone; empty if the export does not have it. */
  readonly id: string
}

export type ZoneListing = Pick<ExistingZone, 'records' | 'unplanned'>

export interface ProviderType {
  /** The capabilities of all providers of this type. */
  readonly capabilities: Capabilities
  /** The capabilities with these settings and the facts of an earlier run, which come from a file: those of another form are ignored. Absent if they depend on neither. Needs no secret. */
  capabilitiesFor?(config: ProviderConfig, facts?: CapabilityFacts): Capabilities
  /** Problems of the settings that the schema of the type cannot express, such as a malformed address. Needs no secret and no network. */
  checkSettings(config: ProviderConfig): readonly Diagnostic[]
  /** Every host that a provider with these settings contacts. Needs no secret; invalid settings are reported by `checkSettings`. */
  endpoints(config: ProviderConfig): readonly ProviderEndpoint[]
  /** The files and folders that the settings name, relative to the folder of the config, secrets aside; absent if there are none. */
  paths?(config: ProviderConfig): readonly { readonly setting: string; readonly path: string }[]
  /** Converts records of a zone as the API lists them, which other programs export; absent if the type has no such lists. Throws `ShapeError`. */
  readListing?(items: readonly unknown[], zone: ListedZone, config: ProviderConfig): Promise<ZoneListing>
  /** The first config entry of a new repository; absent if the user has to choose its settings. */
  readonly starter?: Starter | undefined
  /** Creates a provider from its entry in the config. */
  create(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider>
}

type ErrorOptions = Partial<Pick<ProviderError, 'ambiguous' | 'mayCompleteLater' | 'notSent' | 'hint' | 'cause'>> & {
  readonly status?: string | undefined
}

/** A failure of a provider, with a message for users. */
export class ProviderError extends Error {
  readonly code: DiagnosticCode
  /** Whether the request may have been carried out. */
  readonly ambiguous: boolean
  /** Whether the provider may still carry out the request later. */
  readonly mayCompleteLater: boolean
  /** Whether the run was stopped before a request was sent. */
  readonly notSent: boolean
  /** The HTTP status or DNS rcode. */
  readonly status: string | null
  readonly severity: Severity = 'error'
  readonly hint: string | undefined
  constructor(code: DiagnosticCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ProviderError'
    this.code = code
    this.ambiguous = options.ambiguous ?? false
    this.mayCompleteLater = options.mayCompleteLater ?? false
    this.notSent = options.notSent ?? false
    this.status = options.status ?? null
    this.hint = options.hint
  }
  /** The same failure with other properties. */
  with({ message = this.message, ...others }: ErrorOptions & { readonly message?: string }): ProviderError {
    // What may have been carried out was sent.
    const own = { ...this, notSent: this.notSent && !others.ambiguous, status: this.status ?? undefined, cause: this }
    return new ProviderError(this.code, message, { ...own, ...others })
  }
}

/** The diagnostic of a `ProviderError`. Rethrows any other error. */
export function diagnosticOf(error: unknown): Diagnostic {
  if (error instanceof ProviderError) return { severity: 'error', code: error.code, message: error.message, hint: error.hint }
  throw error
}

/** Throws if a request that changes something, and may take `timeLimit` milliseconds, must not be sent. */
export async function assertMayWrite(provider: string, call: ProviderCallOptions | undefined, timeLimit: number): Promise<void> {
  const obstacle = (await call?.mayWrite?.(timeLimit)) ?? null
  if (obstacle !== null) throw new ProviderError('provider-stopped', `${provider}: not sent: ${obstacle}`, { notSent: true })
}
