import { generateKeyPairSync } from 'node:crypto'
import { sshKeyOctets, sshString } from '../../src/config/ssh-public-key.ts'

/** The texts of a private key without a passphrase, and of its public key. */
export function makeSshKey() {
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
