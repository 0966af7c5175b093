import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFileAtomically } from '../../../src/definition/files/replace-files.ts'
import { folderWith } from '../files.ts'

describe('writeFileAtomically', () => {
  it('makes a new file and replaces one, keeping its mode', async () => {
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

  it('leaves nothing behind where it fails', async () => {
    const folder = folderWith({})
    mkdirSync(join(folder, 'taken'))
    await expect(writeFileAtomically(join(folder, 'taken'), 'text')).rejects.toThrow()
    await expect(writeFileAtomically(join(folder, 'none/a.yaml'), 'text')).rejects.toThrow()
    expect(readdirSync(folder)).toEqual(['taken'])
  })

  it('is never seen half-written', async () => {
    const folder = folderWith({ 'a.yaml': 'a'.repeat(200_000) })
    const path = join(folder, 'a.yaml')
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
