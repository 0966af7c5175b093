import { formatDiagnostic } from '../../../src/base/diagnostic.ts'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { DefinedRecord, ResourceRecord } from '../../../src/dns/record.ts'
import { parseZoneFile, type ZoneFileOptions, type ZoneFileSummary } from '../../../src/dns/zone-file/parse-zone-file.ts'
import { name } from '../../support/records.ts'

export const ORIGIN: DomainName = name('example.com.')

export interface ReadZoneFile extends ZoneFileSummary {
  readonly records: readonly DefinedRecord[]
}

export function parse(text: string, options: Partial<ZoneFileOptions> = {}): ReadZoneFile {
  const parsed = parseZoneFile(text, { origin: ORIGIN, file: 'zone', ...options })
  return { ...parsed, records: [...parsed.records] }
}

/** A record on one line; `-` means no TTL. */
export const line = ({ name: owner, ttl, type, data }: ResourceRecord): string => `${owner} ${ttl ?? '-'} ${type} ${data}`
export const lines = (records: Iterable<ResourceRecord>): string[] => Array.from(records, line)

/** Records as lines of one text, with their owners relative to example.com. */
export const relativeLines = (records: Iterable<ResourceRecord>): string =>
  lines(records)
    .map((one) => one.replace(/^example\.com\. /, '@ ').replace(/^(\S*?)\.example\.com\. /, '$1 '))
    .join('\n')

/** Diagnostics without the message: `LINE:COLUMN severity[code]`. */
export const problems = ({ diagnostics }: ZoneFileSummary): string[] =>
  diagnostics.map((diagnostic) =>
    formatDiagnostic({ ...diagnostic, message: '' })
      .replace(/^zone:/, '')
      .replace(': ', ' ')
      .trim(),
  )
