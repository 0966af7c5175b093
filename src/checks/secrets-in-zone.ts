/** Searches a zone's records and settings for the run's secrets. */
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { type LoadedSecrets, secretExposedDiagnostic } from '../base/secret-guard.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'

/** A zone of a definition or an import. */
interface SearchedZone {
  readonly name: DomainName
  readonly at?: SourcePosition | undefined
  /** Not searched: positions, and texts that are searched separately. */
  readonly settingPositions?: unknown
  readonly files?: unknown
  readonly records: readonly (ResourceRecord & { readonly at?: SourcePosition | undefined })[]
}

/** Maximum number of records reported. */
const REPORTED = 20

/**
 * Returns an error for each record or setting that contains a secret. The zone's files have been searched already. This search finds the secrets
 * that appear only after escapes and variables are resolved and strings are joined.
 */
export function secretsInZone(zone: SearchedZone, { guard }: LoadedSecrets): Diagnostic[] {
  if (guard === null) return []
  const { records, at, settingPositions: _, files: __, ...rest } = zone
  const found: Diagnostic[] = []
  const searchText = (text: string, what: string, place: SourcePosition | undefined): void => {
    const setting = guard.find(text)
    if (setting !== null && found.length < REPORTED) found.push(secretExposedDiagnostic(what, setting, place))
  }
  searchText(JSON.stringify(rest), 'a setting of the definition', at)
  // Most records are too short to contain a secret. A search in the text of all others takes a tenth of the time of one search per record.
  const candidates = records.filter(({ name, data }) => guard.mayContain(name.length) || guard.mayContain(data.length))
  const all = guard.find(candidates.map(textOf).join('\n'))
  if (all === null) return found
  const before = found.length
  for (const record of candidates) searchText(textOf(record), `${guard.redact(record.name)} ${record.type}`, record.at)
  if (found.length === before) found.push(secretExposedDiagnostic('the definition', all, at))
  return found
}

const textOf = ({ name, data }: Pick<ResourceRecord, 'name' | 'data'>): string => `${name}\n${data}`
