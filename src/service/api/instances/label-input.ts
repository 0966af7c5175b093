import type { RequestProblem } from '../request-error.ts'

/** What is wrong with the label of an instance beside its length (interface, Instance); null where nothing is. */
export function labelProblem(label: string): RequestProblem | null {
  if (/[^A-Za-z0-9._-]/.test(label)) return problem('Only letters, digits, hyphens, underscores and dots can be in a label.')
  if (!/^[A-Za-z0-9].*[A-Za-z0-9]$/.test(label)) return problem('A label must begin and end with a letter or digit.')
  if (/--|__|\.\./.test(label)) return problem('A label cannot have two hyphens, underscores or dots in a row.')
  return null
}

export const labelTaken = (): RequestProblem => problem('Label must be unique among your linodes')

const problem = (reason: string): RequestProblem => ({ field: 'label', reason })
