/** What is done where the program ends in the middle of it: by `process.exit`, as a signal that is listened for brings it. */
const pending = new Set<() => void>()

const cleanAll = (): void => {
  for (const clean of pending) clean()
}

/** Has `clean` called when the program ends; the function given back calls it off. It must not throw. */
export function cleanAtExit(clean: () => void): () => void {
  if (pending.size === 0) process.on('exit', cleanAll)
  pending.add(clean)
  return () => {
    pending.delete(clean)
    if (pending.size === 0) process.off('exit', cleanAll)
  }
}
