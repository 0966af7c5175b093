/** Reads values out of parsed JSON. Each function throws a `ShapeError` that names `what` has the wrong shape. */

export type Fields = Readonly<Record<string, unknown>>

/** A response body with the wrong shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError'
}

export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ShapeError(`${what} is not an object`)
  return value as Fields
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ShapeError(`${what} is not a list`)
  return value
}

export const textsOf = (value: unknown, what: string): string[] =>
  listOf(value, what).map((text) => {
    if (typeof text !== 'string') throw new ShapeError(`${what} has a value that is no text`)
    return text
  })

export function textOf(fields: Fields, key: string, what: string): string {
  const value = fields[key]
  if (typeof value !== 'string') throw new ShapeError(`${what} has no text "${key}"`)
  return value
}

/** A text that becomes a part of paths, and from which no other path can be made: it must match the pattern. */
export function idOf(fields: Fields, key: string, what: string, pattern: RegExp): string {
  const id = textOf(fields, key, what)
  if (!pattern.test(id)) throw new ShapeError(`${what} has the ${key} ${JSON.stringify(id.slice(0, 100))}`)
  return id
}

/** Accepts any body: the status says all. */
export const anyShape = (): undefined => undefined

/** The body of a service that says no more. */
export function nullShape(body: unknown): null {
  if (body !== null) throw new ShapeError('the response is not null')
  return null
}

/** A whole number of at least 0. */
export function wholeNumberOf(fields: Fields, key: string, what: string): number {
  const value = fields[key]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new ShapeError(`${what} has no whole number "${key}"`)
  return value
}

/** The same as a text. */
export function numberTextOf(fields: Fields, key: string, what: string): number {
  const text = textOf(fields, key, what)
  if (!/^\d{1,10}$/.test(text)) throw new ShapeError(`${what} has no whole number "${key}"`)
  return Number(text)
}

/** Throws a `ShapeError` unless an answer about the zone `sent` names this zone: a final dot and case do not matter. */
export function checkZoneName(sent: string, returned: string): void {
  const [a, b] = [sent, returned].map((name) => name.toLowerCase().replace(/\.$/, ''))
  if (a !== b) throw new ShapeError(`the zone ${sent} was returned as ${JSON.stringify(returned.slice(0, 300))}`)
}
