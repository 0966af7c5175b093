/** Approvals with a key in the format of OpenSSH (`PROTOCOL.key` in its sources). The tests with `ssh-keygen` need that program, this one does not. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { makeSshKey } from '../support/ssh-key.ts'
import { openScene } from './scene.ts'

test('a plan is applied when a key of the config has approved it', async () => {
  const { file, line } = makeSshKey()
  const scene = openScene({ config: `approvals:\n  needed: 1\n  keys: {alice: '${line}'}\n` })
  scene.write({ key: file })
  chmodSync(join(scene.folder, 'key'), 0o600)
  await scene.run('plan', '-o', 'plan.json')
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 3, { said: 'not-approved' })
  expectEnd(await scene.run('approve', 'plan.json', '--key', 'key', '--yes'), 0, { said: 'alice approves plan.json' })
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 0)
})
