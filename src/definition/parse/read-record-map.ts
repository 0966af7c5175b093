import type { SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, displayName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { isBroken, isNull, type YamlNode, type YamlScalar, type YamlSequence } from '../yaml/yaml-node.ts'
import type { Owner, ParseState } from './parse-state.ts'
import { kindName, quoted } from './parse-state.ts'
import { readRecord } from './read-record.ts'

/** Reads a record map: names relative to the zone, each with one record or a list of them. An empty node is an empty map. */
export function readRecordMap(node: YamlNode, state: ParseState): void {
  const { problems, invalid } = state
  if (isNull(node) || isBroken(node) || invalid.has(node)) return
  if (node.kind !== 'mapping') {
    const detail = `the records are a mapping from names to records, not a ${kindName(node)}`
    problems.report('schema-type', node.at, '', detail, { hint: 'Write www: {type: A, value: 192.0.2.1}.' })
    return
  }
  const first = new Map<DomainName, YamlScalar>()
  for (const { key, value } of node.entries) {
    if (problems.isFull()) return
    const name = readOwner(key, state)
    if (name === null) continue
    const earlier = first.get(name)
    if (earlier === undefined) first.set(name, key)
    else reportSameName(key, earlier, name, state)
    const owner = { name, label: displayName(name), at: key.at }
    if (value.kind !== 'sequence') readRecord(value, owner, state)
    else if (!invalid.has(value)) readList(value, owner, state)
  }
}

function readList({ items, at }: YamlSequence, owner: Owner, state: ParseState): void {
  if (items.length === 0) {
    // octoDNS passes over a name without records, so a file of its layout stays valid.
    const severity = state.layout === 'octodns' ? 'warning' : 'error'
    state.problems.report('value-missing', at, owner.label, 'has no record: the list is empty', { severity, hint: 'Take the name out.' })
  }
  for (const item of items) {
    if (state.problems.isFull()) return
    readRecord(item, owner, state)
  }
}

/** The owner name of a key: `''` and `@` are the apex, the rest is below it unless the final dot makes it absolute. */
function readOwner(key: YamlScalar, { problems, zone }: ParseState): DomainName | null {
  if (key.text === '') return zone
  const parsed = parseDomainName(key.text, zone)
  if (!parsed.ok) {
    problems.report('name-invalid', key.at, zone, `the name ${quoted(key.text)} cannot stand in a zone: ${parsed.message}`)
    return null
  }
  if (isAtOrBelow(parsed.value, zone)) return parsed.value
  problems.report('name-outside-zone', key.at, zone, `${quoted(key.text)} is an absolute name outside the zone`, {
    hint: hintOf(key.text, zone),
  })
  return null
}

const hintOf = (text: string, zone: DomainName): string => `Without the final dot it is ${quoted(`${text.replace(/\.$/, '')}.${zone}`)}.`

function reportSameName(key: YamlScalar, earlier: YamlScalar, name: DomainName, { problems }: ParseState): void {
  const related: { message: string; at: SourcePosition }[] = [{ message: `the same name as ${quoted(earlier.text)}`, at: earlier.at }]
  const detail = `${quoted(earlier.text)} (line ${earlier.at.line}) and ${quoted(key.text)} are the same name`
  problems.report('yaml-duplicate-key', key.at, name, detail, { related, hint: 'Put their records in one list.' })
}
