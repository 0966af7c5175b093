import { expect, test } from 'vitest'
import { parseSshKey } from '../../../src/service/api/profile/ssh-key-routes.ts'
import { anyCharacter, fc } from '../../support/fast-check.ts'
import { fieldsOf, SSH_KEYS, sshKeyOf } from './ssh-key-samples.ts'

const ED25519 = SSH_KEYS['ssh-ed25519']
const [, CURVE, POINT] = fieldsOf(SSH_KEYS['ecdsa-sha2-nistp256']) as [Buffer, Buffer, Buffer]
const [, EXPONENT, MODULUS] = fieldsOf(SSH_KEYS['ssh-rsa']) as [Buffer, Buffer, Buffer]
const [, P, Q, G, Y] = fieldsOf(SSH_KEYS['ssh-dss']) as [Buffer, Buffer, Buffer, Buffer, Buffer]
const SECURITY_KEY = sshKeyOf('sk-ecdsa-sha2-nistp256@openssh.com', CURVE, POINT, 'ssh:')
const offCurve = Buffer.from(POINT)
offCurve[64] = (offCurve[64] as number) ^ 1

test.each(Object.entries({ ...SSH_KEYS, 'sk-ecdsa-sha2-nistp256': SECURITY_KEY }))('of type %s is accepted', (_type, key) => {
  expect(parseSshKey(key)).toBe(key)
})

test.each([
  ['surrounding white space', ` \t${ED25519}\r\n`, ED25519],
  ['several spaces', ED25519.replaceAll(' ', '  '), ED25519],
  ['no comment', ED25519.split(' ').slice(0, 2).join(' '), ED25519.split(' ').slice(0, 2).join(' ')],
  ['a comment with several words', `${ED25519} ü 2`, `${ED25519} ü 2`],
])('with %s is accepted', (_name, text, line) => expect(parseSshKey(text)).toBe(line))

test.each([
  ['of an unknown type', sshKeyOf('ssh-foo', Buffer.alloc(32))],
  ['of a type similar to a known one', sshKeyOf('ecdsa-sha2-nistp224', 'nistp224', POINT)],
  ['of a certificate type', sshKeyOf('ssh-ed25519-cert-v01@openssh.com', Buffer.alloc(32))],
  ['whose type differs from its data', ED25519.replace('ssh-ed25519', 'ssh-rsa')],
  ['without its data', 'ssh-ed25519'],
  ['without its type', ED25519.split(' ')[1] as string],
  ['that is not base64', 'ssh-ed25519 ***'],
  ['with truncated base64', ED25519.split(' ').slice(0, 2).join(' ').slice(0, -1)],
  ['with base64 whose last bits are not zero', SSH_KEYS['ecdsa-sha2-nistp256'].replace('rh4=', 'rh5=')],
  ['with a second line', `${ED25519}\n${ED25519}`],
  ['with a line feed in its comment', `${ED25519}\ncommand="x"`],
  ['with a control character in its comment', `${ED25519} \u001b[2J`],
  ['with options', `no-pty,command="x" ${ED25519}`],
  ['that is a private key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
  ['of Ed25519 with 31 octets', sshKeyOf('ssh-ed25519', Buffer.alloc(31))],
  ['of Ed25519 with a field too many', sshKeyOf('ssh-ed25519', Buffer.alloc(32), '')],
  [
    'with octets after its fields',
    `ssh-ed25519 ${Buffer.concat([Buffer.from(ED25519.split(' ')[1] as string, 'base64'), Buffer.alloc(3)]).toString('base64')}`,
  ],
  ['of RSA with 1023 bits', sshKeyOf('ssh-rsa', EXPONENT, Buffer.concat([Buffer.from([0x7f]), MODULUS.subarray(130)]))],
  ['of RSA with an even modulus', sshKeyOf('ssh-rsa', EXPONENT, Buffer.concat([MODULUS.subarray(0, -1), Buffer.from([2])]))],
  ['of RSA with the exponent 1', sshKeyOf('ssh-rsa', Buffer.from([1]), MODULUS)],
  ['of RSA with a negative modulus', sshKeyOf('ssh-rsa', EXPONENT, MODULUS.subarray(1))],
  ['of RSA with a padded modulus', sshKeyOf('ssh-rsa', EXPONENT, Buffer.concat([Buffer.alloc(1), MODULUS]))],
  ['of RSA with 16392 bits', sshKeyOf('ssh-rsa', EXPONENT, Buffer.alloc(2049, 0x7f))],
  ['of DSA with fields swapped', sshKeyOf('ssh-dss', Q, P, G, Y)],
  ['of DSA without y', sshKeyOf('ssh-dss', P, Q, G)],
  ['of ECDSA with another curve than its type', sshKeyOf('ecdsa-sha2-nistp384', CURVE, POINT)],
  ['of ECDSA off its curve', sshKeyOf('ecdsa-sha2-nistp256', CURVE, offCurve)],
  ['of ECDSA with a compressed point', sshKeyOf('ecdsa-sha2-nistp256', CURVE, Buffer.concat([Buffer.from([2]), POINT.subarray(1, 33)]))],
  ['of a security key without its application', sshKeyOf('sk-ecdsa-sha2-nistp256@openssh.com', CURVE, POINT, '')],
  ['above the length limit', `${ED25519} ${'x'.repeat(16_000)}`],
])('%s is refused', (_name, text) => expect(parseSshKey(text)).toBeNull())

test.each([' ', '\t', ' \u00a0'])('is checked fast with much white space: %j', (space) => {
  for (let key = 0; key < 60; key += 1) expect(parseSshKey(`ssh-ed25519 AAAA${space.repeat(7_900)}\u0001`)).toBeNull()
})

test('any text is parsed or refused, never an error', () => {
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc
      .tuple(fc.constantFrom(...Object.keys(SSH_KEYS)), fc.uint8Array({ maxLength: 200 }))
      .map(
        ([type, octets]) => `${type} ${Buffer.concat([Buffer.from([0, 0, 0, type.length]), Buffer.from(type), octets]).toString('base64')}`,
      ),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const line = parseSshKey(text)
      if (line !== null) expect(parseSshKey(line)).toBe(line)
    }),
  )
})
