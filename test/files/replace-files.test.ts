import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ReplacedFile, replaceFiles, writeFileAtomically } from '../../src/files/replace-files.ts'
import { writeProblems } from '../../src/files/write-problem.ts'
import { folderWith } from '../definition/files.ts'

describe('writeFileAtomically', () => {
  it('creates a file, or replaces it and keeps its mode', async () => {
    const folder = folderWith({ 'a.yaml': 'existing' })
    await chmod(join(folder, 'a.yaml'), 0o646)
    await writeFileAtomically(join(folder, 'a.yaml'), 'desired')
    await writeFileAtomically(join(folder, 'b.yaml'), 'fresh')
    expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe('desired')
    expect(statSync(join(folder, 'a.yaml')).mode & 0o777).toBe(0o646)
    expect(readFileSync(join(folder, 'b.yaml'), 'utf8')).toBe('fresh')
    expect(readdirSync(folder).sort()).toEqual(['a.yaml', 'b.yaml'])
  })

  it('writes through a symbolic link', async () => {
    const folder = folderWith({ 'real/a.yaml': 'existing' })
    symlinkSync('real/a.yaml', join(folder, 'link.yaml'))
    await writeFileAtomically(join(folder, 'link.yaml'), 'desired')
    expect(lstatSync(join(folder, 'link.yaml')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(folder, 'real/a.yaml'), 'utf8')).toBe('desired')
  })

  it('leaves no temporary file after an error', async () => {
    const folder = folderWith({})
    mkdirSync(join(folder, 'taken'))
    await expect(writeFileAtomically(join(folder, 'taken'), 'text')).rejects.toThrow()
    await expect(writeFileAtomically(join(folder, 'none/a.yaml'), 'text')).rejects.toThrow()
    expect(readdirSync(folder)).toEqual(['taken'])
  })

  it('never exposes a half-written file', async () => {
    const path = join(folderWith({ 'a.yaml': 'a'.repeat(200_000) }), 'a.yaml')
    let writing = true
    const writes = Promise.all(Array.from({ length: 20 }, (_, i) => writeFileAtomically(path, String(i % 10).repeat(200_000)))).finally(
      () => {
        writing = false
      },
    )
    while (writing) {
      const text = readFileSync(path, 'utf8')
      expect(text).toBe((text[0] ?? '').repeat(200_000))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writes
  })
})

describe('replaceFiles', () => {
  const replaced = (path: string, before: ReplacedFile['before'] = 'any'): ReplacedFile => ({ path, text: 'desired', mode: null, before })

  it.each([
    ['a text cannot be written', (folder: string) => replaced(join(folder, 'none/c.yaml')), 'ENOENT'],
    ['a file has changed', (folder: string) => replaced(join(folder, 'b.yaml'), { text: 'older' }), 'ECHANGED'],
    [
      'a file to remove has changed',
      (folder: string) => ({ ...replaced(join(folder, 'b.yaml'), { text: 'older' }), text: null }),
      'ECHANGED',
    ],
    ['a new file already exists', (folder: string) => replaced(join(folder, 'b.yaml'), 'none'), 'EEXIST'],
  ])('replaces nothing if %s', async (_, second, code) => {
    const files = { 'a.yaml': 'existing', 'b.yaml': 'existing' }
    const folder = folderWith(files)
    const outcome = await replaceFiles([replaced(join(folder, 'a.yaml')), second(folder)])
    expect(outcome).toMatchObject({ ok: false, written: 0, failed: 1, error: { code } })
    expect(readdirSync(folder).sort()).toEqual(Object.keys(files))
    expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe('existing')
  })

  it('removes a file after the one before it is written', async () => {
    const folder = folderWith({ 'a.yaml': 'existing' })
    const removal = { ...replaced(join(folder, 'a.yaml'), { text: 'existing' }), text: null }
    expect(await replaceFiles([replaced(join(folder, 'b.yaml'), 'none'), removal])).toEqual({ ok: true })
    expect(readdirSync(folder)).toEqual(['b.yaml'])
  })

  it('stops at the first rename that fails; the files before it stay replaced', async () => {
    const folder = folderWith({ 'a.yaml': 'existing', 'b.yaml/x': '', 'c.yaml': 'existing' })
    const files = ['a.yaml', 'b.yaml', 'c.yaml'].map((name) => replaced(join(folder, name)))
    expect(await replaceFiles(files)).toMatchObject({ ok: false, written: 1, failed: 1, error: { code: 'EISDIR' } })
    expect(readdirSync(folder).sort()).toEqual(['a.yaml', 'b.yaml', 'c.yaml'])
    expect(['a.yaml', 'c.yaml'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['desired', 'existing'])
  })
})

it('an error after the first file lists what was written and what was not', () => {
  const error = Object.assign(new Error(), { code: 'EIO' })
  const outcome = { state: 'failed', path: 'b', error, written: ['a'], notWritten: ['b', 'c'] } as const
  expect(writeProblems(outcome, (path) => `zones/${path}.yaml`)).toEqual([
    {
      severity: 'error',
      code: 'file-unwritable',
      message: 'zones/b.yaml cannot be written: the disk reports an error; written: zones/a.yaml; not written: zones/b.yaml, zones/c.yaml',
      hint: expect.stringContaining('git can undo it'),
    },
  ])
})
