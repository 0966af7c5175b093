/** Where things stand in a seed file. */
import type { ErrorObject } from 'ajv'
import { entryOf, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import { schemaProblems } from '../api/schema-validation.ts'
import { parseTimestamp } from '../timestamp.ts'

/** Keys and positions that lead to a value of a document. */
export type Path = readonly (string | number)[]

/** Told of what is wrong at a place of a document. */
export type ReportProblem = (path: Path, message: string) => void

/** Tells of places below a place. */
export const below =
  (path: Path, tell: ReportProblem): ReportProblem =>
  (steps, message) =>
    tell([...path, ...steps], message)

/** What a schema found, in the words that requests are answered with. */
export const reasonOf = (error: ErrorObject): string =>
  error.instancePath === '' && error.keyword === 'type'
    ? 'a seed is a mapping with the key accounts'
    : (schemaProblems([error])[0]?.reason ?? 'is not valid')

/** Steps of a JSON pointer (RFC 6901), and of the key that an error is about. */
export function stepsOf({ instancePath, keyword, params }: ErrorObject): Path {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')))
  return keyword === 'additionalProperties' ? [...steps, String(params['additionalProperty'])] : steps
}

/** The node at a path, or the nearest one above it that there is. */
export function nodeAt(root: YamlNode, path: Path): YamlNode {
  let node = root
  for (const step of path) {
    const next: YamlNode | undefined =
      node.kind === 'sequence' ? node.items[Number(step)] : node.kind === 'mapping' ? entryOf(node, String(step))?.value : undefined
    if (next === undefined) return node
    node = next
  }
  return node
}

/** Fields of an entry that are moments, as the service keeps them; those that are not there stay away. */
export function parseTimestamps<Field extends string>(
  entry: Readonly<Partial<Record<Field, string | null>>>,
  fields: readonly Field[],
  tell: ReportProblem,
): Partial<Record<Field, string>> {
  const moments: Partial<Record<Field, string>> = {}
  for (const field of fields) {
    const text = entry[field]
    if (text === undefined || text === null) continue
    const moment = parseTimestamp(text)
    if (moment === null) tell([field], 'this is no moment such as 2030-01-31T09:00:00')
    else moments[field] = moment
  }
  return moments
}
