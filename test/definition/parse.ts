import { expect } from 'vitest'
import { type ParsedDefinition, type ParseOptions, parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'

/** Parses a definition as the file `zone.yaml` of the zone example.com. */
export const parse = (text: string, options: Partial<ParseOptions> = {}): ParsedDefinition =>
  parseDefinition(text, { file: 'zone.yaml', zoneName: 'example.com.' as DomainName, ...options })

/** The records as lines of zone-file text; `-` for no TTL. */
export const recordLines = ({ zone }: ParsedDefinition): string[] =>
  (zone?.records ?? []).map(({ name, ttl, type, data }) => `${name} ${ttl ?? '-'} ${type} ${data}`)

/** The diagnostics as `LINE:COLUMN SEVERITY CODE MESSAGE`. */
export const diagnosticLines = ({ diagnostics }: ParsedDefinition): string[] =>
  diagnostics.map(({ at, severity, code, message }) => `${at?.line}:${at?.column} ${severity} ${code} ${message}`)

/** Expects one diagnostic per text, which begins with it. */
export const expectProblems = (found: readonly string[], expected: readonly string[]): void =>
  expect(found.map((one, i) => one.slice(0, expected[i]?.length))).toEqual(expected)
