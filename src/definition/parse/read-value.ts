/** Parses the value of a record. */
import { isIPv4, isIPv6 } from 'node:net'
import type { SourcePosition } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { MAX_RDATA_OCTETS, MAX_STRING_OCTETS, octetsToTxtRdata, stringToTxtRdata } from '../../dns/character-string.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalField, canonicalRdata } from '../../dns/rdata/canonical.ts'
import { presentationTokens, type Token } from '../../dns/rdata/field.ts'
import { parseGenericForm } from '../../dns/rdata/generic-form.ts'
import { digestProblem, rdataProblem } from '../../dns/rdata/rdata-problem.ts'
import { type FieldKind, takesRest } from '../../dns/rdata/rdata-types.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode, type YamlScalar, type YamlSequence } from '../yaml/yaml-node.ts'
import { kindName, looksOctal, reportUnknownKey, reportVariable, type ValueContext } from './parse-state.ts'
import { readTargetName, stringToken, txtOctets } from './read-scalar.ts'
import { type FormField, formKeys, LOCATION_KEYS, type ValueForm, valueForm } from './value-forms.ts'

/** The canonical data of one value of a record; null if it is invalid, which has been reported. */
export function readValue(node: YamlNode, context: ValueContext): string | null {
  const { state } = context
  if (state.invalid.has(node) || isBroken(node)) return null
  const form = valueForm(context.type)
  // In TXT a backslash is literal.
  if (node.kind === 'scalar' && /^\\#\s/.test(node.text) && form.shape !== 'text' && form.shape !== 'generic')
    return finish(node.at, parseGenericForm(context.type, words(node.text)), context)
  switch (form.shape) {
    case 'mapping':
    case 'location':
    case 'service':
      return readMapping(node, form, context)
    default:
      return readScalar(node, form, context)
  }
}

function readScalar(node: YamlNode, form: ValueForm, context: ValueContext): string | null {
  const { state, subject, type } = context
  if (form.shape === 'text' && node.kind === 'mapping' && state.layout === 'settings') return readStrings(node, context)
  if (node.kind !== 'scalar') {
    state.problems.report('schema-type', node.at, subject, `the value must be a single text, not ${kindName(node)}`)
    return null
  }
  if (isNull(node)) {
    state.problems.report('value-missing', node.at, subject, 'the value is empty', { hint: 'Quote it if it is meant as text.' })
    return null
  }
  if (form.shape === 'text') {
    // A text may have the characters. octoDNS has no variables.
    if (state.layout === 'settings') reportVariable(node, subject, state, 'warning')
    return finish(node.at, textData(node.text, context), context)
  }
  if (form.shape === 'scalar') return readField(form.kind, node, '', context)
  if (reportVariable(node, subject, state)) return null
  const tokens = form.shape === 'presentation' ? presentationTokens(node.text) : ok(words(node.text))
  if (!tokens.ok) return finish(node.at, tokens, context)
  return finish(
    node.at,
    canonicalRdata(type, tokens.value, (text) => resolveTargetName(text, node.at, '', context)),
    context,
  )
}

function textData(text: string, { state }: ValueContext): Result<string> {
  if (text.length <= MAX_STRING_OCTETS && !text.includes('"') && !text.includes('\\')) return ok(stringToTxtRdata(text))
  const octets = txtOctets(text, state.layout, state.escapesSemicolons)
  const length = octets.length + Math.max(1, Math.ceil(octets.length / MAX_STRING_OCTETS))
  return length > MAX_RDATA_OCTETS
    ? failure(`the text takes ${length} octets; a record has at most ${MAX_RDATA_OCTETS}`)
    : ok(octetsToTxtRdata(octets))
}

/** Reads `{rdata: …}`: TXT strings as in a zone file, for unusual string boundaries or octets that are not text. */
function readStrings(node: YamlMapping, context: ValueContext): string | null {
  const strings = lookUp(node, 'rdata')
  if (!isText(strings, context)) return null
  const tokens = presentationTokens(strings.text)
  return finish(strings.at, tokens.ok ? canonicalRdata(context.type, tokens.value, noNames) : tokens, context)
}

function readMapping(node: YamlNode, form: ValueForm, context: ValueContext): string | null {
  const { state, subject, type } = context
  if (node.kind !== 'mapping') {
    if (isNull(node)) state.problems.report('value-missing', node.at, subject, 'the value is empty')
    else {
      const hint = `Write {${formKeys(form)
        .map((key) => `${key}: …`)
        .join(', ')}}.`
      state.problems.report('schema-type', node.at, subject, `the value must be keys with values, not ${kindName(node)}`, { hint })
    }
    return null
  }
  if (form.shape === 'mapping') return readFields(node, form.fields, context)
  const tokens = (form.shape === 'location' ? locationTokens : serviceTokens)(node, context)
  if (tokens === null) return null
  return finish(
    node.at,
    canonicalRdata(type, tokens, (text) => resolveTargetName(text, node.at, '', context)),
    context,
  )
}

function readFields(node: YamlMapping, fields: readonly FormField[], context: ValueContext): string | null {
  const { problems, invalid } = context.state
  const given = fieldNodes(node, fields, context)
  let data = ''
  let isComplete = true
  for (const field of fields) {
    const value = given.get(field.key)
    let part: string | null = null
    if (value !== undefined) part = readFieldNode(field, value, data, context)
    else if (field.defaultValue !== null) part = field.defaultValue
    else if (!invalid.has(node)) problems.report('schema-missing-key', node.at, context.subject, `the key ${field.key} is missing`)
    if (part === null) isComplete = false
    else if (part !== '') data = data === '' ? part : `${data} ${part}`
  }
  if (!isComplete) return null
  const problem = rdataProblem(context.type, data)
  if (problem === null) return data
  const field = fields[problem.field]
  const at = given.get(field?.key ?? '')?.at ?? node.at
  return finish(at, failure(problem.message), context, `${field?.key}: `)
}

/** The nodes of a value's fields by key; aliases are resolved. */
function fieldNodes(node: YamlMapping, fields: readonly FormField[], context: ValueContext): Map<string, YamlNode> {
  const given = new Map<string, YamlNode>()
  const renamed = oldDelegationKeys(node, context.type)
  for (const { key, value } of node.entries) {
    const text = renamed?.[key.text] ?? key.text
    const field = fields.find((candidate) => candidate.key === text) ?? fields.find((candidate) => candidate.alias === text)
    if (!field)
      reportUnknownKey(
        key,
        fields.map((candidate) => candidate.key),
        context,
      )
    else if (field.key === text || !given.has(field.key)) given.set(field.key, value)
  }
  return given
}

/** Early octoDNS wrote DS with the keys of DNSKEY, and still accepts them (its record/ds.py). */
function oldDelegationKeys(node: YamlMapping, type: string): Readonly<Record<string, string>> | null {
  if (type !== 'DS' || !node.entries.some(({ key }) => key.text === 'flags' || key.text === 'public_key')) return null
  return { flags: 'key_tag', protocol: 'algorithm', algorithm: 'digest_type', public_key: 'digest' }
}

function readFieldNode(field: FormField, node: YamlNode, before: string, context: ValueContext): string | null {
  const { problems, invalid } = context.state
  if (invalid.has(node) || isBroken(node)) return null
  if (node.kind === 'sequence' && takesRest(field.kind)) return readParts(field, node, context)
  if (node.kind !== 'scalar') {
    problems.report('schema-type', node.at, context.subject, `${field.key} must be a single text or number, not ${kindName(node)}`)
    return null
  }
  if (isNull(node)) {
    problems.report('value-missing', node.at, context.subject, `${field.key} is empty`)
    return null
  }
  // The field before a digest says how many digits it has.
  const data = field.kind === 'hex' && /^(?:[0-9a-f]{2})*[0-9a-f]$/i.test(node.text) ? `${before} ${node.text}` : null
  const odd = data === null ? null : (rdataProblem(context.type, data) ?? digestProblem(context.type, data))
  if (odd) return finish(node.at, failure(`${quoted(node.text)} ${odd.message}`), context, `${field.key}: `, 'Copy the whole digest.')
  return readField(field.kind, node, field.key, context)
}

/** Reads a field with several parts that is written as a list, such as the types of NSEC. */
function readParts(field: FormField, node: YamlSequence, context: ValueContext): string | null {
  const tokens: Token[] = []
  for (const item of node.items) {
    if (context.state.invalid.has(item) || isBroken(item)) return null
    if (item.kind !== 'scalar' || isNull(item)) {
      context.state.problems.report('schema-type', item.at, context.subject, `${field.key} must be a list of texts`)
      return null
    }
    tokens.push(...words(item.text))
  }
  return finish(node.at, canonicalField(field.kind, tokens, noNames), context, `${field.key}: `)
}

/** The kinds of fields that may contain any text. */
const TEXT_KINDS: ReadonlySet<FieldKind> = new Set(['string', 'optional-string', 'text'])

function readField(kind: FieldKind, node: YamlScalar, key: string, context: ValueContext): string | null {
  const name = key === '' ? '' : `${key}: `
  if (!TEXT_KINDS.has(kind) && reportVariable(node, context.subject, context.state)) return null
  switch (kind) {
    case 'name': {
      const target = resolveTargetName(node.text, node.at, name, context)
      return target.ok ? target.value : null
    }
    case 'string':
    case 'optional-string':
    case 'text':
      return finish(node.at, canonicalField(kind, [stringToken(node.text, context.state.layout)], noNames), context, name)
    case 'script': {
      // One text, whatever blanks it has.
      const strings = presentationTokens(octetsToTxtRdata(Buffer.from(node.text, 'utf8')))
      return finish(node.at, strings.ok ? canonicalField(kind, strings.value, noNames) : strings, context, name)
    }
    case 'u8':
    case 'u16':
    case 'u32':
    case 'u64':
    case 'seconds':
      if (looksOctal(node))
        return finish(
          node.at,
          failure(`${node.text} begins with a zero, so some YAML parsers read it as octal: write ${Number(node.text)}`),
          context,
          name,
        )
      break
    default:
      if (takesRest(kind)) return finish(node.at, canonicalField(kind, words(node.text), noNames), context, name)
  }
  const field = canonicalField(kind, [{ text: node.text, quoted: false }], noNames)
  return finish(node.at, field, context, name, /^A(?:AAA)?$/.test(context.type) ? addressHint(node.text, context.type) : undefined)
}

/** What was meant by a text that is no address of the type; undefined if that is unknown. */
function addressHint(text: string, type: string): string | undefined {
  const parts = text.split(/[\s,]+/)
  const types = parts.map((part) => (isIPv4(part) ? 'A' : isIPv6(part) ? 'AAAA' : null))
  if (parts.length > 1) return types.includes(null) ? undefined : `Write values: [${parts.join(', ')}].`
  if (types[0] !== null) return types[0] === type ? undefined : `Write type: ${types[0]}.`
  return /^[\w.-]+\.[a-z]+\.?$/i.test(text) ? `Write the address, or {type: CNAME, value: ${text.replace(/\.?$/, '.')}}.` : undefined
}

/** Stands in for reading names in fields that have none. */
const noNames = (): Result<DomainName> => failure('has no names')

/** Reads a name, and reports why it is invalid or how an ambiguous one was read. */
function resolveTargetName(text: string, at: SourcePosition, prefix: string, context: ValueContext): Result<DomainName> {
  const { zone, layout, problems } = context.state
  const target = readTargetName(text, zone, layout)
  if (!target.ok) {
    problems.report(target.code, at, context.subject, prefix + target.message, { hint: target.hint })
    return failure('')
  }
  if (target.warning !== undefined) {
    const cause = { subject: 'target', message: 'without the final dot, read as absolute names' }
    problems.report('target-relative', at, context.subject, prefix + target.warning, { severity: 'warning', hint: target.hint, cause })
  }
  return target
}

/** The value of a result. A failure is reported, unless its message is empty, which means that it has been. */
function finish(at: SourcePosition, result: Result<string>, context: ValueContext, prefix = '', hint?: string): string | null {
  if (result.ok) return result.value
  if (result.message !== '') context.state.problems.report('value-invalid', at, context.subject, prefix + result.message, { hint })
  return null
}

const words = (text: string): Token[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ text: word, quoted: false }))

/** Keys of a LOC value in metres. */
const METRES: ReadonlySet<string> = new Set(['altitude', 'size', 'precision_horz', 'precision_vert'])

/** The presentation form of a LOC value (RFC 1876 section 3) as tokens; null after reporting a missing or invalid key. */
function locationTokens(node: YamlMapping, context: ValueContext): Token[] | null {
  const texts = scalarTexts(node, LOCATION_KEYS, context)
  return (
    texts && LOCATION_KEYS.map((key) => token(METRES.has(key) ? `${(texts.get(key) ?? '').replace(/m$/, '')}m` : (texts.get(key) ?? '')))
  )
}

/** The presentation form of an SVCB or HTTPS value (RFC 9460 section 2.1) as tokens; null after reporting a problem. */
function serviceTokens(node: YamlMapping, context: ValueContext): Token[] | null {
  const texts = scalarTexts(node, ['svcpriority', 'targetname'], context)
  const parameters = lookUp(node, 'svcparams')
  const tokens = parameters === undefined || isNull(parameters) ? [] : parameterTokens(parameters, context)
  if (texts === null || tokens === null) return null
  return [token(texts.get('svcpriority') ?? ''), token(texts.get('targetname') ?? ''), ...tokens]
}

/** The texts of these keys; null if one has none. */
function scalarTexts(node: YamlMapping, keys: readonly string[], context: ValueContext): Map<string, string> | null {
  const texts = new Map<string, string>()
  for (const key of keys) {
    const value = lookUp(node, key)
    if (!isText(value, context)) return null
    texts.set(key, value.text)
  }
  return texts
}

/** Whether a node is text or a number. For TXT, LOC, SVCB and HTTPS, the check by the schema has reported any other node. */
const isText = (node: YamlNode | undefined, { state: { invalid } }: ValueContext): node is YamlScalar =>
  node?.kind === 'scalar' && !isNull(node) && !isBroken(node) && !invalid.has(node)

function parameterTokens(node: YamlNode, context: ValueContext): Token[] | null {
  const { invalid } = context.state
  if (node.kind !== 'mapping' || invalid.has(node)) return null
  const tokens: Token[] = []
  for (const { key, value } of node.entries) {
    const items = value.kind === 'sequence' ? value.items : [value]
    const texts: string[] = []
    for (const item of items) {
      if (item.kind !== 'scalar' || isBroken(item) || invalid.has(item)) return null
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
