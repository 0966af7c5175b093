/** Approvals with a key in the format of OpenSSH (`PROTOCOL.key` in its sources). The tests with `ssh-keygen` need that program, this one does not. */
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { sshKeyOctets, sshString } from '../../src/config/ssh-public-key.ts'
import { expectEnd } from '../support/cli.ts'
import { openScene } from './scene.ts'

/** The texts of a private key without a passphrase, and of its public key. */
function makeKey() {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [own, seed] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')]
  const list = [Buffer.alloc(8), sshString('ssh-ed25519'), sshString(own), sshString(Buffer.concat([seed, own])), sshString('')]
  const head = [Buffer.from('openssh-key-v1\0'), sshString('none'), sshString('none'), sshString(''), Buffer.from([0, 0, 0, 1])]
  const base64 = Buffer.concat([...head, sshString(sshKeyOctets(own)), sshString(Buffer.concat(list))]).toString('base64')
  const name = 'OPENSSH PRIVATE KEY'
  return {
    file: `-----BEGIN ${name}-----\n${base64}\n-----END ${name}-----\n`,
    line: `ssh-ed25519 ${sshKeyOctets(own).toString('base64')}`,
  }
}

test('a plan is applied when a key of the config has approved it', async () => {
  const { file, line } = makeKey()
  const scene = openScene({ config: `approvals:\n  needed: 1\n  keys: {alice: '${line}'}\n` })
  scene.write({ key: file })
  chmodSync(join(scene.folder, 'key'), 0o600)
  await scene.run('plan', '-o', 'plan.json')
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 3, { said: 'not-approved' })
  expectEnd(await scene.run('approve', 'plan.json', '--key', 'key', '--yes'), 0, { said: 'alice approves plan.json' })
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 0)
})
