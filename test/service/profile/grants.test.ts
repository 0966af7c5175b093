import { expect, test } from 'vitest'
import { REPORTED_KINDS } from '../../../src/service/api/grants.ts'
import { readSeed } from '../../../src/service/index.ts'
import { GRANT_TABLES } from '../../../src/service/store/grant-store.ts'
import { connect, startForTest } from '../harness.ts'

/** One object of each kind with grants, and another without. */
const twice = (entry: (label: string) => object): object[] => ['granted', 'other'].map(entry)

const OBJECTS = {
  domains: twice((label) => ({ domain: `${label}.example`, type: 'master', soa_email: 'hostmaster@example.com' })),
  instances: twice((label) => ({ label, region: 'us-east' })),
  volumes: twice((label) => ({ label, region: 'us-east' })),
  load_balancers: twice((label) => ({ label, region: 'us-east', ipv4: label === 'other' ? '192.0.2.8' : '192.0.2.7' })),
  images: twice((label) => ({ label })),
  scripts: twice((label) => ({ label, script: '#!/bin/sh\n' })),
}

const KINDS = Object.keys(GRANT_TABLES) as (keyof typeof GRANT_TABLES)[]

const granted = (permissions: string) =>
  Object.fromEntries(
    KINDS.map((kind) => [kind, [{ permissions, ...(kind === 'domain' ? { domain: 'granted.example' } : { label: 'granted' }) }]]),
  )

test('grants of a restricted user list its permissions on objects of every kind, and nothing else', async () => {
  const user = (name: string, more: object) => ({ username: name, email: `${name}@example.com`, tokens: [{ token: name }], ...more })
  const document = {
    accounts: [
      {
        users: [
          user('owner', {}),
          user('nobody', { restricted: true }),
          user('reader', { restricted: true, grants: granted('read_only') }),
          user('writer', {
            restricted: true,
            grants: { global: { account_access: 'read_write', add_volumes: true }, ...granted('read_write') },
          }),
        ],
        ...OBJECTS,
      },
    ],
  }
  const { seed, diagnostics } = readSeed(JSON.stringify(document), 'seed.json')
  expect(diagnostics).toEqual([])
  const { service } = await startForTest({ seed })
  const grantsOf = (token: string) => connect(service.baseUrl, token).client.call('GET', '/profile/grants')
  expect(await grantsOf('owner')).toMatchObject({ status: 204, body: null })

  const { global, ...nothing } = (await grantsOf('nobody')).body
  // Four kinds have the name of this API and that of clients.
  const kinds = [...REPORTED_KINDS, 'linode', 'longview', 'nodebalancer', 'stackscript']
  expect(Object.keys(nothing).sort()).toEqual(kinds.sort())
  expect(Object.values(nothing)).toEqual(kinds.map(() => []))
  expect(global.account_access).toBeNull()

  for (const [token, permissions] of [
    ['reader', 'read_only'],
    ['writer', 'read_write'],
  ] as const) {
    const { body } = await grantsOf(token)
    for (const kind of REPORTED_KINDS) {
      const label = kind === 'domain' ? 'granted.example' : 'granted'
      const entries = (KINDS as readonly string[]).includes(kind) ? [{ id: expect.any(Number), label, permissions }] : []
      expect([kind, body[kind]]).toEqual([kind, entries])
    }
  }
  expect((await grantsOf('writer')).body.global).toMatchObject({ account_access: 'read_write', add_volumes: true, add_domains: false })
})
