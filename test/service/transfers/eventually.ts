import { setTimeout as sleep } from 'node:timers/promises'

/** Repeats the expectations until they pass; fails with the last failure after `within` milliseconds. */
export async function eventually<T>(expectations: () => Promise<T>, within = 60_000): Promise<T> {
  const deadline = performance.now() + within
  for (;;) {
    try {
      return await expectations()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(30)
    }
  }
}
