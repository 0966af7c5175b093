/** One fault of a request, as the error body tells it. */
export interface RequestProblem {
  /** The field of the request that is at fault, dotted where nested; null when it is of no field. */
  readonly field: string | null
  readonly reason: string
}

/** A request that is answered with the interface's error body. */
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

export const invalid = (...problems: readonly RequestProblem[]): RequestError => new RequestError(400, problems)

export const notFound = (): RequestError => new RequestError(404, [{ field: null, reason: 'Not found' }])

/** What was found; throws 404 where that is nothing. */
export function orNotFound<T>(found: T | null): T {
  if (found === null) throw notFound()
  return found
}

/** What a piece of work refuses of a request; nothing where it does not. */
export function collectProblems(work: () => unknown): readonly RequestProblem[] {
  try {
    work()
    return []
  } catch (error) {
    if (error instanceof RequestError) return error.problems
    throw error
  }
}

/** The body that stands for faults: `{ errors: [{ field, reason }] }`. */
export const errorBody = (problems: readonly RequestProblem[]): { readonly errors: readonly RequestProblem[] } => ({ errors: problems })

/** Clients wait and try again where they read exactly this (facts, A). */
export const linodeBusy = (): RequestError => invalid({ field: null, reason: 'Linode busy.' })
