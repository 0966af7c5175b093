import { fstatSync, linkSync, openSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, test } from 'vitest'
import { readText } from '../../src/files/read-text.ts'
import { refuseOpened, sourcePolicy } from '../../src/files/source-policy.ts'
import { createIncludeReader } from '../../src/load/include-reader.ts'
import { configIn, folderWith } from '../definition/files.ts'
import { rounds } from '../support/random.ts'

const CONFIG =
  "providers: {cloud: {type: cloud, preset: linode, token: 'file:secrets/token'}, other: {type: cloud, preset: linode, token: 'file:./secrets/later'}}\n"

const scene = async () => {
  const folder = folderWith({ 'zonewright.yaml': CONFIG, 'secrets/token': 's3cret-s3cret\n', 'zones/a.txt': 'harmless\n', '.env': 'X=1\n' })
  return { folder, config: await configIn(folder) }
}

test.each<[path: string, refused: RegExp | null]>([
  ['zones/a.txt', null],
  ['zones', null],
  ['.', null],
  ['zones/x..y', null],
  ['.env', /is hidden/],
  ['a/.b/c', /is hidden/],
  ['zones/..secret', /is hidden/],
  ['zones/..data/a', null],
  ['zones/example.com./.yaml', null],
  ['.yaml/x', /is hidden/],
  ['secrets/token', /a secret of the config/],
  ['secrets/later', /a secret of the config/],
  ['zonewright.yaml', /is the config/],
  ['../.elsewhere', null],
])('%s', async (path, refused) => {
  const { folder, config } = await scene()
  const reason = sourcePolicy(config).refusePath(join(folder, path))
  if (refused === null) expect(reason).toBeNull()
  else expect(reason).toMatch(refused)
})

it('protects the paths of files that are created later', async () => {
  const { folder, config } = await scene()
  const include = createIncludeReader(config, 'yaml')
  writeFileSync(join(folder, 'secrets/later'), 'new')
  expect(include('../secrets/later', join(folder, 'zones/x.yaml'))).toMatchObject({ ok: false })
})

it('checks the opened file, even if its path has changed', async () => {
  const { folder, config } = await scene()
  const policy = sourcePolicy(config)
  const path = join(folder, 'zones/a.txt')
  const stateOf = (one: string) => {
    const file = openSync(one, 'r')
    onTestFinished(() => void file)
    return fstatSync(file, { bigint: true })
  }
  expect(refuseOpened(policy, path, stateOf(path))).toBeNull()
  // Opened while it was a link to a hidden file, and harmless again when it is checked.
  expect(refuseOpened(policy, path, stateOf(join(folder, '.env')))).toBe('moved')
  linkSync(join(folder, 'secrets/token'), join(folder, 'zones/hard.txt'))
  expect(refuseOpened(policy, join(folder, 'zones/hard.txt'), stateOf(join(folder, 'zones/hard.txt')))).toMatch(/a secret of the config/)
})

it('never reads a secret through a constantly changing link', async () => {
  const { folder, config } = await scene()
  const policy = sourcePolicy(config)
  const path = join(folder, 'zones/b.txt')
  const targets = ['a.txt', '../secrets/token', '../.env']
  let ended = false
  const swap = async (): Promise<void> => {
    for (let i = 0; !ended; i += 1) {
      symlinkSync(targets[i % 3] as string, `${path}.new`)
      renameSync(`${path}.new`, path)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  symlinkSync('a.txt', path)
  const swapping = swap()
  const texts = new Set<string>()
  for (let i = 0; i < rounds(200); i += 1) {
    const read = await readText(path, 'b.txt', policy)
    texts.add(read.ok ? read.text : read.problem.code)
  }
  ended = true
  await swapping
  for (const text of texts) expect(['harmless\n', 'path-protected', 'file-unreadable']).toContain(text)
})
