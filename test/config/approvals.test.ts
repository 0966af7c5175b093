import { expect, test } from 'vitest'
import { neededApprovals } from '../../src/config/approvals.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { sshKeyOctets } from '../../src/config/ssh-public-key.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'

const read = (text: string) => readConfig(text, { file: 'zonewright.yaml', folder: '/p', cwd: '/p' })
const key = (octet: number): string => `ssh-ed25519 ${sshKeyOctets(Buffer.alloc(32, octet)).toString('base64')} a comment`

test.each([
  ['the key of another', `{needed: 1, keys: {a: '${key(1)}', b: '${key(1)}'}}`, 'b has the key of a: one person cannot approve twice'],
  ['more approvals than keys', `{needed: 2, keys: {a: '${key(1)}'}}`, '2 approvals are needed, and one key is listed'],
  ['another type', "{needed: 1, keys: {a: 'ssh-rsa AAAA'}}", 'a is a key of the type ssh-rsa, not ssh-ed25519'],
  ['a token', "{needed: 1, keys: {a: 'sk-ssh-ed25519@openssh.com AAAA'}}", 'a is a key of a security token'],
  ['a placeholder', `{needed: 1, keys: {a: '${key(0)}'}}`, 'a is not a usable Ed25519 key: everybody can sign for it'],
  ['half a key', `{needed: 1, keys: {a: '${key(1).slice(0, 40)}'}}`, 'a is not'],
])('%s is an error with its place', (_, text, message) => {
  const { config, diagnostics } = read(`approvals: ${text}\n`)
  expect(config).toBeNull()
  expect(diagnostics).toMatchObject([{ severity: 'error', message: expect.stringContaining(message), at: { line: 1 } }])
})

test('a plan needs as many approvals as the zone that needs most', () => {
  const { config } = read(
    `approvals: {needed: 1, zones: [{zone: 'lab.*', needed: 0}, {zone: big.example, needed: 2}], keys: {a: '${key(1)}', b: '${key(2)}'}}`,
  )
  const needed = (...names: string[]) => config?.approvals && neededApprovals(config.approvals, names as DomainName[])
  expect([needed(), needed('lab.example.'), needed('x.example.', 'lab.example.'), needed('x.example.', 'big.example.')]).toEqual([
    0, 0, 1, 2,
  ])
})
