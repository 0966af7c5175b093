import type { ParsedDefinition } from '../../definition/parse/parse-options.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../conversion.ts'

/** What the reader warns of where a record says what nothing here can express. */
const CODES: ReadonlySet<DiagnosticCode> = new Set(['record-extra', 'type-foreign'])

/** What a file of octoDNS's says that nothing here can express, by record: `geo`, `dynamic`, other providers' keys and types. */
export const unsupportedExtras = (zone: DesiredZone, { extras }: Pick<ParsedDefinition, 'extras'>): UnsupportedFeature[] => [
  ...zone.foreign.map(({ name, type, at }) => ({ zone: zone.name, name, type, what: `the type ${type}, another provider's`, at })),
  ...extras.map(({ name, type, key, at }) => ({ zone: zone.name, name, type, what: key, at })),
]

/** The diagnostics that tell of something else than `unsupportedExtras` does. */
export const otherDiagnostics = (diagnostics: readonly Diagnostic[]): Diagnostic[] => diagnostics.filter(({ code }) => !CODES.has(code))
