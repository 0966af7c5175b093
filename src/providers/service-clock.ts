/** The clock of a service, by which it judges signed requests. */
import type { ProviderCallOptions } from './provider.ts'

const localSeconds = (): number => Math.floor(Date.now() / 1000)

/** `read` asks the service for its time, in seconds since 1970. */
export function createServiceClock(read: (options?: ProviderCallOptions) => Promise<number>) {
  let reading: Promise<void> | null = null
  let ahead = 0
  return {
    /** Seconds since 1970. */
    now: (): number => localSeconds() + ahead,
    /** Reads the clock, once; `now` is that of this machine before. */
    async sync(options?: ProviderCallOptions): Promise<void> {
      reading ??= read(options).then((time) => {
        ahead = time - localSeconds()
      })
      try {
        await reading
      } catch (error) {
        reading = null
        throw error
      }
    },
  }
}
