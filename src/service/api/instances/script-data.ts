import type { RequestProblem } from '../request-error.ts'
import type { UserDefinedField } from '../scripts/user-defined-fields.ts'

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
export function fieldProblems(fields: readonly UserDefinedField[], data: Readonly<Record<string, unknown>>): readonly RequestProblem[] {
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
