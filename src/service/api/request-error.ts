/** One fault of a request, as the error body tells it. */
export interface RequestFault {
  /** The field of the request that is at fault, dotted where nested; null when it is of no field. */
  readonly field: string | null
  readonly reason: string
}

/** A request that is answered with the interface's error body. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  readonly faults: readonly RequestFault[]

  constructor(status: number, faults: readonly RequestFault[]) {
    super(faults.map(({ field, reason }) => (field === null ? reason : `${field}: ${reason}`)).join('; '))
    this.status = status
    this.faults = faults
  }
}

export const invalid = (...faults: readonly RequestFault[]): RequestError => new RequestError(400, faults)

export const notFound = (): RequestError => new RequestError(404, [{ field: null, reason: 'Not found' }])

/** What was found; throws 404 where that is nothing. */
export function orNotFound<T>(found: T | null): T {
  if (found === null) throw notFound()
  return found
}

/** What a piece of work refuses of a request; nothing where it does not. */
export function faultsOf(work: () => unknown): readonly RequestFault[] {
  try {
    work()
    return []
  } catch (error) {
    if (error instanceof RequestError) return error.faults
    throw error
  }
}

/** The body that stands for faults: `{ errors: [{ field, reason }] }`. */
export const errorBody = (faults: readonly RequestFault[]): { readonly errors: readonly RequestFault[] } => ({ errors: faults })
