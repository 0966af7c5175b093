/**
 * A map of bounded size that forgets what has not been used for longest, roughly: entries are in one of two generations, and when
 * the younger one is full the elder is dropped. What is read moves to the younger. Every step is O(1); a map that gave up its first
 * entries one by one would walk over the gaps of those before.
 */
export interface LruCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
  delete(key: string): void
}

/** `size` is how many entries there are at most; half of that are kept for certain. */
export function createLruCache<T>(size: number): LruCache<T> {
  const half = Math.max(1, Math.floor(size / 2))
  let young = new Map<string, T>()
  let old = new Map<string, T>()
  const set = (key: string, value: T): void => {
    if (young.size >= half && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    get: (key) => {
      const value = young.get(key)
      if (value !== undefined) return value
      const elder = old.get(key)
      if (elder !== undefined) set(key, elder)
      return elder
    },
    set,
    delete: (key) => {
      young.delete(key)
      old.delete(key)
    },
  }
}
