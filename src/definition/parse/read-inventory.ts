/** Parses `from:` of a record. */
import { quoted } from '../../dns/excerpt.ts'
import {
  INVENTORY_CONDITIONS,
  INVENTORY_KINDS,
  type InventoryCondition,
  type InventoryKind,
  type InventoryQuery,
  type InventoryRrset,
} from '../../dns/inventory.ts'
import type { Ownership } from '../../dns/ownership.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import type { Owner } from './parse-state.ts'
import { kindName, type ValueContext } from './parse-state.ts'

/** Maximum length of a condition's value in characters. */
const MAX_CONDITION = 255

const EXAMPLE = 'Write {type: A, from: {instances: {tag: web}}}.'

/** The conditions that select objects of a kind. */
const conditionsOf = (kind: InventoryKind): readonly InventoryCondition[] =>
  kind === 'instances' ? INVENTORY_CONDITIONS : INVENTORY_CONDITIONS.filter((condition) => condition !== 'group')

/** Reads `from:` of a record: a query for addresses, which are looked up when the zone is planned. */
export function readInventory(
  record: YamlMapping,
  from: YamlNode,
  context: ValueContext,
  owner: Owner,
  common: Pick<InventoryRrset, 'ttl' | 'ignore'> & Ownership,
): void {
  const { type, subject, state } = context
  const { problems, invalid } = state
  if (isBroken(from) || invalid.has(from)) return
  const report = (detail: string, node: YamlNode = from): null => {
    problems.report('schema-value', node.at, subject, detail, { hint: EXAMPLE })
    return null
  }
  const values = lookUp(record, 'values') ?? lookUp(record, 'value')
  if (state.layout === 'octodns') report('"from" is only supported in the layout with "domain:" above the records')
  else if (type !== 'A' && type !== 'AAAA') report(`"from" returns addresses, so the type must be A or AAAA, not ${type}`)
  else if (values !== undefined) report('the record has both values and "from"; split it into two records', values)
  const query = readQuery(from, report, invalid)
  if (state.layout === 'octodns' || values !== undefined) return
  if (query !== null && (type === 'A' || type === 'AAAA')) state.inventory.push({ name: owner.name, type, ...common, query, at: from.at })
}

function readQuery(from: YamlNode, fail: (detail: string, node?: YamlNode) => null, invalid: ReadonlySet<YamlNode>): InventoryQuery | null {
  if (from.kind !== 'mapping') return fail(`"from" must be a mapping, not a ${kindName(from)}`)
  const kinds = INVENTORY_KINDS.filter((kind) => lookUp(from, kind) !== undefined)
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) return fail(`"from" must have exactly one of the keys ${INVENTORY_KINDS.join(' and ')}`)
  const conditions = lookUp(from, kind) as YamlNode
  if (isBroken(conditions) || invalid.has(conditions)) return null
  if (conditions.kind !== 'mapping') return fail(`${kind} must be a mapping of conditions, not a ${kindName(conditions)}`, conditions)
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
