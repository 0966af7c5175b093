/** Parses the records of one name. */
import { isError, type Severity, type SourcePosition } from '../../base/diagnostic.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { excerpt, quoted } from '../../base/text.ts'
import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import type { Ownership } from '../../dns/ownership.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { type DefinedRecord, type RecordSettings, rrsetKey } from '../../dns/record.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import type { Suppression } from '../../dns/suppression.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { entryOf, isBroken, isNull, lookUp, type YamlMapping, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, kindName, type Owner, type ParseState, type RefusedRrset, type ValueContext } from './parse-state.ts'
import { hasRecordSettings, readOwnership, readRecordSettings } from './read-record-settings.ts'
import { parseTtlNode } from './read-scalar.ts'
import { readSource } from './read-source.ts'
import { readSuppressions } from './read-suppressions.ts'
import { readValue } from './read-value.ts'
import { checkRecord, isCommonRecord } from './schema-check.ts'

/** octoDNS's keys that no target supports. */
const UNSUPPORTED_KEYS: ReadonlySet<string> = new Set(['geo', 'dynamic', 'healthcheck'])

/** Reads one record entry of a name (an RRset or a part of one) into the state. */
export function readRecord(node: YamlNode, owner: Owner, state: ParseState): void {
  const { problems } = state
  problems.count(owner.at, 1, 0)
  if (isBroken(node)) return
  if (node.kind !== 'mapping') {
    const message = isNull(node) ? 'the name has no record' : `a record must be keys with values, not ${kindName(node)}`
    problems.report('schema-type', node.at, owner.label, message, { hint: 'Write {type: A, value: 192.0.2.1}.' })
    return
  }
  const reported = problems.diagnostics.length
  const isCommon = isCommonRecord(node)
  const deferred = isCommon ? [] : checkRecord(node, subjectOf(node, owner), state.layout, state.invalid, problems)
  const read = state.records.length
  const type = isCommon ? readCommon(node, owner, state) : readChecked(node, owner, state)
  // A record that the schema refuses is never valid, even if the reader found no error.
  if (deferred.length > 0 && !problems.diagnostics.slice(reported).some(isError))
    for (const problem of deferred) problems.report('schema-value', problem.node.at, problem.subject, problem.message)
  if (type !== null && state.lenient.size > 0) noteRefusedLenient(node, { name: owner.name, type }, { reported, read }, state)
}

/** Notes a record set that octoDNS takes because it is lenient, and whose data or TTL is invalid here. */
function noteRefusedLenient(
  node: YamlMapping,
  rrset: Pick<RefusedRrset, 'name' | 'type'>,
  before: { readonly reported: number; readonly read: number },
  { problems, records, lenient, refusedLenient }: ParseState,
): void {
  if (!lenient.has(rrsetKey(rrset)) || rrset.type.includes('/') || problems.isFull()) return
  const errors = problems.diagnostics.slice(before.reported).filter(isError)
  const values = lookUp(node, 'values') ?? lookUp(node, 'value')
  const count = values?.kind === 'sequence' ? values.items.length : 1
  // Errors in a node that aliases repeat are reported once, so the number of records matters too.
  if (errors.length > 0 || records.length - before.read < count) refusedLenient.push({ ...rrset, at: node.at, errors })
}

/** Owner and, if it is readable, type for messages. */
function subjectOf(node: YamlMapping, owner: Owner): string {
  const type = lookUp(node, 'type')
  return type?.kind === 'scalar' && !isNull(type) ? `${owner.label} ${type.text.slice(0, 40)}` : owner.label
}

/** Like `readChecked`, for a record with only the keys of `isCommonRecord`. */
function readCommon(node: YamlMapping, owner: Owner, state: ParseState): string | null {
  const type = readType(node, owner, state)
  if (type === null) return null
  const subject = `${owner.label} ${type}`
  const ttl = readTtl(node, subject, state)
  if (ttl === undefined) return type
  const others =
    node.entries.length === 2 ? null : { autoPtr: readAutoPtr(node, owner, type, state), ...readOwnership(node, subject, state) }
  readValues(node, { type, subject, state }, owner, ttl, others)
  return type
}

/** Reads a record into the state. Returns its type, or null if it is unknown. */
function readChecked(node: YamlMapping, owner: Owner, state: ParseState): string | null {
  const { problems } = state
  const type = readType(node, owner, state)
  if (type === null) return null
  const subject = `${owner.label} ${type}`
  const alias = type === ROUTE53_ALIAS ? readRoute53Alias(node, owner.name, state.zone) : null
  if (alias !== null) {
    applyOctodnsOptions(octodnsOptionsOf(node, subject, state), owner, alias.type, state)
    state.records.push(alias)
    return alias.type
  }
  if (type.includes('/')) {
    const detail = `the type ${type} exists only at another provider; no target supports it`
    problems.report('type-foreign', (lookUp(node, 'type') ?? node).at, owner.label, detail, { severity: 'warning' })
    state.providerSpecific.push({ name: owner.name, type, at: node.at })
  }
  const options = octodnsOptionsOf(node, subject, state)
  applyOctodnsOptions(options, owner, type, state)
  if (type.includes('/')) return type
  reportUnsupportedKeys(node, options, owner, type, state)
  readMergeFlags(node, owner, type, state)
  const ttl = readTtl(node, subject, state)
  if (ttl === undefined) return type
  const from = lookUp(node, 'from')
  const autoPtr = readAutoPtr(node, owner, type, state)
  const providerSettings = readSettings(node, options, subject, state)
  const ignore = readIgnore(node, subject, state)
  const common = { ...(ignore !== undefined && { ignore }), ...readOwnership(node, subject, state) }
  if (from === undefined) readValues(node, { type, subject, state }, owner, ttl, { ...common, autoPtr, providerSettings })
  else readSource(node, from, { type, subject, state }, owner, { ttl, ...common })
  return type
}

/** What to write instead of the names that providers and other tools give to types. */
const REDIRECTION =
  'DNS cannot redirect: point an A or CNAME record to a web server that does. A provider that forwards URLs, such as NS1 through octoDNS, takes URLFWD.'
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ANAME: 'Write ALIAS.',
  REDIRECT: REDIRECTION,
  URL: REDIRECTION,
  URL301: REDIRECTION,
  FORWARD: REDIRECTION,
}

function readType(node: YamlMapping, owner: Owner, { problems, invalid }: ParseState): string | null {
  const type = lookUp(node, 'type')
  // Without a text, the check by the schema has reported it.
  if (type?.kind !== 'scalar' || isNull(type) || isBroken(type) || invalid.has(type)) return null
  if (RDATA_TYPES.has(type.text)) return type.text
  // A type of a provider, such as Route53Provider/ALIAS.
  if (/^[\w.-]{1,100}\/[\w./-]{1,100}$/.test(type.text)) return type.text
  const parsed = parseRecordType(type.text)
  if (parsed.ok && (parsed.value === type.text || type.text.startsWith('TYPE'))) return parsed.value
  const other = OTHER_NAMES[type.text.toUpperCase()] ?? didYouMean(type.text, RDATA_TYPES.keys())
  const hint = parsed.ok ? `Write ${parsed.value}.` : other
  problems.report('type-unknown', type.at, owner.label, `${quoted(type.text)} is not a record type`, {
    hint: hint ?? 'Write any other type with its number, such as TYPE123 (RFC 3597).',
  })
  return null
}

function octodnsOptionsOf(node: YamlMapping, subject: string, { problems, layout }: ParseState): OctodnsOptions {
  const octodns = lookUp(node, 'octodns')
  return octodns === undefined
    ? NO_OCTODNS_OPTIONS
    : readOctodnsOptions(octodns, subject, problems, layout === 'octodns' ? 'warning' : 'error')
}

function applyOctodnsOptions(options: OctodnsOptions, owner: Owner, type: string, state: ParseState): void {
  const { ignored, included, excluded, lenient } = options
  if (lenient) state.lenient.add(rrsetKey({ name: owner.name, type }))
  if (ignored || included.length > 0 || excluded.length > 0)
    state.rrsetTargets.push({ name: owner.name, type, ignored, included, excluded })
}

/** Reads `override: true` of a definition and `merge: true` of a fragment, which say how to combine the RRsets of several files. */
function readMergeFlags(node: YamlMapping, owner: Owner, type: string, { problems, invalid, source, layout }: ParseState): void {
  for (const key of MERGE_FLAGS) {
    const entry = entryOf(node, key)
    if (entry === undefined || invalid.has(entry.value) || isBroken(entry.value)) continue
    const subject = `${owner.label} ${type}`
    const place = key === 'override' ? 'definition' : 'fragment'
    if (source?.kind !== place) {
      const where = key === 'override' ? 'in a definition, for records of its included files' : 'in an included file'
      const severity = layout === 'octodns' ? 'warning' : 'error'
      problems.report('schema-unknown-key', entry.key.at, subject, `${key} is allowed only ${where}`, { severity })
    } else if (entry.value.kind === 'scalar' && /^true$/i.test(entry.value.text)) {
      const set = rrsetKey({ name: owner.name, type })
      if (key === 'override') source.overriding.set(set, entry.key.at)
      else source.merged.add(set)
    }
  }
}

const MERGE_FLAGS = ['override', 'merge'] as const

/** Warns once of all keys that no target supports. */
function reportUnsupportedKeys(node: YamlMapping, options: OctodnsOptions, owner: Owner, type: string, state: ParseState): void {
  const unsupported: { readonly key: string; readonly at: SourcePosition }[] = []
  for (const { key } of node.entries) if (UNSUPPORTED_KEYS.has(key.text)) unsupported.push({ key: key.text, at: key.at })
  for (const key of options.unsupported) unsupported.push({ key: `octodns.${key.text}`, at: key.at })
  const [first] = unsupported
  if (first === undefined) return
  for (const { key, at } of unsupported) state.unsupportedKeys.push({ name: owner.name, type, key, at })
  const names = unsupported.map(({ key }) => JSON.stringify(key)).join(', ')
  const detail = `no target supports ${names}; only the values of the record are managed`
  state.problems.report('record-extra', first.at, `${owner.label} ${type}`, detail, { severity: 'warning' })
}

/** The TTL of a record, or the default; undefined if it is invalid, which is reported. */
function readTtl(node: YamlMapping, subject: string, state: ParseState): Ttl | null | undefined {
  const ttl = lookUp(node, 'ttl')
  if (ttl === undefined) return state.defaultTtl
  if (state.invalid.has(ttl) || isBroken(ttl)) return undefined
  const parsed = parseTtlNode(ttl)
  if (parsed.ok) return parsed.value
  state.problems.report('ttl-invalid', ttl.at, subject, parsed.message)
  return undefined
}

/** The value of `auto_ptr`; undefined if it is absent or invalid, which is reported. */
function readAutoPtr(node: YamlMapping, owner: Owner, type: string, { problems, invalid }: ParseState): boolean | undefined {
  const entry = entryOf(node, 'auto_ptr')
  if (entry === undefined || invalid.has(entry.value) || isBroken(entry.value)) return undefined
  const isTrue = entry.value.kind === 'scalar' && /^true$/i.test(entry.value.text)
  const report = (message: string, hint: string): undefined => {
    problems.report('schema-value', entry.key.at, `${owner.label} ${type}`, `auto_ptr ${message}`, { hint })
    return undefined
  }
  if (type !== 'A' && type !== 'AAAA') return report(`is for the addresses of A and AAAA records, not for ${type}`, 'Remove auto_ptr.')
  if (isTrue && lookUp(node, 'from') !== undefined)
    return report('needs addresses in the definition, not "from"', 'Write the PTR records into the reverse zone.')
  if (isTrue && owner.name.includes('*'))
    return report('is not possible here, because a PTR record cannot point at a wildcard', 'Remove auto_ptr.')
  return isTrue
}

/** The settings of the record by type of provider; the record's own key takes precedence over octoDNS's. Undefined if there are none. */
function readSettings(
  node: YamlMapping,
  options: OctodnsOptions,
  subject: string,
  { problems, invalid }: ParseState,
): DefinedRecord['providerSettings'] {
  const settings: Record<string, RecordSettings> = { ...options.settings }
  for (const { key, value } of node.entries) {
    if (!hasRecordSettings(key.text) || invalid.has(value)) continue
    const read = readRecordSettings(key.text, value, subject, problems)
    if (read !== undefined) settings[key.text] = { ...settings[key.text], ...read }
  }
  return Object.keys(settings).length === 0 ? undefined : settings
}

function readIgnore(node: YamlMapping, subject: string, { problems, invalid }: ParseState): readonly Suppression[] | undefined {
  const given = lookUp(node, 'ignore')
  if (given === undefined) return undefined
  const found = readSuppressions(given, invalid, (code, at, detail, hint) => problems.report(code, at, subject, detail, { hint }))
  return found.length === 0 ? undefined : found
}

function readValues(
  node: YamlMapping,
  context: ValueContext,
  owner: Owner,
  ttl: Ttl | null,
  others: (Pick<DefinedRecord, 'autoPtr' | 'providerSettings' | 'ignore'> & Ownership) | null,
): void {
  const { problems, invalid, layout, records } = context.state
  const value = lookUp(node, 'value')
  const values = lookUp(node, 'values')
  const given = values ?? value
  if (given === undefined || invalid.has(given) || isBroken(given)) return
  if (value !== undefined && values !== undefined) {
    const isRead = layout === 'octodns'
    const detail = `the record has both value and values${isRead ? '; octoDNS uses only values' : ''}`
    const all = [value, values].flatMap((one) => (one.kind === 'sequence' ? one.items : [one]))
    const list = excerpt(all.map((one) => (one.kind === 'scalar' ? one.text : '…')).join(', '), 80)
    const hint = `Write values: [${list}], and remove value.`
    problems.report('schema-value', value.at, context.subject, detail, { severity: isRead ? 'warning' : 'error', hint })
  }
  const items = given.kind === 'sequence' ? given.items : [given]
  if (items.length === 0) {
    problems.report('value-missing', given.at, context.subject, 'the list of values is empty', {
      hint: 'Write a value, or remove the record.',
    })
    return
  }
  // Most records have none of these; a plain record takes less memory.
  const extras = Object.entries(others ?? {}).filter(([, value]) => value !== undefined)
  for (const [index, item] of items.entries()) {
    if (problems.isFull()) return
    const data = readValue(item, context)
    // The record itself was counted already.
    problems.count(owner.at, index === 0 ? 0 : 1, data?.length ?? 0)
    if (data === null) continue
    const record = { name: owner.name, type: context.type, ttl, data, at: item.at }
    records.push(extras.length === 0 ? record : { ...record, ...Object.fromEntries(extras) })
  }
}

// Parses the `octodns:` key of a record.

/** The options of a record's `octodns:` key. */
interface OctodnsOptions {
  readonly ignored: boolean
  readonly included: readonly string[]
  readonly excluded: readonly string[]
  readonly lenient: boolean
  /** The settings of the record, by type of provider. */
  readonly settings: Readonly<Record<string, RecordSettings>>
  /** Keys that no target supports, such as `healthcheck` or the name of an octoDNS provider. */
  readonly unsupported: readonly YamlScalar[]
}

const NO_OCTODNS_OPTIONS: OctodnsOptions = {
  ignored: false,
  included: [],
  excluded: [],
  lenient: false,
  settings: {},
  unsupported: [],
}

const KEYS = ['ignored', 'included', 'excluded', 'lenient'] as const

/** Reads an `octodns:` mapping. An unknown key is taken for one of a provider, unless it looks misspelt: then it is reported with the severity `misspelt`. */
function readOctodnsOptions(node: YamlNode, subject: string, problems: DiagnosticCollector, misspelt: Severity): OctodnsOptions {
  if (isNull(node) || isBroken(node)) return NO_OCTODNS_OPTIONS
  if (node.kind !== 'mapping') {
    problems.report('schema-type', node.at, subject, 'octodns must be a mapping')
    return NO_OCTODNS_OPTIONS
  }
  const settings: Record<string, RecordSettings> = {}
  const options = {
    ignored: false,
    lenient: false,
    included: [] as string[],
    excluded: [] as string[],
    settings,
    unsupported: [] as YamlScalar[],
  }
  for (const { key, value } of node.entries) {
    switch (key.text) {
      case 'ignored':
      case 'lenient':
        options[key.text] = readBoolean(value, `octodns.${key.text}`, subject, problems)
        break
      case 'included':
      case 'excluded':
        options[key.text] = readNames(value, `octodns.${key.text}`, subject, problems)
        break
      default: {
        if (hasRecordSettings(key.text)) {
          const read = readRecordSettings(key.text, value, subject, problems)
          if (read !== undefined) settings[key.text] = read
          break
        }
        const hint = value.kind === 'mapping' ? undefined : didYouMean(key.text, KEYS)
        if (hint === undefined) options.unsupported.push(key)
        else
          problems.report('schema-unknown-key', key.at, subject, `unknown key ${JSON.stringify(key.text)} under octodns`, {
            hint,
            severity: misspelt,
          })
      }
    }
  }
  return options
}

/** A boolean as octoDNS reads it: in YAML 1.1 `yes` and `on` are true, too. */
function readBoolean(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): boolean {
  if (isBroken(node)) return false
  if (node.kind === 'scalar' && node.plain) {
    if (/^(?:true|yes|on)$/i.test(node.text)) return true
    if (/^(?:false|no|off)$/i.test(node.text) || isNull(node)) return false
  }
  problems.report('schema-type', node.at, subject, `${name} must be true or false`)
  return false
}

function readNames(node: YamlNode, name: string, subject: string, problems: DiagnosticCollector): string[] {
  if (isBroken(node) || isNull(node)) return []
  const items = node.kind === 'sequence' ? node.items : [node]
  const names: string[] = []
  for (const item of items) {
    if (item.kind === 'scalar' && !isNull(item)) names.push(item.text)
    else if (!isBroken(item)) problems.report('schema-type', item.at, subject, `${name} must be a list of provider names`)
  }
  return names
}

// Reads octoDNS's `Route53Provider/ALIAS`, aliases of the types A and AAAA, as one ALIAS record.

const ROUTE53_ALIAS = 'Route53Provider/ALIAS'

/** Aliases have the TTL of their target; Route 53 answers those of AWS resources with 60 seconds. */
const ALIAS_TTL = 60 as Ttl

/** The names of AWS resources, which octoDNS reads as absolute; any other name is below the zone. */
const SERVICE = /(?:^|\.)(?:amazonaws|cloudfront|elasticbeanstalk|awsglobalaccelerator)\.(?:com|net)(?:\.cn)?\.$/

/** The record; null if the values are not aliases of addresses with one target. */
function readRoute53Alias(node: YamlMapping, name: DomainName, zone: DomainName): DefinedRecord | null {
  const given = lookUp(node, 'values') ?? lookUp(node, 'value')
  if (given === undefined) return null
  const targets = new Set((given.kind === 'sequence' ? given.items : [given]).map((value) => targetOf(value, zone)))
  const [target] = targets
  if (targets.size !== 1 || target === undefined || target === null) return null
  // The hosted zone and the health check of an existing alias stay as they are.
  return { name, type: 'ALIAS', ttl: ALIAS_TTL, data: target, at: given.at, providerSettings: { route53: {} } }
}

function targetOf(value: YamlNode, zone: DomainName): DomainName | null {
  if (value.kind !== 'mapping') return null
  const [type, target] = [textOf(lookUp(value, 'type')), textOf(lookUp(value, 'name')) ?? '']
  if (type !== 'A' && type !== 'AAAA') return null
  if (target === '') return zone
  const parsed = parseDomainName(target, SERVICE.test(target) ? ROOT : zone)
  return parsed.ok ? parsed.value : null
}

const textOf = (node: YamlNode | undefined): string | null => (node?.kind === 'scalar' ? node.text : null)
