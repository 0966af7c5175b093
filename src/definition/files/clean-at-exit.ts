/** Cleans up if the program exits early. */
const pending = new Set<() => void>()

/** Later work builds on earlier work, so it is cleaned up first. */
const cleanAll = (): void => {
  for (const clean of [...pending].reverse()) clean()
}

/** Calls `clean`, which must not throw, if the program exits early, for example on a signal. Returns a function that cancels this. */
export function cleanAtExit(clean: () => void): () => void {
  if (pending.size === 0) process.on('exit', cleanAll)
  pending.add(clean)
  return () => {
    pending.delete(clean)
    if (pending.size === 0) process.off('exit', cleanAll)
  }
}
