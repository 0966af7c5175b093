import { createGunzip } from 'node:zlib'

/** What makes data no gzip file, or one that is too large, in words. */
export class GzipProblem extends Error {
  override readonly name = 'GzipFault'
  readonly tooLarge: boolean

  constructor(message: string, tooLarge = false) {
    super(message)
    this.tooLarge = tooLarge
  }
}

export interface GzipCheck {
  /** Takes the next octets; resolves when they have been inflated. Rejects with a `GzipProblem`. */
  write(chunk: Buffer): Promise<void>
  /** After the last octet: how many there are inflated. Rejects with a `GzipProblem` where the file is not whole. */
  end(): Promise<number>
  /** Gives up what it holds; to be called in any case. */
  close(): void
}

/** Octets that are inflated at a time, and held until they are counted. */
const PIECE = 64 * 1024

/**
 * Checks a gzip file (RFC 1952), of any number of members, as it arrives: headers, deflate data, CRC32 and ISIZE. What is inflated is
 * counted and not kept, so that memory is bounded whatever a file inflates to; it is refused where that is more than the most.
 */
export function checkGzip(most: number): GzipCheck {
  const gunzip = createGunzip({ chunkSize: PIECE })
  let inflated = 0
  let taken = 0
  let last: Buffer = Buffer.alloc(0)
  let isOver = false
  /** Who waits for octets to be inflated. */
  let proceed = (): void => undefined
  const ended = new Promise<void>((resolve, reject) => {
    gunzip.on('data', (piece: Buffer) => {
      inflated += piece.length
      if (inflated > most) gunzip.destroy(new GzipProblem(`it inflates to more than ${most} octets`, true))
    })
    gunzip.on('end', () => {
      isOver = true
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
      if (isOver) return checkPadding(chunk)
      taken += chunk.length
      last = chunk
      // Padding ends the stream before it is told to end, and is never called back.
      await new Promise<void>((resolve) => {
        proceed = resolve
        gunzip.write(chunk, () => resolve())
      })
      if (gunzip.errored) await ended
    },
    end: async () => {
      gunzip.end()
      await ended
      checkPadding(last.subarray(Math.max(0, last.length - (taken - gunzip.bytesWritten))))
      return inflated
    },
    close: () => void gunzip.destroy(),
  }
}

/** Zeros may follow the last member, as gzip(1) takes them: they come of writing to media in blocks. */
function checkPadding(rest: Buffer): void {
  if (rest.some((octet) => octet !== 0)) throw new GzipProblem('there is more after its end')
}
