import { invalid, type RequestError, type RequestProblem } from '../request-error.ts'

/** What an instance's owner is asked before a script runs; the answer is an environment variable of the script. */
export interface UserDefinedField {
  readonly name: string
  /** The question. */
  readonly label: string
  readonly example?: string
  /** Answers, separated by commas, of which one is taken. */
  readonly oneOf?: string
  /** Answers, separated by commas, of which any number is taken. */
  readonly manyOf?: string
  /** Taken where nothing is answered; without one the answer is needed. */
  readonly default?: string
}

/** Fields of one script, and characters of a name and of any other value. */
const MAX_FIELDS = 100
const MAX_NAME = 64
const MAX_VALUE = 1000

/** The attributes of a tag, in whatever case, by the keys they have here. */
const ATTRIBUTES: ReadonlyMap<string, keyof UserDefinedField> = new Map([
  ['name', 'name'],
  ['label', 'label'],
  ['example', 'example'],
  ['oneof', 'oneOf'],
  ['manyof', 'manyOf'],
  ['default', 'default'],
])

/**
 * The fields that the `<UDF name="…" label="…" />` tags of a script define, in their order. Tags are found wherever they stand, as in comments;
 * what is no tag with its end on the same line is text of the script. Throws 400 where a tag defines no field; a stored script has none such.
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

/** A tag's attributes. Each character can be read in one way only, so that no text takes more than time in its length. */
const TAG = /<udf((?:[ \t]+[a-z]+=(?:"[^"\r\n]*"|'[^'\r\n]*'))+)[ \t]*\/?>/gi
const ATTRIBUTE = /([a-z]+)=(?:"([^"]*)"|'([^']*)')/gi

function readField(text: string): UserDefinedField | string {
  const values = new Map<keyof UserDefinedField, string>()
  for (const [, attribute = '', double, single] of text.matchAll(ATTRIBUTE)) {
    const key = ATTRIBUTES.get(attribute.toLowerCase())
    // Others mean something to forms of clients only.
    if (key === undefined) continue
    if (values.has(key)) return `a field has the attribute ${attribute} twice`
    values.set(key, double ?? single ?? '')
  }
  const { name = '', label = '', ...rest }: Partial<UserDefinedField> = Object.fromEntries(values)
  if (name.length > MAX_NAME || !/^[a-z_][a-z0-9_]*$/i.test(name))
    return `a field has a name of letters, digits and underscores, ${MAX_NAME} at most`
  if (label === '') return `the field ${name} has no label`
  if ([label, ...Object.values(rest)].some(({ length }) => length > MAX_VALUE))
    return `the field ${name} has a value of more than ${MAX_VALUE} characters`
  if (rest.oneOf !== undefined && rest.manyOf !== undefined) return `the field ${name} has both oneOf and manyOf`
  return { name, label, ...rest }
}

const refuse = (problem: string): RequestError => invalid({ field: 'script', reason: `A UDF tag is not valid: ${problem}` })

/** Characters that the values for a script's fields have at most, as JSON (interface, Instance create body). */
const MAX_SCRIPT_DATA = 65_535

export function scriptDataProblem(data: Readonly<Record<string, unknown>>): RequestProblem | null {
  const text = JSON.stringify(data)
  if ([...text].length <= MAX_SCRIPT_DATA && !NEVER_TEXT.test(text)) return null
  return { field: 'script_data', reason: `Length must be 0-${MAX_SCRIPT_DATA} characters` }
}

/** Half of a character that needs two is none. */
const NEVER_TEXT = /[\ud800-\udfff]/u

/**
 * What is wrong with the values for the fields of a script: each field without a default must have one, and one of those it allows.
 * Values that the script has no field for mean nothing.
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

const oneOf = (field: string, allowed: string): RequestProblem => ({ field, reason: `${field} must be of: ${allowed}` })
