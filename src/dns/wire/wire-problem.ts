import { failure, ok, type Result } from '../result.ts'

/** What decoding code throws on bytes that break the format; it leaves the decoder only as a `Result`. */
interface WireFault extends Error {
  readonly code: 'WIRE_FORMAT'
}

/** Gives up decoding: the bytes are not what the format says. */
export function wireProblem(message: string): never {
  throw Object.assign(new Error(message), { code: 'WIRE_FORMAT' as const })
}

const isWireFault = (error: unknown): error is WireFault => (error as Partial<WireFault> | null)?.code === 'WIRE_FORMAT'

/** The value, or what `recover` makes of a fault of the bytes. */
export function decodingOr<T>(decode: () => T, recover: (message: string) => T): T {
  try {
    return decode()
  } catch (error) {
    if (isWireFault(error)) return recover(error.message)
    throw error
  }
}

/** Has faults of the bytes say what they are about. */
export function decodingOf<T>(subject: () => string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (isWireFault(error)) error.message = `${subject()}: ${error.message}`
    throw error
  }
}

/** The edge of the decoder: faults of the bytes become a result, bugs stay exceptions. */
export function decoding<T>(decode: () => T): Result<T> {
  return decodingOr<Result<T>>(() => ok(decode()), failure)
}
