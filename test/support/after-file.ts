/**
 * Cleanups at the end of a test file. A worker loads a module once for all its test files, so a hook that the module registers itself would
 * belong to the first file only. The setup file registers one for each file instead.
 */
const cleanups: (() => unknown)[] = []
const cleanupsOfFile: (() => unknown)[] = []

/** Runs the cleanup at the end of every test file of this worker, after the file's own hooks. */
export function afterEveryFile(cleanup: () => unknown): void {
  cleanups.push(cleanup)
}

/** Runs the cleanup at the end of this test file, before those of every file. Unlike `afterAll` it can also be called in a test. */
export function afterThisFile(cleanup: () => unknown): void {
  cleanupsOfFile.push(cleanup)
}

/** Runs all cleanups, the latest first, and rejects with the first error. */
export async function cleanUpFile(): Promise<void> {
  const problems: unknown[] = []
  for (const cleanup of [...cleanups, ...cleanupsOfFile.splice(0)].reverse()) {
    try {
      await cleanup()
    } catch (problem) {
      problems.push(problem)
    }
  }
  if (problems.length > 0) throw problems[0]
}
