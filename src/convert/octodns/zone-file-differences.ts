/**
 * What octoDNS's zone files mean to octoDNS and cannot mean here. octoDNS reads YAML 1.1, in which an unquoted `1.10` is the number 1.1,
 * `010` is 8 and `on` is true, and uses the value as Python prints it as a name (PyYAML's resolver.py and constructor.py).
 */

import type { ParsedDefinition } from '../../definition/parse/parse-definition.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/** Unquoted names of a record map that octoDNS reads as other names. */
export function misreadNames(root: YamlNode | null, zone: DesiredZone['name']): UnsupportedFeature[] {
  if (root?.kind !== 'mapping') return []
  return root.entries.flatMap(({ key }) => {
    const name = key.plain ? octodnsName(key.text) : key.text
    if (name === key.text) return []
    const what = `the name ${name}, which octoDNS reads for ${key.text} without quotes`
    return [{ zone, name: null, type: null, what, at: key.at }]
  })
}

/** The name that octoDNS reads for a plain scalar. Scalars that begin with a dot are left as they are, because no name can. */
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

/** Python and JavaScript both print the fewest digits that identify the number, but switch to an exponent at different sizes. */
function printedByPython(value: number): string {
  const isReusable = value === 0 || (value >= 1e-4 && value < 1e16)
  const [digits = '', exponent = ''] = (isReusable ? String(value) : value.toExponential()).split('e')
  if (!isReusable) return `${digits}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`
  return digits.includes('.') ? digits : `${digits}.0`
}

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
    what: `${type}, a record type of another provider`,
    at,
  })),
  ...unsupportedKeys.map(({ name, type, key, at }) => ({ zone: zone.name, name, type, what: key, at })),
]

/** Diagnostics without those that `unsupportedExtras` replaces. */
export const withoutExtrasWarnings = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.filter(({ code }) => !EXTRAS_WARNINGS.has(code))
