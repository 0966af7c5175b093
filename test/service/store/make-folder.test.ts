import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeFolder } from '../../../src/service/store/private-files.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

it('creates missing parents with access only for the owner, and keeps an existing folder', () => {
  const folder = join(temporaryDirectory(), 'a/b')
  makeFolder(folder)
  makeFolder(folder)
  expect([folder, join(folder, '..')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
  writeFileSync(join(folder, 'file'), '')
  expect(() => makeFolder(join(folder, 'file'))).toThrow('EEXIST')
  expect(() => makeFolder(join(folder, 'file/x'))).toThrow('ENOTDIR')
})

it.runIf(process.platform === 'linux').each(['/proc/x', '/proc/x/y'])('fails if the folder cannot be created: %s', (path) => {
  expect(() => makeFolder(path)).toThrow('ENOENT')
})
