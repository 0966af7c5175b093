/** `copy` from a scripted cloud to a folder: what the source has and the copy does not. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startCloudflareScene } from '../providers/cloudflare/scene.ts'
import type { ScriptedScene } from '../providers/scripted-scene.ts'
import { expectEnd } from '../support/cli.ts'

const WWW = { type: 'A', name: 'www', content: '192.0.2.1', ttl: 300 }
const addProvider = ({ folder }: ScriptedScene, line: string): void => appendFileSync(join(folder, 'zonewright.yaml'), line)

const CASES: readonly (readonly [loss: string, open: () => Promise<ScriptedScene>, row: string])[] = [
  [
    'a record that plans leave alone',
    async () => {
      const scene = await startCloudflareScene({ posts: [WWW, { ...WWW, name: 'cdn' }] })
      for (const { name, meta } of scene.records()) if (name.startsWith('cdn')) Object.assign(meta, { read_only: true })
      return scene
    },
    'left out        1  cdn A  at cf it is managed by Cloudflare itself',
  ],
  [
    'settings of a record',
    () => startCloudflareScene({ posts: [WWW, { ...WWW, name: 'cdn', proxied: true, ttl: 1 }] }),
    'changed        1  cdn A  at cf it has the settings proxied',
  ],
  [
    'a record with malformed data',
    async () => {
      const scene = await startCloudflareScene({ posts: [WWW, { ...WWW, name: 'cdn' }] })
      Object.assign(scene.records().find(({ name }) => name.startsWith('cdn')) as object, { content: '192.0.2.256' })
      return scene
    },
    'left out        1  cdn A  at cf it has data that no definition can have',
  ],
]

describe('what the source has and the copy does not is in the table', () => {
  test.each(CASES)('%s stops the copy, unless it is lossy', async (_, open, row) => {
    const scene = await open()
    mkdirSync(join(scene.folder, 'served'))
    addProvider(scene, '  files: {type: zonefile, directory: served}\n')
    const copy = (...more: string[]) =>
      scene.run(['copy', '--from', 'cf', '--to', 'files', 'example.com', '--apex-ns', 'ns1.example.net', ...more])
    expectEnd(await copy('--yes'), 1, { err: [row, /error\[record-unplanned\] cdn\.example\.com\. A: .* not copied \(.*--lossy\)/] })
    expect(existsSync(join(scene.folder, 'served/example.com.zone'))).toBe(false)
    expectEnd(await copy('--yes', '--lossy'), 0, { err: 'warning[record-unplanned]' })
    expect(readFileSync(join(scene.folder, 'served/example.com.zone'), 'utf8')).toMatch(/^www\s/m)
  })
})

test('settings of records are copied to the same type of provider', async () => {
  const [scene, other] = [
    await startCloudflareScene({ posts: [{ ...WWW, proxied: true, ttl: 1, comment: 'web' }] }),
    await startCloudflareScene({}),
  ]
  addProvider(scene, `  new: {type: cloudflare, base_url: '${other.server.origin}/client/v4', token: env:TOKEN}\n`)
  expect(await scene.run(['copy', '--from', 'cf', '--to', 'new', 'example.com', '--yes'])).toMatchObject({ status: 0, stderr: '' })
  expect(other.records()).toMatchObject([{ content: '192.0.2.1', proxied: true, comment: 'web' }])
})
