import { randomInt } from 'node:crypto'
import { expect } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message } from '../../../src/dns/wire/message.ts'
import type { TsigKey } from '../../../src/dns/wire/tsig.ts'
import { type SignedMessage, signMessage } from '../../../src/dns/wire/tsig-client.ts'
import { readSeed, readTransferKeys, type ServiceOptions, type TransferKey } from '../../../src/service/index.ts'
import type { TsigKey as TextKey } from '../../support/tools.ts'
import { connect, LOOPBACK, startForTest } from '../harness.ts'

/** Two accounts, each with one user. */
export const USERS = ['alice', 'bob'] as const

const SEED = readSeed(
  JSON.stringify({
    accounts: USERS.map((username) => ({
      users: [{ username, email: `${username}@example.com`, tokens: [{ token: `token-of-${username}` }] }],
    })),
  }),
  'seed.yaml',
).seed

/** A key of the key file, with its account and settings. */
export interface KeyEntry {
  readonly name: string
  readonly account: string
  readonly algorithm?: 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512'
  readonly zones?: readonly string[]
  readonly peers?: readonly string[]
  readonly transfers?: 'incoming' | 'outgoing' | 'both'
}

/** A different secret for each key name. */
export const secretOf = (name: string): string => Buffer.from(name.padEnd(32, '.').slice(0, 32)).toString('base64')

/** The key in the form of the tools of name servers. */
export const toolKey = ({ name, algorithm = 'hmac-sha256' }: KeyEntry): TextKey => ({ name: `${name}.`, algorithm, secret: secretOf(name) })

export const wireKey = ({ name, algorithm = 'hmac-sha256' }: KeyEntry): TsigKey => {
  return { name: `${name}.` as DomainName, algorithm, secret: Buffer.from(secretOf(name), 'base64') }
}

/** Parses the keys like a key file. */
export async function readKeys(entries: readonly KeyEntry[]): Promise<readonly TransferKey[]> {
  const text = JSON.stringify({ keys: entries.map((entry) => ({ ...entry, secret: secretOf(entry.name) })) })
  const { keys, diagnostics } = await readTransferKeys(text, 'keys.yaml', async (value) => ({ value, diagnostic: null }))
  expect(diagnostics).toEqual([])
  return keys as readonly TransferKey[]
}

/** Starts a service with the two accounts and these keys, and a client per account. */
export async function startKeyed(entries: readonly KeyEntry[], options: Partial<ServiceOptions> = {}) {
  const lines: string[] = []
  const { service } = await startForTest({
    dns: LOOPBACK,
    peerPort: 1,
    seed: SEED,
    transferKeys: await readKeys(entries),
    log: { level: 'debug', write: (line) => lines.push(line) },
    ...options,
  })
  const [alice, bob] = USERS.map((user) => connect(service.baseUrl, `token-of-${user}`).client)
  /** Lines of the log with this message. */
  const logged = (message: string) => lines.map((line) => JSON.parse(line)).filter((line) => line.message === message)
  return { service, alice, bob, port: service.dnsAddress?.port ?? 0, logged } as Keyed
}

export interface Keyed {
  readonly service: Awaited<ReturnType<typeof startForTest>>['service']
  readonly alice: ReturnType<typeof connect>['client']
  readonly bob: ReturnType<typeof connect>['client']
  readonly port: number
  // biome-ignore lint/suspicious/noExplicitAny: log entries have no type
  readonly logged: (message: string) => any[]
}

/** The octets of a signed query, with a signing time `ahead` seconds from now. */
export function signedQuery(zone: string, type: string, key: TsigKey, changes: Partial<Message> = {}, ahead = 0): SignedMessage {
  const query = { ...createQuery(randomInt(0x10000), { name: `${zone}.` as DomainName, type }), edns: null, ...changes }
  return signMessage(encodeMessage(query), key, Math.floor(Date.now() / 1000) + ahead)
}
