import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isSignedBy, parsePrivateKey, parsePublicKey, signDocument } from '../../../src/stored/snapshots/signing-key.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { runTool } from '../../support/tools.ts'

const DOCUMENT = { format: 'test', values: [1, 'two', null] }

function unwrapped<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string }): T {
  if (!result.ok) throw new Error(result.message)
  return result.value
}

describeWithTools(['openssl', 'ssh-keygen'], 'keys that other programs make', () => {
  test.each<[string, string, (file: string) => Promise<unknown>, (file: string) => Promise<string>]>([
    [
      'OpenSSL',
      'openssl',
      (file) => runTool('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', file]),
      async (file) => (await runTool('openssl', ['pkey', '-in', file, '-pubout'])).stdout,
    ],
    [
      'OpenSSH',
      'ssh-keygen',
      (file) => runTool('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'a comment', '-f', file]),
      async (file) => readFileSync(`${file}.pub`, 'utf8'),
    ],
  ])('%s', async (_, __, make, publicOf) => {
    const file = join(temporaryDirectory(), 'key')
    await make(file)
    const signing = unwrapped(parsePrivateKey(readFileSync(file, 'utf8')))
    const text = await publicOf(file)
    const signature = signDocument(DOCUMENT, signing)
    expect(signature).toMatch(/^ed25519:[A-Za-z0-9+/]{86}==$/)
    expect(isSignedBy(DOCUMENT, signature, unwrapped(parsePublicKey(text)))).toBe(true)
    expect(isSignedBy({ ...DOCUMENT, checksum: 'any' }, signature, unwrapped(parsePublicKey(text)))).toBe(true)
    expect(isSignedBy({ ...DOCUMENT, values: [1, 'two', false] }, signature, unwrapped(parsePublicKey(text)))).toBe(false)
    expect(parsePublicKey(readFileSync(file, 'utf8'))).toEqual({ ok: false, message: expect.stringContaining('is a private key') })
  })

  test('a key of OpenSSH with a passphrase is refused', async () => {
    const file = join(temporaryDirectory(), 'key')
    await runTool('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'a passphrase', '-f', file])
    expect(parsePrivateKey(readFileSync(file, 'utf8'))).toEqual(NOT_A_KEY)
  })
})

const NOT_A_KEY = { ok: false, message: 'is not an Ed25519 key without a passphrase' }

const sshKey = (octets: Buffer): string =>
  `-----BEGIN OPENSSH PRIVATE KEY-----\n${octets.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`

test.each<[string, string]>([
  ['an empty text', ''],
  ['a text', 'hello'],
  ['an empty PEM', '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n'],
  ['an OpenSSH key with nothing in it', sshKey(Buffer.alloc(0))],
  ['an OpenSSH key that is cut off', sshKey(Buffer.from('openssh-key-v1\0\0\0\0\u0004no'))],
  ['an OpenSSH key with a length beyond its end', sshKey(Buffer.from([...Buffer.from('openssh-key-v1\0'), 255, 255, 255, 255]))],
  ['a public line that is cut off', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA=='],
])('%s is no key', (_, text) => {
  expect(parsePrivateKey(text)).toEqual(NOT_A_KEY)
  expect(parsePublicKey(text)).toMatchObject({ ok: false })
})

test('a key of another type is refused by name', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const [secret, open] = [privateKey.export({ type: 'pkcs8', format: 'pem' }), publicKey.export({ type: 'spki', format: 'pem' })]
  expect(parsePrivateKey(secret.toString())).toEqual({ ok: false, message: 'is a key of type ec, not ed25519' })
  expect(parsePublicKey(open.toString())).toEqual({ ok: false, message: 'is a key of type ec, not ed25519' })
})

test('text in the place of a signature is none', () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  for (const text of ['', 'ed25519:', `ed25519:${'A'.repeat(86)}==`, `ed25519:${'!'.repeat(88)}`])
    expect(isSignedBy(DOCUMENT, text, publicKey)).toBe(false)
})
