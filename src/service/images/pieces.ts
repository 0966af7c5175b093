import { UploadProblem } from './upload-problem.ts'

interface Patience {
  /** Ends the wait for the next piece, with its reason. */
  readonly signal: AbortSignal
  /** Milliseconds to wait for each piece. */
  readonly silence: number
}

/** What arrives, piece by piece. Throws what the signal is aborted with, and `silent` where nothing comes for too long. */
export async function* piecesOf(data: AsyncIterable<Buffer>, patience: Patience): AsyncGenerator<Buffer> {
  const pieces = data[Symbol.asyncIterator]()
  while (true) {
    const { done, value } = await within(pieces.next(), patience)
    if (done) return
    yield value
  }
}

/** What a promise comes to. No promise that outlives it is waited for, which would keep every piece that has been read. */
function within<T>(promise: Promise<T>, { signal, silence }: Patience): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    const timer = setTimeout(() => reject(new UploadProblem('silent')), silence)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    void promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    })
  })
}
