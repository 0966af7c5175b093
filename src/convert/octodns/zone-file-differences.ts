/** Parts of octoDNS's zone files that mean something to octoDNS and that no definition can express. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import type { ParsedDefinition } from '../../definition/parse/parse-definition.ts'
import { groupRrsets } from '../../dns/record.ts'
import { isProviderType } from '../../dns/record-type.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** Reports the first character that YAML 1.1, which octoDNS reads, treats as a line break: inside a text it becomes a space there. */
export function misreadLineBreaks(text: string, file: string, zone: DesiredZone['name']): UnsupportedFeature[] {
  const lines = text.split('\n')
  const line = lines.findIndex((one) => /[\u0085\u2028\u2029]/.test(one))
  const column = (lines[line] ?? '').search(/[\u0085\u2028\u2029]/)
  const code = lines[line]?.charCodeAt(column) ?? 0
  if (line === -1) return []
  const what = `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}, which octoDNS treats as a line break`
  return [{ zone, name: null, type: null, what, at: { file, line: line + 1, column: column + 1 } }]
}

/** Warnings of the parser that `unsupportedExtras` replaces. */
const EXTRAS_WARNINGS: ReadonlySet<DiagnosticCode> = new Set(['record-extra', 'type-foreign'])

/** Parts of records that no definition can express: `geo`, `dynamic`, and keys and types of other providers. */
export const unsupportedExtras = (
  zone: DesiredZone,
  { unsupportedKeys }: Pick<ParsedDefinition, 'unsupportedKeys'>,
): UnsupportedFeature[] => [
  ...zone.providerSpecific.map(({ name, type, at }) => ({
    zone: zone.name,
    name,
    type,
    what: foreign(type),
    at,
  })),
  // Keys of providers below `octodns:` change no record; loading the file warns of them.
  ...unsupportedKeys
    .filter(({ key }) => !key.startsWith('octodns.'))
    .map(({ name, type, key, at }) => ({ zone: zone.name, name, type, what: key, at })),
]

/** The record sets of types that only providers of octoDNS know, such as `URLFWD`. */
export const providerTypes = ({ name: zone, records }: ImportedZone): UnsupportedFeature[] =>
  [...groupRrsets(records.filter(({ type }) => isProviderType(type))).values()].flatMap(([first]) =>
    first === undefined ? [] : { zone, name: first.name, type: first.type, what: foreign(first.type), at: first.at },
  )

const foreign = (type: string): string => `${type}, a record type of another provider`

/** Diagnostics without those that `unsupportedExtras` replaces. */
export const withoutExtrasWarnings = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.filter(({ code }) => !EXTRAS_WARNINGS.has(code))
