/**
 * Names that octoDNS takes for others than they look like. It reads YAML 1.1, where a plain `1.10` is the number 1.1, `010` is 8 and `on`
 * is true; what it makes a name of is that value as Python prints it (PyYAML's resolver.py and constructor.py).
 */

import type { ParsedDefinition } from '../../definition/parse/parse-options.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** What octoDNS makes of plain names of a record map, where that is another name. */
export function otherNames(root: YamlNode | null, zone: DesiredZone['name']): UnsupportedFeature[] {
  if (root?.kind !== 'mapping') return []
  return root.entries.flatMap(({ key }) => {
    const name = key.plain ? octodnsName(key.text) : key.text
    if (name === key.text) return []
    const what = `the name ${name}, which octoDNS makes of ${key.text} without quotes`
    return [{ zone, name: null, type: null, what, at: key.at }]
  })
}

/** The name octoDNS makes of a plain scalar; those that begin with a dot are no names, whatever it makes of them. */
export function octodnsName(text: string): string {
  if (/^(?:yes|Yes|YES|on|On|ON|True|TRUE)$/.test(text)) return 'true'
  if (/^(?:no|No|NO|off|Off|OFF|False|FALSE)$/.test(text)) return 'false'
  if (/^(?:~|null|Null|NULL)$/.test(text)) return 'none'
  const [, sign, digits] = /^([-+]?)([0-9].*)$/.exec(text) ?? []
  if (digits === undefined) return text
  const bare = digits.replaceAll('_', '')
  const value = integerOf(bare, digits) ?? decimalOf(bare, digits)
  return value === null ? text : `${sign === '-' && value !== '0' ? '-' : ''}${value}`
}

function integerOf(bare: string, digits: string): string | null {
  if (/^(?:0|[1-9][0-9_]*)$/.test(digits) || /^0(?:b_*[01][01_]*|x_*[0-9a-fA-F][0-9a-fA-F_]*)$/.test(digits)) return String(BigInt(bare))
  if (/^0[0-7_]+$/.test(digits)) return String(BigInt(`0o${bare}`))
  return /^[1-9][0-9_]*(?::[0-5]?[0-9])+$/.test(digits) ? String(base60(bare)) : null
}

function decimalOf(bare: string, digits: string): string | null {
  if (/^[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?$/.test(digits)) return printedByPython(Number(bare))
  return /^[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/.test(digits) ? printedByPython(base60(bare)) : null
}

const base60 = (digits: string): number => digits.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)

/** Both print the fewest digits that stand for the number, and differ in when they write an exponent. */
function printedByPython(value: number): string {
  const isPlain = value === 0 || (value >= 1e-4 && value < 1e16)
  const [digits = '', exponent = ''] = (isPlain ? String(value) : value.toExponential()).split('e')
  if (!isPlain) return `${digits}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`
  return digits.includes('.') ? digits : `${digits}.0`
}

/** Characters that YAML 1.1, which octoDNS reads, takes for the end of a line: within a text they become a space there. */
export function otherLineEnds(text: string, file: string, zone: DesiredZone['name']): UnsupportedFeature[] {
  const lines = text.split('\n')
  const line = lines.findIndex((one) => /[\u0085\u2028\u2029]/.test(one))
  const column = (lines[line] ?? '').search(/[\u0085\u2028\u2029]/)
  const code = lines[line]?.charCodeAt(column) ?? 0
  if (line === -1) return []
  const what = `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}, which octoDNS takes for the end of a line`
  return [{ zone, name: null, type: null, what, at: { file, line: line + 1, column: column + 1 } }]
}

/** What the reader warns of where a record says what nothing here can express. */
const CODES: ReadonlySet<DiagnosticCode> = new Set(['record-extra', 'type-foreign'])

/** What a file of octoDNS's says that nothing here can express, by record: `geo`, `dynamic`, other providers' keys and types. */
export const unsupportedExtras = (zone: DesiredZone, { extras }: Pick<ParsedDefinition, 'extras'>): UnsupportedFeature[] => [
  ...zone.foreign.map(({ name, type, at }) => ({ zone: zone.name, name, type, what: `the type ${type}, another provider's`, at })),
  ...extras.map(({ name, type, key, at }) => ({ zone: zone.name, name, type, what: key, at })),
]

/** The diagnostics that tell of something else than `unsupportedExtras` does. */
export const otherDiagnostics = (diagnostics: readonly Diagnostic[]): Diagnostic[] => diagnostics.filter(({ code }) => !CODES.has(code))
