import type { RequestProblem } from '../request-error.ts'
import type { Limits } from '../route.ts'

/** What a domain is told that has, or would have, more records than it can. */
export const limitReached = ({ recordsPerDomain }: Limits): RequestProblem => ({
  field: null,
  reason: `A domain can have at most ${recordsPerDomain} records.`,
})
