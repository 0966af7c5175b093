/**
 * What modules of the tests hold on to is let go when a test file ends. A worker loads a module once for all its files, so that a hook which the module
 * registers itself would be one of the first file only: the setup file registers one for each.
 */
const cleanups: (() => unknown)[] = []
const cleanupsOfFile: (() => unknown)[] = []

/** Does the work at the end of every test file of this worker, after the hooks of the file itself. */
export function afterEveryFile(work: () => unknown): void {
  cleanups.push(work)
}

/** Does the work at the end of this test file, before that of every file. Unlike `afterAll` it may be called in a test as well. */
export function afterThisFile(work: () => unknown): void {
  cleanupsOfFile.push(work)
}

/** Does all of it, what came last first, and rejects with the first fault. */
export async function cleanUpFile(): Promise<void> {
  const problems: unknown[] = []
  for (const work of [...cleanups, ...cleanupsOfFile.splice(0)].reverse()) {
    try {
      await work()
    } catch (problem) {
      problems.push(problem)
    }
  }
  if (problems.length > 0) throw problems[0]
}
