/** Reports problems at their positions in a seed file. */
import type { ErrorObject } from 'ajv'
import { entryOf, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import { schemaProblems } from '../api/schema-validation.ts'
import { parseTimestamp } from '../timestamp.ts'

/** The keys and indices that lead to a value of a document. */
export type Path = readonly (string | number)[]

/** Reports a problem at a path of a document. */
export type ReportProblem = (path: Path, message: string) => void

/** Returns a reporter for paths below a path. */
export const below =
  (path: Path, report: ReportProblem): ReportProblem =>
  (steps, message) =>
    report([...path, ...steps], message)

/** The text of a schema error, as in responses to requests; `ofRoot` if the document is no mapping. */
export const reasonOf = (error: ErrorObject, ofRoot: string): string =>
  error.instancePath === '' && error.keyword === 'type' ? ofRoot : (schemaProblems([error])[0]?.reason ?? 'is not valid')

/** The path of a schema error: its JSON pointer (RFC 6901), and the key of an unknown property. */
export function stepsOf({ instancePath, keyword, params }: ErrorObject): Path {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')))
  return keyword === 'additionalProperties' ? [...steps, String(params['additionalProperty'])] : steps
}

/** The node at a path, or its nearest existing ancestor. */
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

/** Parses the time fields of an entry; missing fields stay missing. */
export function parseTimestamps<Field extends string>(
  entry: Readonly<Partial<Record<Field, string | null>>>,
  fields: readonly Field[],
  report: ReportProblem,
): Partial<Record<Field, string>> {
  const timestamps: Partial<Record<Field, string>> = {}
  for (const field of fields) {
    const text = entry[field]
    if (text === undefined || text === null) continue
    const timestamp = parseTimestamp(text)
    if (timestamp === null) report([field], 'not a time such as 2030-01-31T09:00:00')
    else timestamps[field] = timestamp
  }
  return timestamps
}
