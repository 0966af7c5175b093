import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { folderWith } from '../definition/files.ts'

it('searches the parent folders, and names files relative to the working directory', async () => {
  const folder = folderWith({ 'zonewright.yaml': 'journal: state\n', 'a/b/x': '' })
  const cwd = join(folder, 'a/b')
  const { config, diagnostics } = await loadConfig({ cwd })
  expect(diagnostics).toEqual([])
  expect(config).toMatchObject({ file: '../../zonewright.yaml', folder, cwd, journal: join(folder, 'state') })
})

it('takes no other config in place of a folder with that name', async () => {
  const folder = folderWith({ 'zonewright.yaml': '', 'a/x': '' })
  mkdirSync(join(folder, 'a/zonewright.yaml'))
  const { diagnostics } = await loadConfig({ cwd: join(folder, 'a') })
  expect(diagnostics).toMatchObject([{ code: 'file-unreadable', message: 'zonewright.yaml is a folder, not a file' }])
})

it('loads the given file', async () => {
  const folder = folderWith({ 'ci/dns.yaml': 'zones: [{files: ../zones/*}]\n', 'zonewright.yaml': 'a: [' })
  expect((await loadConfig({ cwd: folder, file: 'ci/dns.yaml' })).config).toMatchObject({ file: 'ci/dns.yaml', folder: join(folder, 'ci') })
})

it('reports a missing config', async () => {
  const folder = folderWith({})
  for (const file of [undefined, 'missing.yaml']) {
    const { config, diagnostics } = await loadConfig({ cwd: folder, file })
    expect(config).toBeNull()
    expect(diagnostics.map(({ code }) => code)).toEqual(['config-missing'])
  }
  expect((await loadConfig({ cwd: folder, file: '.' })).diagnostics.map(({ code }) => code)).toEqual(['file-unreadable'])
})
