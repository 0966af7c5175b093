/** Checks a gzip file while it arrives. */
import { createGunzip } from 'node:zlib'

/** The data is not a valid gzip file, or inflates to too much. */
export class GzipProblem extends Error {
  override readonly name = 'GzipProblem'
  readonly tooLarge: boolean

  constructor(message: string, tooLarge = false) {
    super(message)
    this.tooLarge = tooLarge
  }
}

export interface GzipCheck {
  /** Checks the next octets; resolves when they have been inflated. Rejects with a `GzipProblem`. */
  write(chunk: Buffer): Promise<void>
  /** Call it after the last octet: resolves with the inflated size. Rejects with a `GzipProblem` if the file is incomplete. */
  end(): Promise<number>
  /** Frees its memory; always call it. */
  close(): void
}

/** Octets inflated at a time. */
const CHUNK_SIZE = 64 * 1024

/**
 * Checks a gzip file (RFC 1952) with any number of members as it arrives: headers, deflate data, CRC32 and ISIZE. Inflated data is counted and
 * discarded, so memory stays bounded. More than `maxOctets` octets of it are refused.
 */
export function checkGzip(maxOctets: number): GzipCheck {
  const gunzip = createGunzip({ chunkSize: CHUNK_SIZE })
  let inflated = 0
  let received = 0
  let last: Buffer = Buffer.alloc(0)
  let hasEnded = false
  /** Resolves the pending `write`. */
  let proceed = (): void => undefined
  const ended = new Promise<void>((resolve, reject) => {
    gunzip.on('data', (piece: Buffer) => {
      inflated += piece.length
      if (inflated > maxOctets) gunzip.destroy(new GzipProblem(`it inflates to more than ${maxOctets} octets`, true))
    })
    gunzip.on('end', () => {
      hasEnded = true
      proceed()
      resolve()
    })
    gunzip.on('error', (error) => {
      proceed()
      reject(error instanceof GzipProblem ? error : new GzipProblem(error.message))
    })
  })
  ended.catch(() => undefined)
  return {
    write: async (chunk) => {
      if (hasEnded) return checkPadding(chunk)
      received += chunk.length
      last = chunk
      // Padding ends the stream early, and then zlib does not call back.
      await new Promise<void>((resolve) => {
        proceed = resolve
        gunzip.write(chunk, () => resolve())
      })
      if (gunzip.errored) await ended
    },
    end: async () => {
      gunzip.end()
      await ended
      checkPadding(last.subarray(Math.max(0, last.length - (received - gunzip.bytesWritten))))
      return inflated
    },
    close: () => void gunzip.destroy(),
  }
}

/** Zeros may follow the last member, as in gzip(1): writing to block media adds them. */
function checkPadding(rest: Buffer): void {
  if (rest.some((octet) => octet !== 0)) throw new GzipProblem('there is data after its end')
}
