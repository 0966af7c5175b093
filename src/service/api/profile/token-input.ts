import { readMoment } from '../moment.ts'
import { invalid, type RequestFault } from '../request-error.ts'
import { scopesToGive } from '../scopes.ts'

/** The body of a request for a token, as its schema lets it through. */
export interface TokenBody {
  readonly label?: string
  readonly scopes?: string
  readonly expiry?: string | null
}

/** What a token is to be that is made by use of one with the `acting` scopes. Throws 400 with every fault. */
export function tokenToCreate(
  { label = '', scopes: asked, expiry: until = null }: TokenBody,
  acting: string,
  now: string,
): { readonly label: string; readonly scopes: string; readonly expiry: string | null } {
  const scopes = scopesToGive(asked, acting)
  const expiry = until === null ? null : readMoment(until)
  const faults: RequestFault[] = []
  if (scopes === null) faults.push({ field: 'scopes', reason: 'scopes is not valid' })
  if (scopes === 'exceeded') faults.push({ field: 'scopes', reason: 'A token cannot have more scopes than the one it is created with.' })
  if (until !== null && expiry === null) faults.push({ field: 'expiry', reason: 'expiry is not valid' })
  if (expiry !== null && expiry <= now) faults.push({ field: 'expiry', reason: 'expiry must be in the future' })
  if (faults.length > 0) throw invalid(...faults)
  return { label, scopes: scopes as string, expiry }
}
