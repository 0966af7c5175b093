/** One error of a request, as in the error body. */
export interface RequestProblem {
  /** The field with the error, as a dotted path if nested; null if it concerns no single field. */
  readonly field: string | null
  readonly reason: string
}

/** Refuses a request with the API's error body. */
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

/** Returns what was found; throws 404 if it is null. */
export function orNotFound<T>(found: T | null): T {
  if (found === null) throw notFound()
  return found
}

/** Runs a check and returns the problems it throws as a `RequestError`. */
export function collectProblems(work: () => unknown): readonly RequestProblem[] {
  try {
    work()
    return []
  } catch (error) {
    if (error instanceof RequestError) return error.problems
    throw error
  }
}

/** The error body: `{ errors: [{ field, reason }] }`. */
export const errorBody = (problems: readonly RequestProblem[]): { readonly errors: readonly RequestProblem[] } => ({ errors: problems })

/** Clients such as linodego retry on exactly this text. */
export const linodeBusy = (): RequestError => invalid({ field: null, reason: 'Linode busy.' })
