import { type TestOptions, test } from 'vitest'
import { findTool } from './tools.ts'

const isRoot = process.getuid?.() === 0

/**
 * Words before a command line that make file permissions apply to the process. Root may do everything, so its process drops all capabilities
 * (capabilities(7)). Empty for other users; null if the necessary program is missing.
 */
export const unprivileged: readonly string[] | null = !isRoot
  ? []
  : findTool('setpriv') === null
    ? null
    : ['setpriv', '--inh-caps=-all', '--bounding-set=-all']

/** A test of file permissions; `body` gets the words before the command line of its process. */
export const testPermissions = (name: string, body: (words: readonly string[]) => Promise<void>, options: TestOptions = {}): void =>
  test.skipIf(unprivileged === null)(name, options, () => body(unprivileged ?? []))
