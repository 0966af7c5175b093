import type { Token } from '../../dns/rdata/field.ts'
import { isBroken, isNull, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { kindName, reportUnknownKey, type ValueContext } from './parse-state.ts'
import { LOCATION_KEYS, SERVICE_KEYS } from './value-forms.ts'

/** Keys of a LOC value in metres. */
const METRES: ReadonlySet<string> = new Set(['altitude', 'size', 'precision_horz', 'precision_vert'])

/** The presentation form of a LOC value (RFC 1876 section 3) as tokens; null after reporting a missing or invalid key. */
export function locationTokens(node: YamlMapping, context: ValueContext): Token[] | null {
  const texts = scalarTexts(node, LOCATION_KEYS, LOCATION_KEYS, context)
  return (
    texts && LOCATION_KEYS.map((key) => token(METRES.has(key) ? `${(texts.get(key) ?? '').replace(/m$/, '')}m` : (texts.get(key) ?? '')))
  )
}

/** The presentation form of an SVCB or HTTPS value (RFC 9460 section 2.1) as tokens; null after reporting a problem. */
export function serviceTokens(node: YamlMapping, context: ValueContext): Token[] | null {
  const texts = scalarTexts(node, SERVICE_KEYS, ['svcpriority', 'targetname'], context)
  const parameters = node.entries.find(({ key }) => key.text === 'svcparams')?.value
  const tokens = parameters === undefined || isNull(parameters) ? [] : parameterTokens(parameters, context)
  if (texts === null || tokens === null) return null
  return [token(texts.get('svcpriority') ?? ''), token(texts.get('targetname') ?? ''), ...tokens]
}

/** The texts of the required keys, which must be scalars; null after reporting a problem. */
function scalarTexts(
  node: YamlMapping,
  keys: readonly string[],
  required: readonly string[],
  context: ValueContext,
): Map<string, string> | null {
  const { problems, invalid } = context.state
  const texts = new Map<string, string>()
  let isValid = true
  for (const { key, value } of node.entries) {
    if (!keys.includes(key.text)) reportUnknownKey(key, keys, context)
    else if (!required.includes(key.text)) continue
    else if (invalid.has(value) || isBroken(value)) isValid = false
    else if (value.kind !== 'scalar') {
      problems.report('schema-type', value.at, context.subject, `${key.text} must be a single text or number, not a ${kindName(value)}`)
      isValid = false
    } else if (isNull(value)) {
      problems.report('value-missing', value.at, context.subject, `${key.text} is empty`)
      isValid = false
    } else texts.set(key.text, value.text)
  }
  for (const key of required) {
    if (node.entries.some((entry) => entry.key.text === key)) continue
    if (!invalid.has(node)) problems.report('schema-missing-key', node.at, context.subject, `${key} is missing`)
    isValid = false
  }
  return isValid ? texts : null
}

function parameterTokens(node: YamlNode, context: ValueContext): Token[] | null {
  const { problems, invalid } = context.state
  if (invalid.has(node) || isBroken(node)) return null
  if (node.kind !== 'mapping') {
    problems.report('schema-type', node.at, context.subject, `svcparams must be a mapping, not a ${kindName(node)}`, {
      hint: 'Write {alpn: [h2, h3]}.',
    })
    return null
  }
  const tokens: Token[] = []
  for (const { key, value } of node.entries) {
    const items = value.kind === 'sequence' ? value.items : [value]
    const texts: string[] = []
    for (const item of items) {
      if (isBroken(item) || invalid.has(item)) return null
      if (item.kind !== 'scalar') {
        problems.report('schema-type', item.at, context.subject, `${key.text} must be text or a list of texts, not a ${kindName(item)}`)
        return null
      }
      texts.push(item.text)
    }
    const isEmpty = value.kind === 'scalar' && isNull(value)
    // In the list of alpn identifiers a comma or backslash is escaped first, before the string is (RFC 9460 appendix A.1).
    const values = value.kind === 'sequence' && key.text === 'alpn' ? texts.map((text) => text.replace(/[\\,]/g, '\\$&')) : texts
    tokens.push(token(isEmpty ? key.text : `${key.text}=${escaped(values.join(','))}`))
  }
  return tokens
}

/** Text as part of an unquoted token of zone-file text. */
const escaped = (text: string): string =>
  text.replace(/[\\"();\s]/g, (c) => (c === '\\' ? '\\\\' : `\\${String(c.charCodeAt(0) & 0xff).padStart(3, '0')}`))

const token = (text: string): Token => ({ text, quoted: false })
