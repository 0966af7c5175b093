/** The `<UDF>` tags of a script, which define values that the owner of an instance gives, and the check of these values. */
import { badRequest, type RequestError, type RequestProblem } from '../request-error.ts'

/** A value that the owner of an instance gives to its script, as an environment variable. */
export interface UserDefinedField {
  readonly name: string
  /** The question to the owner. */
  readonly label: string
  readonly example?: string
  /** The allowed values, separated by commas; exactly one may be given. */
  readonly oneOf?: string
  /** The allowed values, separated by commas; any number of them may be given. */
  readonly manyOf?: string
  /** The value if none is given; a field without a default is required. */
  readonly default?: string
}

/** Maximum number of fields of a script, and maximum length in characters of a name and of any other attribute. */
const MAX_FIELDS = 100
const MAX_NAME = 64
const MAX_VALUE = 1000

/** The attributes of a tag in lower case, with their keys here. */
const ATTRIBUTES: ReadonlyMap<string, keyof UserDefinedField> = new Map([
  ['name', 'name'],
  ['label', 'label'],
  ['example', 'example'],
  ['oneof', 'oneOf'],
  ['manyof', 'manyOf'],
  ['default', 'default'],
])

/**
 * Parses the `<UDF name="…" label="…" />` tags of a script, in their order. Tags count anywhere in the text, comments included, if they end on the
 * same line. Throws 400 for an invalid tag; stored scripts have none.
 */
export function parseUserDefinedFields(script: string): readonly UserDefinedField[] {
  const fields: UserDefinedField[] = []
  for (const [, text = ''] of script.matchAll(TAG)) {
    const field = readField(text)
    if (typeof field === 'string') throw refuse(field)
    if (fields.some(({ name }) => name === field.name)) throw refuse(`the field ${field.name} is defined twice`)
    if (fields.length === MAX_FIELDS) throw refuse(`there are more than ${MAX_FIELDS} fields`)
    fields.push(field)
  }
  return fields
}

/** Matches a tag. Each character can match in one way only, so matching takes linear time. */
const TAG = /<udf((?:[ \t]+[a-z]+=(?:"[^"\r\n]*"|'[^'\r\n]*'))+)[ \t]*\/?>/gi
const ATTRIBUTE = /([a-z]+)=(?:"([^"]*)"|'([^']*)')/gi

function readField(text: string): UserDefinedField | string {
  const values = new Map<keyof UserDefinedField, string>()
  for (const [, attribute = '', double, single] of text.matchAll(ATTRIBUTE)) {
    const key = ATTRIBUTES.get(attribute.toLowerCase())
    // Other attributes concern only the forms of clients.
    if (key === undefined) continue
    if (values.has(key)) return `a field has the attribute ${attribute} twice`
    values.set(key, double ?? single ?? '')
  }
  const { name = '', label = '', ...rest }: Partial<UserDefinedField> = Object.fromEntries(values)
  if (name.length > MAX_NAME || !/^[a-z_][a-z0-9_]*$/i.test(name))
    return `the name of a field must have 1 to ${MAX_NAME} letters, digits and underscores, and not begin with a digit`
  if (label === '') return `the field ${name} has no label`
  if ([label, ...Object.values(rest)].some(({ length }) => length > MAX_VALUE))
    return `the field ${name} has a value of more than ${MAX_VALUE} characters`
  if (rest.oneOf !== undefined && rest.manyOf !== undefined) return `the field ${name} has both oneOf and manyOf`
  return { name, label, ...rest }
}

const refuse = (problem: string): RequestError => badRequest({ field: 'script', reason: `A UDF tag is not valid: ${problem}` })

/** Maximum length of the values for a script's fields in characters, as JSON (API, Instance create body). */
const MAX_SCRIPT_DATA = 65_535

export function scriptDataProblem(data: Readonly<Record<string, unknown>>): RequestProblem | null {
  let text: string
  try {
    text = JSON.stringify(data)
  } catch {
    // Nested deeper than the stack allows.
    return { field: 'script_data', reason: 'script_data is not valid' }
  }
  if ([...text].length <= MAX_SCRIPT_DATA && !UNPAIRED_SURROGATE.test(text)) return null
  return { field: 'script_data', reason: `Length must be 0-${MAX_SCRIPT_DATA} characters` }
}

/** Unpaired surrogates. */
const UNPAIRED_SURROGATE = /[\ud800-\udfff]/u

/**
 * Checks the values for a script's fields: fields without a default are required, and values must be allowed ones. Values without a field are
 * ignored.
 */
export function fieldValueProblems(
  fields: readonly UserDefinedField[],
  data: Readonly<Record<string, unknown>>,
): readonly RequestProblem[] {
  return fields.flatMap((field): readonly RequestProblem[] => {
    const at = `script_data.${field.name}`
    const value = Object.hasOwn(data, field.name) ? data[field.name] : undefined
    if (value === undefined || value === null) return field.default === undefined ? [{ field: at, reason: `${at} is required` }] : []
    if (typeof value !== 'string') return [{ field: at, reason: `${at} must be a string` }]
    if (field.oneOf !== undefined && !choices(field.oneOf).includes(value)) return [oneOf(at, field.oneOf)]
    const allowed = field.manyOf === undefined ? null : choices(field.manyOf)
    if (allowed && value !== '' && !choices(value).every((choice) => allowed.includes(choice))) return [oneOf(at, field.manyOf as string)]
    return []
  })
}

const choices = (text: string): readonly string[] => text.split(',').map((choice) => choice.trim())

const oneOf = (field: string, allowed: string): RequestProblem => ({ field, reason: `${field} allows only: ${allowed}` })
