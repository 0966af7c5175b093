import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from './temp-directory.ts'
import { unitTests } from './unit-tests.ts'

const TREE = {
  'test/pure.test.ts': `import { a } from '../src/pure.ts'\nimport type { Socket } from 'node:net'\nimport { isIPv4 } from 'node:net'`,
  'test/starts.test.ts': `import { spawn } from 'node:child_process'`,
  'test/helped.test.ts': `import { start } from './support/start.ts'`,
  'test/lazy.test.ts': `import { b } from '../src/lazy.ts'`,
  'test/support/start.ts': `import { createServer } from 'node:http'\nexport const start = createServer`,
  'test/corpora/foreign.test.ts': '',
  'src/pure.ts': 'export const a = 1',
  'src/lazy.ts': `export const b = () => import('./service.ts')`,
  'src/service.ts': `import fastify from 'fastify'`,
}

test('a unit test imports nothing that listens, connects or starts a process', () => {
  const root = temporaryDirectory()
  for (const [path, text] of Object.entries(TREE)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  expect(unitTests(root)).toEqual(['test/pure.test.ts'])
})

test('the repository has many unit tests', () => {
  const found = unitTests(join(import.meta.dirname, '../..'))
  expect(found).toContain('test/plan/fewest-calls.test.ts')
  expect(found).not.toContain('test/faults/killed.test.ts')
  expect(found.length).toBeGreaterThan(80)
})
