import { isError, type Severity, type SourcePosition } from '../../dns/diagnostic.ts'
import { didYouMean } from '../../dns/nearest-word.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { rrsetKey } from '../../dns/record.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { entryOf, isBroken, isNull, lookUp, type YamlMapping, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import type { Owner, ParseState } from './parse-state.ts'
import { type DiagnosticCollector, kindName, quoted, type ValueContext } from './parse-state.ts'
import { readInventory } from './read-inventory.ts'
import { parseTtlNode } from './read-scalar.ts'
import { readValue } from './read-value.ts'
import { checkRecord, isCommonRecord } from './schema-check.ts'
import { RECORD_KEYS } from './value-forms.ts'

const KNOWN_KEYS: ReadonlySet<string> = new Set(RECORD_KEYS)

/** Keys whose meaning is lost here. */
const EXTRA_KEYS: ReadonlySet<string> = new Set(['geo', 'dynamic', 'healthcheck'])

/** Reads one entry of a name, which is one RRset or a part of it, into the reading. */
export function readRecord(node: YamlNode, owner: Owner, state: ParseState): void {
  const { problems } = state
  if (isBroken(node)) return
  if (node.kind !== 'mapping') {
    const what = isNull(node) ? 'has no record' : `a record is a mapping, not a ${kindName(node)}`
    problems.report('schema-type', node.at, owner.label, what, { hint: 'Write {type: A, value: 192.0.2.1}.' })
    return
  }
  const told = problems.diagnostics.length
  const left = isCommonRecord(node) ? [] : checkRecord(node, subjectOf(node, owner), state.layout, state.invalid, problems)
  readChecked(node, owner, state)
  // What the schema refuses is refused: should the readers have found no fault with the content, the schema's own words are given.
  if (left.length === 0 || problems.diagnostics.slice(told).some(isError)) return
  for (const problem of left) problems.report('schema-value', problem.node.at, problem.subject, problem.message)
}

/** Owner and type for messages, as far as the type can be told. */
function subjectOf(node: YamlMapping, owner: Owner): string {
  const type = lookUp(node, 'type')
  return type?.kind === 'scalar' && !isNull(type) ? `${owner.label} ${type.text.slice(0, 40)}` : owner.label
}

function readChecked(node: YamlMapping, owner: Owner, state: ParseState): void {
  const { problems } = state
  const type = readType(node, owner, state)
  if (type === null) return
  const subject = `${owner.label} ${type}`
  if (type.includes('/')) {
    const detail = `${type} is a type of another provider; no target here can hold it`
    problems.report('type-foreign', (lookUp(node, 'type') ?? node).at, owner.label, detail, { severity: 'warning' })
    state.foreign.push({ name: owner.name, type, at: node.at })
  }
  const extras = readRecordExtras(node, subject, state)
  keepExtras(extras, owner, type, state)
  if (type.includes('/')) return
  reportOtherKeys(node, extras, owner, type, state)
  readMarks(node, owner, type, state)
  const ttl = readTtl(node, subject, state)
  if (ttl === undefined) return
  const from = lookUp(node, 'from')
  if (from === undefined) readValues(node, { type, subject, state }, owner, ttl)
  else readInventory(node, from, { type, subject, state }, owner, ttl)
}

function readType(node: YamlMapping, owner: Owner, { problems, invalid }: ParseState): string | null {
  const type = lookUp(node, 'type')
  if (type === undefined) {
    if (!invalid.has(node))
      problems.report('schema-missing-key', node.at, owner.label, 'type is missing', { hint: 'Write {type: A, value: 192.0.2.1}.' })
    return null
  }
  if (invalid.has(type) || isBroken(type)) return null
  if (type.kind !== 'scalar' || isNull(type)) {
    problems.report(
      'schema-type',
      type.at,
      owner.label,
      `type is the name of a record type, not ${isNull(type) ? 'empty' : `a ${kindName(type)}`}`,
    )
    return null
  }
  // A type of a provider, such as Route53Provider/ALIAS.
  if (/^[\w.-]{1,100}\/[\w./-]{1,100}$/.test(type.text)) return type.text
  const parsed = parseRecordType(type.text)
  if (parsed.ok && (parsed.value === type.text || type.text.startsWith('TYPE'))) return parsed.value
  const hint = parsed.ok ? `Write ${parsed.value}.` : didYouMean(type.text, RDATA_TYPES.keys())
  problems.report('type-unknown', type.at, owner.label, `${quoted(type.text)} is not a record type`, {
    hint: hint ?? 'A type without a form of its own is written TYPE123 with its number (RFC 3597).',
  })
  return null
}

function readRecordExtras(node: YamlMapping, subject: string, { problems, layout }: ParseState): RecordExtras {
  const octodns = lookUp(node, 'octodns')
  return octodns === undefined ? NO_EXTRAS : readExtras(octodns, subject, problems, layout === 'octodns' ? 'warning' : 'error')
}

function keepExtras(extras: RecordExtras, owner: Owner, type: string, state: ParseState): void {
  const { ignored, included, excluded, lenient } = extras
  if (lenient) state.lenient.add(rrsetKey({ name: owner.name, type }))
  if (ignored || included.length > 0 || excluded.length > 0) state.scopes.push({ name: owner.name, type, ignored, included, excluded })
}

/** `override: true` of a definition, `merge: true` of a fragment: how RRsets of several files go together. */
function readMarks(node: YamlMapping, owner: Owner, type: string, { problems, invalid, source, layout }: ParseState): void {
  for (const key of MARKS) {
    const entry = entryOf(node, key)
    if (entry === undefined || invalid.has(entry.value) || isBroken(entry.value)) continue
    const subject = `${owner.label} ${type}`
    const place = key === 'override' ? 'definition' : 'fragment'
    if (source?.kind !== place) {
      const where = key === 'override' ? 'in a definition that includes others' : 'in a file that is included'
      const severity = layout === 'octodns' ? 'warning' : 'error'
      problems.report('schema-unknown-key', entry.key.at, subject, `${key} has a meaning only ${where}`, { severity })
    } else if (entry.value.kind === 'scalar' && /^true$/i.test(entry.value.text)) {
      const set = rrsetKey({ name: owner.name, type })
      if (key === 'override') source.overriding.set(set, entry.key.at)
      else source.merged.add(set)
    }
  }
}

const MARKS = ['override', 'merge'] as const

/** One warning for what no target can express; and a word for each key that no record has. */
function reportOtherKeys(node: YamlMapping, extras: RecordExtras, owner: Owner, type: string, state: ParseState): void {
  const { problems, invalid, layout } = state
  const subject = `${owner.label} ${type}`
  const lost: { readonly key: string; readonly at: SourcePosition }[] = []
  for (const { key } of node.entries) {
    if (EXTRA_KEYS.has(key.text)) lost.push({ key: key.text, at: key.at })
    else if (!KNOWN_KEYS.has(key.text) && !invalid.has(key)) reportUnknown(key, subject, problems, layout)
  }
  for (const key of extras.others) lost.push({ key: `octodns.${key.text}`, at: key.at })
  const [first] = lost
  if (first === undefined) return
  for (const { key, at } of lost) state.extras.push({ name: owner.name, type, key, at })
  const names = lost.map(({ key }) => JSON.stringify(key)).join(', ')
  problems.report('record-extra', first.at, subject, `${names} cannot be expressed at any target; only the plain values are managed`, {
    severity: 'warning',
  })
}

/** octoDNS passes over a key it does not know, so a file of its layout stays valid. */
function reportUnknown(key: YamlScalar, subject: string, problems: ParseState['problems'], layout: ParseState['layout']): void {
  const severity = layout === 'octodns' ? 'warning' : 'error'
  const hint = didYouMean(key.text, RECORD_KEYS) ?? `A record has ${RECORD_KEYS.slice(0, 5).join(', ')}.`
  problems.report('schema-unknown-key', key.at, subject, `${quoted(key.text)} is not a key of a record`, { severity, hint })
}

/** The TTL of a record, the default where it has none; undefined where it is at fault. */
function readTtl(node: YamlMapping, subject: string, state: ParseState): Ttl | null | undefined {
  const ttl = lookUp(node, 'ttl')
  if (ttl === undefined) return state.defaultTtl
  if (state.invalid.has(ttl) || isBroken(ttl)) return undefined
  const parsed = parseTtlNode(ttl)
  if (parsed.ok) return parsed.value
  state.problems.report('ttl-invalid', ttl.at, subject, parsed.message)
  return undefined
}

function readValues(node: YamlMapping, context: ValueContext, owner: Owner, ttl: Ttl | null): void {
  const { problems, invalid, layout, records } = context.state
  const value = lookUp(node, 'value')
  const values = lookUp(node, 'values')
  const given = values ?? value
  if (given === undefined) {
    if (!invalid.has(node)) problems.report('value-missing', node.at, context.subject, 'the record has neither value nor values')
    return
  }
  if (invalid.has(given) || isBroken(given)) return
  if (value !== undefined && values !== undefined) {
    const severity = layout === 'octodns' ? 'warning' : 'error'
    problems.report('schema-value', value.at, context.subject, 'the record has both value and values; only values counts', { severity })
  }
  const items = given.kind === 'sequence' ? given.items : [given]
  if (items.length === 0) {
    problems.report('value-missing', given.at, context.subject, 'the list of values is empty')
    return
  }
  for (const item of items) {
    if (problems.isFull()) return
    const data = readValue(item, context)
    if (data !== null) records.push({ name: owner.name, type: context.type, ttl, data, at: item.at })
  }
}

/** What octoDNS's `octodns:` key of a record says. */
interface RecordExtras {
  readonly ignored: boolean
  readonly included: readonly string[]
  readonly excluded: readonly string[]
  readonly lenient: boolean
  /** Keys that have no meaning here, such as `healthcheck` or a provider's name. */
  readonly others: readonly YamlScalar[]
}

const NO_EXTRAS: RecordExtras = { ignored: false, included: [], excluded: [], lenient: false, others: [] }

const KEYS = ['ignored', 'included', 'excluded', 'lenient'] as const

/**
 * Reads an `octodns:` mapping. Keys of providers are their own business and are handed back in `others`; a key that looks
 * misspelt is reported with the severity given.
 */
function readExtras(node: YamlNode, subject: string, problems: DiagnosticCollector, misspelt: Severity): RecordExtras {
  if (isNull(node) || isBroken(node)) return NO_EXTRAS
  if (node.kind !== 'mapping') {
    problems.report('schema-type', node.at, subject, 'octodns is a mapping')
    return NO_EXTRAS
  }
  const extras = { ignored: false, lenient: false, included: [] as string[], excluded: [] as string[], others: [] as YamlScalar[] }
  for (const { key, value } of node.entries) {
    switch (key.text) {
      case 'ignored':
      case 'lenient':
        extras[key.text] = readBoolean(value, `octodns.${key.text}`, subject, problems)
        break
      case 'included':
      case 'excluded':
        extras[key.text] = readNames(value, `octodns.${key.text}`, subject, problems)
        break
      default: {
        const hint = value.kind === 'mapping' ? undefined : didYouMean(key.text, KEYS)
        if (hint === undefined) extras.others.push(key)
        else
          problems.report('schema-unknown-key', key.at, subject, `octodns has no key ${JSON.stringify(key.text)}`, {
            hint,
            severity: misspelt,
          })
      }
    }
  }
  return extras
}

/** octoDNS reads YAML 1.1, where `yes` and `on` are booleans too. */
function readBoolean(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): boolean {
  if (isBroken(node)) return false
  if (node.kind === 'scalar' && node.plain) {
    if (/^(?:true|yes|on)$/i.test(node.text)) return true
    if (/^(?:false|no|off)$/i.test(node.text) || isNull(node)) return false
  }
  problems.report('schema-type', node.at, subject, `${name} is true or false`)
  return false
}

function readNames(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): string[] {
  if (isBroken(node) || isNull(node)) return []
  const items = node.kind === 'sequence' ? node.items : [node]
  const names: string[] = []
  for (const item of items) {
    if (item.kind === 'scalar' && !isNull(item)) names.push(item.text)
    else if (!isBroken(item)) problems.report('schema-type', item.at, subject, `${name} is a list of names of providers`)
  }
  return names
}
