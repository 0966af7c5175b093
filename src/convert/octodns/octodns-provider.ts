import type { SourcePosition } from '../../dns/diagnostic.ts'

/** One entry of `providers:` in octoDNS's configuration. */
export interface OctodnsProvider {
  readonly name: string
  /** The Python class, such as `octodns.provider.yaml.YamlProvider`. */
  readonly className: string
  /** All keys but `class`, as JSON values. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly at: SourcePosition
}
