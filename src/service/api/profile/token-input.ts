import { readMoment } from '../moment.ts'
import { invalid, type RequestProblem } from '../request-error.ts'
import { scopesToGive } from '../scopes.ts'

/** Characters of a token that name one without a label: fewer than lists show. */
const NAMING = 8

/** The body of a request for a token, as its schema lets it through. */
export interface TokenBody {
  readonly label?: string
  readonly scopes?: string
  readonly expiry?: string | null
}

/**
 * What a token is to be that is made by use of one with the `acting` scopes; `token` is its text, whose beginning names it where the
 * request does not. Throws 400 with every fault.
 */
export function tokenToCreate(
  { label, scopes: asked, expiry: until = null }: TokenBody,
  token: string,
  acting: string,
  now: string,
): { readonly label: string; readonly scopes: string; readonly expiry: string | null } {
  const scopes = scopesToGive(asked, acting)
  const expiry = until === null ? null : readMoment(until)
  const problems: RequestProblem[] = []
  if (scopes === null) problems.push({ field: 'scopes', reason: 'scopes is not valid' })
  if (scopes === 'exceeded') problems.push({ field: 'scopes', reason: 'A token cannot have more scopes than the one it is created with.' })
  if (until !== null && expiry === null) problems.push({ field: 'expiry', reason: 'expiry is not valid' })
  if (expiry !== null && expiry <= now) problems.push({ field: 'expiry', reason: 'expiry must be in the future' })
  if (problems.length > 0) throw invalid(...problems)
  return { label: label ?? `token-${token.slice(0, NAMING)}`, scopes: scopes as string, expiry }
}
