/**
 * The unit tests: the test files that start no server and no process, found by their imports. A file is a unit test if neither it
 * nor anything it imports (types aside) loads a module that can listen, connect or start a process.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const OUTSIDE = /(?:from|import)\s*\(?\s*'(?:node:(?:child_process|dgram|http|https|net|tls|worker_threads)|undici|pg|libsql|fastify)'/
const HARMLESS = /^import type .*$|^import \{ isIP(?:v[46])?(?:, isIP(?:v[46])?)* \} from 'node:net'$/gm
const RELATIVE = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+\.ts)'/g

/** Paths from `root`, sorted. */
export function unitTests(root: string): string[] {
  const importsOf = new Map<string, readonly string[] | null>()
  const isInside = (file: string): boolean => {
    const found = new Set([file])
    for (const path of found) {
      if (!importsOf.has(path)) importsOf.set(path, readImports(root, path))
      const imports = importsOf.get(path)
      if (!imports) return false
      for (const one of imports) found.add(one)
    }
    return true
  }
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !/(?:^|\/)(?:fixtures|corpora)\//.test(file))
    .map((file) => join('test', file))
    .filter(isInside)
    .sort()
}

/** The repository files that a file imports; null if it loads a module that reaches outside the process. */
function readImports(root: string, file: string): readonly string[] | null {
  const text = readFileSync(join(root, file), 'utf8').replace(HARMLESS, '')
  if (OUTSIDE.test(text)) return null
  return [...text.matchAll(RELATIVE)]
    .map(([, path = '']) => relative(root, resolve(root, dirname(file), path)))
    .filter((path) => existsSync(join(root, path)))
}
