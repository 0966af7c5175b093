import type { Config } from '../definition/config/config.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { OnThrottled } from '../providers/provider.ts'
import type { Imported } from './conversion.ts'

/** What an import is asked for. */
export interface ImportRequest {
  /** What stands behind the format on the command line: a path, a server, the name of a provider. */
  readonly source: string
  /** Only these zones; all where empty. An importer that finds one of them not says so with `zone-unknown`. */
  readonly zones: readonly DomainName[]
  /** The folder that paths start from and that names of files in messages start from; absolute. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The config, or what stands for it where there is none (its `file` is null then). */
  readonly config: Config
  readonly parallelism?: number | undefined
  readonly onThrottled?: OnThrottled | undefined
  readonly signal?: AbortSignal | undefined
  /** Lets what is on the wire end, and begins nothing after it. */
  readonly stop?: AbortSignal | undefined
  /** Told of each zone that a provider has made for the import (`viaService`, `clone`). */
  readonly onMade?: ((zone: DomainName) => void) | undefined
  readonly options: ImportOptions
}

/** Options of single formats. */
export interface ImportOptions {
  /** The folder that the definitions will be written to, from `cwd`; absent where one is only shown. */
  readonly out?: string | undefined
  /** For `provider`: the provider itself makes the zones first, of what it transfers from this name server. */
  readonly viaService?: string | undefined
  /** For `provider`: the provider itself makes the one zone first, a copy of this one. */
  readonly clone?: string | undefined
  /** For `axfr`: a TSIG key, `NAME:SECRET` or `ALGORITHM:NAME:SECRET`, its secret in base64 as `env:NAME` or `file:PATH`. */
  readonly tsig?: string | undefined
  /** For `axfr`: seconds to wait for each message. */
  readonly timeout?: number | undefined
}

/** Reads zones from elsewhere. Faults of the input become diagnostics; it throws for bugs only. */
export type Importer = (request: ImportRequest) => Promise<Imported>
