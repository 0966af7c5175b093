/**
 * A map of bounded size that drops approximately the least recently used entries. Entries live in two generations: reading moves an entry to
 * the younger one, and when that is full the older one is dropped. Every operation is O(1). Deleting the oldest entries of one `Map` one by
 * one would not be: its iterator walks over the holes of earlier deletions.
 */
export interface LruCache<T> {
  get(key: string): T | undefined
  set(key: string, value: T): void
  delete(key: string): void
}

/** `size` is the maximum number of entries; the newest half of that is never dropped. */
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
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    delete: (key) => {
      young.delete(key)
      old.delete(key)
    },
  }
}
