import type { DomainName } from '../../dns/domain-name.ts'
import { parseFilesOfZone } from './parse-definition.ts'
import type { IncludedFile, ParsedDefinition, ParseOptions } from './parse-options.ts'

export interface SplitZoneOptions extends Omit<ParseOptions, 'file' | 'zoneName'> {
  /** The name of the directory without the `split_extension`. */
  readonly zoneName: DomainName
  /** The path of the directory, where the zone begins. */
  readonly directory?: string | undefined
}

/**
 * Reads an octoDNS split directory (`split_extension`): every file in it is a record map, one of them by convention
 * `$ZONE.yaml` for the apex and wildcard, and all of them make one zone. They are read in the order of their paths, as octoDNS does.
 */
export function parseSplitZone(files: readonly IncludedFile[], options: SplitZoneOptions): ParsedDefinition {
  const sorted = [...files].sort((a, b) => (a.file < b.file ? -1 : 1))
  return parseFilesOfZone(sorted, { ...options, file: options.directory ?? sorted[0]?.file ?? options.zoneName })
}
