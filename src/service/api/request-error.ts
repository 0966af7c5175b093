/** Errors of requests, as the API reports them. */

/** One problem of a request, as in the body of the response. */
export interface RequestProblem {
  /** The field with the problem, as a dotted path if nested; null if it concerns no single field. */
  readonly field: string | null
  readonly reason: string
}

/** An error that becomes the response: the status, with the problems in the body. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  readonly problems: readonly RequestProblem[]

  constructor(status: number, problems: readonly RequestProblem[]) {
    super(problems.map(({ field, reason }) => (field === null ? reason : `${field}: ${reason}`)).join('; '))
    this.status = status
    this.problems = problems
  }
}

export const badRequest = (...problems: readonly RequestProblem[]): RequestError => new RequestError(400, problems)

export const notFound = (): RequestError => new RequestError(404, [{ field: null, reason: 'Not found' }])

/** Returns the found object; throws 404 if it is null. */
export function orNotFound<T>(found: T | null): T {
  if (found === null) throw notFound()
  return found
}

/** The problems of the `RequestError` that the check throws; none if it succeeds. Rethrows other errors. */
export function collectProblems(check: () => unknown): readonly RequestProblem[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof RequestError) return error.problems
    throw error
  }
}

/** The error body: `{ errors: [{ field, reason }] }`. */
export const errorBody = (problems: readonly RequestProblem[]): { readonly errors: readonly RequestProblem[] } => ({ errors: problems })
