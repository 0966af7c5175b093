/** Parses the record map of a definition. */
import { quoted } from '../../base/text.ts'
import { type DomainName, displayName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { recordTypes } from '../yaml/merge-entries.ts'
import { isBroken, isNull, type YamlEntry, type YamlNode, type YamlScalar, type YamlSequence } from '../yaml/yaml-node.ts'
import { kindName, type Owner, type ParseState, reportVariable } from './parse-state.ts'
import { readRecord } from './read-record.ts'

/** Reads a record map: names relative to the zone, each with a record or a list of records. An empty node is an empty map. */
export function readRecordMap(node: YamlNode, state: ParseState): void {
  const { problems, invalid } = state
  if (isNull(node) || isBroken(node) || invalid.has(node)) return
  if (node.kind !== 'mapping') {
    const isZoneFile = node.kind === 'scalar' && /^\$(?:ORIGIN|TTL)\s|\sSOA\s/i.test(node.text)
    const detail = isZoneFile
      ? 'the file looks like a zone file, but its name is that of a YAML file'
      : `the records must be names with their records, not ${kindName(node)}`
    const hint = isZoneFile
      ? 'Name it ZONE.zone or ZONE.db.'
      : 'Begin with domain: example.com and records:, and write www: {type: A, value: 192.0.2.1} below.'
    problems.report('schema-type', node.at, '', detail, { hint })
    return
  }
  const first = new Map<DomainName, YamlEntry>()
  for (const { key, value } of node.entries) {
    if (problems.isFull()) return
    const name = readOwner(key, state)
    if (name === null) continue
    const earlier = first.get(name)
    if (earlier === undefined) first.set(name, { key, value })
    else reportSameName({ key, value }, earlier, name, state)
    const owner = { name, label: displayName(name), at: key.at }
    if (value.kind !== 'sequence') readRecord(value, owner, state)
    else if (!invalid.has(value)) readList(value, owner, state)
  }
}

function readList({ items, at }: YamlSequence, owner: Owner, state: ParseState): void {
  if (items.length === 0) {
    // octoDNS ignores a name without records.
    const severity = state.layout === 'octodns' ? 'warning' : 'error'
    state.problems.report('value-missing', at, owner.label, 'the list of records is empty', {
      severity,
      hint: 'Add a record, or remove the name.',
    })
  }
  for (const item of items) {
    if (state.problems.isFull()) return
    readRecord(item, owner, state)
  }
}

/** The owner name of a key: `''` and `@` are the apex; a final dot makes a name absolute; null after reporting a problem. */
function readOwner(key: YamlScalar, state: ParseState): DomainName | null {
  const { problems, zone } = state
  if (key.text === '') return zone
  if (reportVariable(key, zone, state)) return null
  const parsed = parseDomainName(key.text, zone)
  if (!parsed.ok) {
    problems.report('name-invalid', key.at, zone, `not a valid name: ${parsed.message}`)
    return null
  }
  if (state.layout === 'octodns' && key.plain) reportUnquotedName(key, parsed.value, state)
  if (isAtOrBelow(parsed.value, zone)) return parsed.value
  problems.report('name-outside-zone', key.at, zone, `${quoted(key.text)} is an absolute name outside the zone`, {
    hint: insteadOf(parsed.value, zone),
  })
  return null
}

/** Warns of a name without quotes that octoDNS reads as another name. */
function reportUnquotedName(key: YamlScalar, name: DomainName, { problems, zone }: ParseState): void {
  const read = octodnsName(key.text)
  if (read === key.text) return
  const theirs = parseDomainName(read, zone)
  const other = theirs.ok ? theirs.value : read
  if (other === name) return
  problems.report('name-unquoted', key.at, '', `${quoted(key.text)} without quotes is the name ${name}; octoDNS reads ${other}`, {
    severity: 'warning',
    hint: `Quote the name that you mean, such as '${key.text}'.`,
  })
}

/** The name in the zone that a name outside probably means: the labels before as many as the zone has. */
function insteadOf(name: DomainName, zone: DomainName): string {
  const relative = name.split('.').slice(0, -zone.split('.').length).join('.')
  const inside = relative === '' || name.includes('\\') ? '' : `Write ${quoted(relative)} for ${relative}.${zone}, or move`
  return `${inside || 'Move'} the record to the definition of the zone that has ${name}`
}

function reportSameName({ key, value }: YamlEntry, earlier: YamlEntry, name: DomainName, { problems, zone }: ParseState): void {
  const types = [recordTypes(earlier.value), recordTypes(value)]
  // That they exclude each other is reported instead.
  if (types.some((own) => own.includes('CNAME')) && types.some((own) => own.includes('A') || own.includes('AAAA'))) return
  const related = [{ message: 'the first one', at: earlier.key.at }]
  const detail = `${quoted(earlier.key.text)} and ${quoted(key.text)} ${name === zone ? 'both mean the zone itself' : 'are the same name'}`
  problems.report('yaml-duplicate-key', key.at, name, detail, { related, hint: 'Put their records into one list.' })
}

// The names that octoDNS reads for scalars without quotes. octoDNS reads YAML 1.1, in which `1.10` is the number 1.1, `010` is 8 and `on` is true, and uses
// the value as Python prints it (PyYAML's resolver.py and constructor.py).

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
