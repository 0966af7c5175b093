import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeDirectory } from '../../../src/service/store/private-files.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

it('creates missing parents with access only for the owner, and keeps an existing directory', () => {
  const directory = join(temporaryDirectory(), 'a/b')
  makeDirectory(directory)
  makeDirectory(directory)
  expect([directory, join(directory, '..')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
  writeFileSync(join(directory, 'file'), '')
  expect(() => makeDirectory(join(directory, 'file'))).toThrow('EEXIST')
  expect(() => makeDirectory(join(directory, 'file/x'))).toThrow('ENOTDIR')
})

it.runIf(process.platform === 'linux').each(['/proc/x', '/proc/x/y'])('fails if the directory cannot be created: %s', (path) => {
  expect(() => makeDirectory(path)).toThrow('ENOENT')
})
