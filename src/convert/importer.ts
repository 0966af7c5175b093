/** The interface of importers. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { didYouMean } from '../base/nearest-word.ts'
import type { Config } from '../config/config.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { OutputFile } from '../files/write-files.ts'
import type { OnThrottled } from '../providers/provider.ts'
import type { UnsupportedFeature } from './unsupported-features.ts'

/** Reads zones from another format or system. Errors in the input become diagnostics; only bugs throw. */
export type Importer = (request: ImportRequest) => Promise<ImportedZones>

export interface ImportRequest {
  /** The argument after the format on the command line: a path, a server or the name of a provider. */
  readonly source: string
  /** The zones to import; empty for all. An importer reports each one that it does not find as `zone-unknown`. */
  readonly zones: readonly DomainName[]
  /** The absolute folder that relative paths are resolved against and that messages name files relative to. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The config, or the default one, whose `file` is null. */
  readonly config: Config
  readonly parallelism?: number | undefined
  readonly onThrottled?: OnThrottled | undefined
  readonly signal?: AbortSignal | undefined
  /** Lets requests on the wire finish and starts no new ones. */
  readonly stop?: AbortSignal | undefined
  /** Called with each zone that a provider has created for the import (`viaService`, `clone`). */
  readonly onZoneCreated?: ((zone: DomainName) => void) | undefined
  readonly options: ImportOptions
}

/** Options of single formats. */
export interface ImportOptions {
  /** The folder for the definitions, relative to `cwd`; absent if a definition is only printed. */
  readonly out?: string | undefined
  /** `provider`: the provider first creates the zones by a transfer from this name server. */
  readonly viaService?: string | undefined
  /** `provider`: the provider first creates the one zone as a copy of this zone. */
  readonly clone?: string | undefined
  /** `dnscontrol`: the file with the credentials of its providers; `creds.json` beside the source if absent. */
  readonly credentials?: string | undefined
  /** `dnscontrol`: writes YAML definitions for a program, which otherwise stays the definition. */
  readonly convert?: boolean | undefined
  /** `axfr`: a TSIG key, `NAME:SECRET` or `ALGORITHM:NAME:SECRET`. The secret is base64, given as `env:NAME` or `file:PATH`. */
  readonly tsig?: string | undefined
  /** `axfr`: seconds to wait for each message. */
  readonly timeout?: number | undefined
}

/** What an importer has read. If a diagnostic is an error, nothing is written. */
export interface ImportedZones {
  readonly zones: readonly ImportedZone[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
  /** Shared fragments, which belong to no single zone. */
  readonly files?: readonly OutputFile[] | undefined
  /** A new config for this absolute folder, which is that for the definitions or above it. */
  readonly newConfig?: { readonly folder: string; readonly text: string } | undefined
  /** Whether the source stays the definition of the zones: only a new config is written. */
  readonly keepsSource?: true | undefined
  /** Paragraphs for the user after the files are written, such as commands of the former tool. */
  readonly nextSteps?: readonly string[] | undefined
  /** How the files must be read if an imported config differs from the current one in this. */
  readonly octodnsSettings?: OctodnsFileSettings | undefined
}

/** The config's settings for definitions in octoDNS's layout. */
export type OctodnsFileSettings = Pick<Config, 'octodnsDefaultTtl' | 'octodnsSplitExtension'>

/** The result of an import that could not read its source. */
export const failedImport = (problem: Omit<Diagnostic, 'severity'>): ImportedZones => ({
  zones: [],
  dropped: [],
  diagnostics: [{ severity: 'error', ...problem }],
})

/** An error for each requested zone that was not found. */
export const missingZones = (
  wanted: readonly DomainName[],
  found: readonly { readonly name: DomainName }[],
  source: string,
): Diagnostic[] => {
  const names = new Set(found.map(({ name }) => name))
  return wanted
    .filter((name) => !names.has(name))
    .map((name) => ({ severity: 'error', code: 'zone-unknown', message: `${source} has no zone ${name}`, hint: didYouMean(name, names) }))
}
