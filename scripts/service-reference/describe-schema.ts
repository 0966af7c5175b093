/** JSON Schemas as tables of fields, for people. */

// biome-ignore lint/suspicious/noExplicitAny: a schema is read at any depth
export type Schema = any

/** Schemas by their titles on a page. */
export type Records = Map<string, Schema>

/** A table of the fields of a schema's objects; fields of nested objects have dotted names. Names the required fields of a request. */
export function fieldTable(schema: Schema, records: Records, isRequest = false): string {
  const rows = rowsOf(schema, '', records, isRequest ? (schema.required ?? []) : [])
  if (rows.length === 0) return schema.additionalProperties === false ? 'An empty object: `{}`.\n' : 'Any JSON object.\n'
  return `| field | type | |\n| --- | --- | --- |\n${rows.join('\n')}\n${ignoredFields(schema)}`
}

const IGNORED = 'Set by the service; ignored in requests.'

const isIgnored = (property: Schema): boolean => property.description === IGNORED

/** A sentence about the fields of a request that the service sets. */
function ignoredFields(schema: Schema): string {
  const properties = Object.entries<Schema>(schema.properties ?? {})
  const names = properties.filter(([, property]) => isIgnored(property)).map(([name]) => `\`${name}\``)
  return names.length === 0 ? '' : `\nIgnored in requests, because the service sets them: ${names.join(', ')}.\n`
}

function rowsOf(schema: Schema, prefix: string, records: Records, required: readonly string[] = []): string[] {
  return Object.entries<Schema>(schema.properties ?? {}).flatMap(([name, property]) => {
    if (prefix === '' && isIgnored(property)) return []
    const field = `${prefix}${name}`
    const must = required.includes(name) ? 'Required. ' : ''
    const row = `| \`${field}\` | ${typeText(property, records)} | ${cell(must + (property.description ?? ''))} |`
    const nested = nestedOf(property)
    if (nested === null || nested.title !== undefined) return [row]
    return [row, ...rowsOf(nested, `${field}${isArray(property) ? '[]' : ''}.`, records)]
  })
}

const isArray = (schema: Schema): boolean => [schema.type].flat().includes('array')

/** The schema of a field's object or of its items. */
function nestedOf(schema: Schema): Schema | null {
  if (isArray(schema)) return schema.items?.properties ? schema.items : null
  const inner = schema.properties ? schema : [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].find((one) => one.properties)
  return inner ?? null
}

/** Describes a value: its type and its limits. A titled object is named and added to the records. */
export function typeText(schema: Schema, records: Records): string {
  if (schema === true || schema === undefined) return 'any'
  const alternatives: readonly Schema[] = schema.anyOf ?? schema.oneOf ?? []
  if (alternatives.length > 0) return alternatives.map((one) => typeText(one, records)).join(' or ')
  if (schema.enum) return schema.enum.map((value: unknown) => `\`${JSON.stringify(value)}\``).join(', ')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  const types: readonly string[] = [schema.type ?? 'any'].flat()
  return types.map((type) => kindText(type, schema, records)).join(' or ')
}

function kindText(type: string, schema: Schema, records: Records): string {
  switch (type) {
    case 'string':
      return `string${rangeText(schema.minLength, schema.maxLength, ' characters')}`
    case 'integer':
    case 'number':
      // The range of integers that JavaScript represents exactly.
      if (schema.maximum === LARGEST_ID) return type
      return `${type}${rangeText(schema.minimum, schema.maximum, '')}`
    case 'array':
      return `list of ${typeText(schema.items, records).replace(/^object$/, 'objects')}${schema.maxItems === undefined ? '' : `, at most ${schema.maxItems.toLocaleString('en')} items`}`
    case 'object':
      return schema.title === undefined ? 'object' : linkTo(schema, records)
    default:
      return type
  }
}

const LARGEST_ID = 999_999_999_999_999

function rangeText(min: number | undefined, max: number | undefined, unit: string): string {
  if (max === undefined) return min === undefined ? '' : ` (at least ${min.toLocaleString('en')}${unit})`
  return ` (${(min ?? 0).toLocaleString('en')}–${max.toLocaleString('en')}${unit})`
}

/** A link to the section of a titled schema. */
export function linkTo(schema: Schema, records: Records): string {
  records.set(schema.title, schema)
  return `[${schema.title}](#${anchorOf(schema.title)})`
}

export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
