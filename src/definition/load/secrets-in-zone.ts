import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { exposedDiagnostic, type LoadedSecrets } from './loaded-secrets.ts'

/** A zone of a definition, or one that is imported. */
interface ZoneToSearch {
  readonly name: DomainName
  readonly at?: SourcePosition | undefined
  /** Places, and texts of files, which are compared on their own. */
  readonly settingsAt?: unknown
  readonly files?: unknown
  readonly records: readonly (ResourceRecord & { readonly at?: SourcePosition | undefined })[]
}

/** Records that are reported. */
const REPORTED = 20

/**
 * An error for each record or setting of a zone that holds a secret of the run. The text of its files was compared before; here it is what the records
 * mean: with escapes undone, variables replaced, and strings joined.
 */
export function secretsInZone(zone: ZoneToSearch, { guard }: LoadedSecrets): Diagnostic[] {
  if (guard === null) return []
  const { records, at, settingsAt: _, files: __, ...rest } = zone
  const found: Diagnostic[] = []
  const look = (text: string, what: string, place: SourcePosition | undefined): void => {
    const setting = guard.find(text)
    if (setting !== null && found.length < REPORTED) found.push(exposedDiagnostic(what, setting, place))
  }
  look(JSON.stringify(rest), 'the definition, beside its records,', at)
  // Most records are too short for a token; one search in all others costs a tenth of one in each.
  const candidates = records.filter(({ name, data }) => guard.mayHold(name.length) || guard.mayHold(data.length))
  const all = guard.find(candidates.map(textOf).join('\n'))
  if (all === null) return found
  const before = found.length
  for (const record of candidates) look(textOf(record), `${guard.redact(record.name)} ${record.type}`, record.at)
  if (found.length === before) found.push(exposedDiagnostic('the definition', all, at))
  return found
}

const textOf = ({ name, data }: Pick<ResourceRecord, 'name' | 'data'>): string => `${name}\n${data}`
