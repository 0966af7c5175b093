import { test } from 'vitest'
import { findTool } from './tools.ts'

const isRoot = process.getuid?.() === 0

/**
 * Words before a command line that have a process bound by the permissions of files: to root nothing is forbidden, so that its process gives up all it
 * may do beyond its own files (capabilities(7)). Empty for other users; null where that cannot be had.
 */
export const unprivileged: readonly string[] | null = !isRoot
  ? []
  : findTool('setpriv') === null
    ? null
    : ['setpriv', '--inh-caps=-all', '--bounding-set=-all']

/** A test of what the permissions of files forbid, with the words before the command line of its process. */
export const testPermissions = (name: string, body: (words: readonly string[]) => Promise<void>): void =>
  test.skipIf(unprivileged === null)(name, () => body(unprivileged ?? []))
