/** Parses `from:` of a record and `sources:` of a definition: values that are read when the zone is planned. */
import { quoted } from '../../base/text.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import type { Ownership } from '../../dns/ownership.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import {
  INVENTORY_CONDITIONS,
  INVENTORY_KINDS,
  type InventoryCondition,
  type InventoryKind,
  type InventoryQuery,
  MAX_QUARANTINE,
  type OwnQuarantine,
  type SourcedRrset,
  type ZonePattern,
  type ZoneQuery,
} from '../../dns/zone-source.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { type DiagnosticCollector, kindName, type Owner, type ValueContext } from './parse-state.ts'
import { parseTtlNode } from './read-scalar.ts'

/** Maximum length of a condition's value in characters. */
const MAX_CONDITION = 255

const EXAMPLE = 'Write {type: A, from: {provider: NAME}}, or {type: A, from: {instances: {tag: web}}}.'

/** The conditions that select objects of a kind. */
const conditionsOf = (kind: InventoryKind): readonly InventoryCondition[] =>
  kind === 'instances' ? INVENTORY_CONDITIONS : INVENTORY_CONDITIONS.filter((condition) => condition !== 'group')

/** Reports a problem of a node, and returns null. */
type Fail = (detail: string, node?: YamlNode) => null

/** Reads `from:` of a record: a query for values, which is sent when the zone is planned. `ttl` is that of the record or the default. */
export function readSource(
  record: YamlMapping,
  from: YamlNode,
  context: ValueContext,
  owner: Owner,
  { ttl, ...common }: Pick<SourcedRrset, 'ttl' | 'ignore'> & Ownership,
): void {
  const { type, subject, state } = context
  const { problems, invalid } = state
  if (isBroken(from) || invalid.has(from)) return
  const report: Fail = (detail, node = from) => {
    problems.report('schema-value', node.at, subject, detail, { hint: EXAMPLE })
    return null
  }
  const values = lookUp(record, 'values') ?? lookUp(record, 'value')
  const hasAddresses = type === 'A' || type === 'AAAA'
  if (state.layout === 'octodns') report('"from" is only supported in the layout with "domain:" above the records')
  else if (values !== undefined) report('the record has both values and "from"; split it into two records', values)
  if (from.kind !== 'mapping') return void report(`"from" must be keys with values, not ${kindName(from)}`)
  const isZone = INVENTORY_KINDS.every((kind) => lookUp(from, kind) === undefined)
  if (!isZone && !hasAddresses) report(`"from" returns addresses, so the type must be A or AAAA, not ${type}`)
  const query = isZone ? readZoneQuery(from, owner.name, state.zone, report, invalid) : readQuery(from, report, invalid)
  const quarantine = readQuarantine(from, report, invalid)
  if (state.layout === 'octodns' || values !== undefined || query === null || quarantine === null) return
  if (!isZone && !hasAddresses) return
  // The records of a zone have a TTL, so they need no default.
  const own = isZone && lookUp(record, 'ttl') === undefined ? null : ttl
  state.sourced.push({ name: owner.name, type, ttl: own, ...common, query, ...quarantine, at: from.at })
}

/** The zone at a provider, and the name in it: those of the record unless they are given. */
function readZoneQuery(
  from: YamlMapping,
  owner: DomainName,
  zone: DomainName,
  fail: Fail,
  invalid: ReadonlySet<YamlNode>,
): ZoneQuery | null {
  const place = readPlace(from, zone, fail, invalid)
  if (place === null) return null
  const node = lookUp(from, 'name')
  if (node !== undefined && invalid.has(node)) return null
  const own = owner === zone ? '@' : owner.slice(0, -zone.length - 1)
  const text = node === undefined ? own : textOf(node)
  const name = text === null ? null : parseDomainName(text, place.zone)
  if (name?.ok !== true) return fail(name === null ? 'name must be a name in the zone' : `name: ${name.message}`, node)
  if (!isAtOrBelow(name.value, place.zone)) return fail(`${name.value} is not in ${place.zone}`, node)
  return { kind: 'zone', ...place, name: name.value }
}

/** `provider` and `zone`, which is the zone of the definition if it is absent. */
function readPlace(
  from: YamlMapping,
  zone: DomainName,
  fail: Fail,
  invalid: ReadonlySet<YamlNode>,
): Pick<ZoneQuery, 'provider' | 'zone'> | null {
  const [provider, other] = [lookUp(from, 'provider'), lookUp(from, 'zone')]
  for (const node of [provider, other]) if (node !== undefined && invalid.has(node)) return null
  if (provider === undefined)
    return fail(`"from" must have one of the keys ${INVENTORY_KINDS.join(' and ')}, or "provider" to read a zone there`)
  const name = textOf(provider)
  if (name === null) return fail('provider must be the name of a provider in the config', provider)
  if (other === undefined) return { provider: name, zone }
  const text = textOf(other)
  const parsed = text === null ? null : parseDomainName(text.endsWith('.') ? text : `${text}.`)
  if (parsed?.ok !== true) return fail(parsed === null ? 'zone must be the name of a zone' : `zone: ${parsed.message}`, other)
  return { provider: name, zone: parsed.value }
}

/** `quarantine` of a source; null if it is invalid. */
function readQuarantine(from: YamlMapping, fail: Fail, invalid: ReadonlySet<YamlNode>): { readonly quarantine?: OwnQuarantine } | null {
  const node = lookUp(from, 'quarantine')
  if (node === undefined) return {}
  if (invalid.has(node) || isBroken(node)) return null
  if (node.kind !== 'mapping') return fail('quarantine must be a mapping such as {reads: 3, for: 30m}', node)
  const quarantine: { reads?: number; seconds?: number } = {}
  for (const { key, value } of node.entries) {
    if (invalid.has(key) || invalid.has(value)) return null
    if (key.text === 'reads') {
      const reads = value.kind === 'scalar' && /^[0-9]{1,4}$/.test(value.text) ? Number(value.text) : 0
      if (reads < 1 || reads > MAX_QUARANTINE.reads) return fail(`reads must be a number from 1 to ${MAX_QUARANTINE.reads}`, value)
      quarantine.reads = reads
    } else if (key.text === 'for') {
      const time = parseTtlNode(value)
      if (!time.ok || time.value > MAX_QUARANTINE.seconds) return fail('for must be a time of at most 30 days, such as 30m', value)
      quarantine.seconds = time.value
    } else return fail(`unknown key ${quoted(key.text)}: quarantine has reads and for`, key)
  }
  return { quarantine }
}

/** Reads an entry of `sources:`; null if it is invalid. */
export function readPattern(
  node: YamlNode,
  zone: DomainName,
  invalid: ReadonlySet<YamlNode>,
  problems: DiagnosticCollector,
): ZonePattern | null {
  const fail: Fail = (detail, at = node) => {
    problems.report('setting-invalid', at.at, zone, `sources: ${detail}`, {
      hint: 'Write sources: [{provider: NAME, name: "*.apps", type: A}].',
    })
    return null
  }
  if (node.kind !== 'mapping') return fail(`an entry must be keys with values, not ${kindName(node)}`)
  const place = readPlace(node, zone, fail, invalid)
  const quarantine = readQuarantine(node, fail, invalid)
  const [name, type] = [lookUp(node, 'name'), lookUp(node, 'type')]
  if (place === null || quarantine === null || [name, type].some((one) => one !== undefined && invalid.has(one))) return null
  if (name !== undefined && textOf(name) === null) return fail('name must be a name or a pattern such as *.apps', name)
  const typeText = type === undefined ? undefined : textOf(type)
  if (typeText === null || (typeText !== undefined && !parseRecordType(typeText).ok)) return fail('type must be a record type', type)
  return {
    ...place,
    ...(name !== undefined && { name: textOf(name) as string }),
    ...(typeText !== undefined && { type: typeText.toUpperCase() }),
    ...quarantine,
    at: node.at,
  }
}

function readQuery(from: YamlMapping, fail: Fail, invalid: ReadonlySet<YamlNode>): InventoryQuery | null {
  const kinds = INVENTORY_KINDS.filter((kind) => lookUp(from, kind) !== undefined)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) return fail(`"from" must have exactly one of the keys ${INVENTORY_KINDS.join(' and ')}`)
  const stray = from.entries.find(({ key }) => key.text === 'zone' || key.text === 'name')
  if (stray !== undefined)
    return fail(`${stray.key.text} selects a record set of a zone; ${kind} selects addresses: use one of them`, stray.key)
  const conditions = lookUp(from, kind) as YamlNode
  if (isBroken(conditions) || invalid.has(conditions)) return null
  if (conditions.kind !== 'mapping') return fail(`${kind} must be conditions with values, not ${kindName(conditions)}`, conditions)
  const provider = lookUp(from, 'provider')
  if (provider !== undefined && textOf(provider) === null) return fail('provider must be the name of a provider in the config', provider)
  const known: readonly string[] = conditionsOf(kind)
  const found: Partial<Record<InventoryCondition, string>> = {}
  for (const { key, value } of conditions.entries) {
    if (invalid.has(key) || invalid.has(value) || isBroken(value)) return null
    if (!known.includes(key.text)) return fail(`unknown condition ${quoted(key.text)}: ${kind} can be selected by ${known.join(', ')}`, key)
    const text = textOf(value)
    if (text === null) return fail(`${key.text} must be a text of 1 to ${MAX_CONDITION} characters`, value)
    found[key.text as InventoryCondition] = text
  }
  // Without a condition the query would select every machine of the account, even the database.
  if (Object.keys(found).length === 0) return fail(`${kind} needs at least one condition: ${known.join(', ')}`, conditions)
  return { kind, provider: provider === undefined ? null : textOf(provider), ...found }
}

const textOf = (node: YamlNode): string | null =>
  node.kind === 'scalar' && !isBroken(node) && !isNull(node) && node.text !== '' && node.text.length <= MAX_CONDITION ? node.text : null
