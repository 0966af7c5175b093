/** Journals, locks and saved plans are readable only by their owner, also existing ones. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { openScene, ZONE } from './scene.ts'

const modeOf = (...path: string[]): number => lstatSync(join(...path)).mode & 0o7777

test('with umask 000, saved plans and journals are private, also in an existing public journal', async () => {
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))
  const scene = openScene()
  const journal = join(scene.folder, '.zonewright')
  expect(await scene.run('plan', '--out', 'saved.plan')).toMatchObject({ status: 0 })
  expect(modeOf(scene.folder, 'saved.plan')).toBe(0o600)
  expect(await scene.run('apply', 'saved.plan', '--yes')).toMatchObject({ status: 0 })
  const entries = () => [
    journal,
    ...readdirSync(journal, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) => join(parentPath, name)),
  ]
  const arePrivate = (): void => {
    for (const path of entries()) expect([path, modeOf(path)]).toEqual([path, lstatSync(path).isDirectory() ? 0o700 : 0o600])
  }
  arePrivate()
  const opened = entries().filter((path) => !path.endsWith('.gitignore'))
  for (const path of opened) chmodSync(path, lstatSync(path).isDirectory() ? 0o777 : 0o666)
  scene.write({ 'zones/example.com.yaml': `${ZONE}  new: {type: A, value: 192.0.2.9}\n` })
  const { stderr } = expectEnd(await scene.run('apply', '--yes'), 0, { err: `${journal} was accessible to other users` })
  for (const path of opened) expect(stderr).toContain(`${path} was accessible`)
  arePrivate()
  // An existing plan file keeps its mode.
  chmodSync(join(scene.folder, 'saved.plan'), 0o640)
  expect(await scene.run('plan', '--out', 'saved.plan')).toMatchObject({ status: 0 })
  expect(modeOf(scene.folder, 'saved.plan')).toBe(0o640)
})
