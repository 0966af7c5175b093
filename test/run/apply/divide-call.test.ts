/** A target that refuses a message because of some record sets: the others are changed, in a safe order. */
import { expect, test } from 'vitest'
import { cloudflareCapabilities } from '../../../src/providers/cloudflare/capabilities.ts'
import type { FaultChoice } from '../../../src/providers/memory/memory-provider.ts'
import { powerDnsCapabilities } from '../../../src/providers/powerdns/capabilities.ts'
import { RFC2136_CAPABILITIES } from '../../../src/providers/rfc2136/capabilities.ts'
import { openScene } from '../../cli/scene.ts'

const APPLY = ['apply', '--yes', '--allow', 'updates', '--allow', 'deletes', '--format', 'json']

/** Refuses every message that changes one of these names, or all messages. */
const refusing =
  (names: readonly string[] | 'all'): FaultChoice =>
  ({ kind, changes }) =>
    kind === 'write' && (names === 'all' || changes.some(({ name }) => names.includes(name.split('.')[0] ?? '')))
      ? { kind: 'refused', code: 'provider-rejected', message: 'REFUSED' }
      : null

const hosts = (count: number): string =>
  Array.from({ length: count }, (_, host) => `  h${host}: {type: A, ttl: 300, value: 192.0.2.1}\n`).join('')

/** Applies the definition, and returns the exit status, the changes by state, and the messages that were sent. */
async function applied(
  existing: string | null,
  definition: string,
  refused: Parameters<typeof refusing>[0],
  capabilities = RFC2136_CAPABILITIES,
) {
  const scene = openScene({
    capabilities,
    zones: existing === null ? {} : { 'example.com': existing },
    files: { 'zones/example.com.yaml': `domain: example.com\nrecords:\n${definition}` },
    fault: refusing(refused),
  })
  const { status, stdout } = await scene.run(...APPLY)
  const [zone] = JSON.parse(stdout).zones as [{ changes: { name: string; type: string; outcome: { state: string } }[] }]
  const inState = (state: string): string[] =>
    zone.changes.filter(({ outcome }) => outcome.state === state).map(({ name, type }) => `${name.split('.')[0]} ${type}`)
  return { scene, status, inState, messages: scene.memory.writes().length }
}

test('the refused record sets are found, and all others are changed', async () => {
  const refused = ['h5', 'h37']
  const { scene, status, inState, messages } = await applied('h0 300 A 192.0.2.9', hosts(40), refused)
  expect([status, inState('failed'), inState('applied').length]).toEqual([4, ['h37 A', 'h5 A'], 38])
  expect(messages).toBeLessThan(25)
  scene.memory.use(undefined)
  expect((await scene.run(...APPLY)).status).toBe(0)
})

test('a new zone is created without the record sets that the target refuses in its first call', async () => {
  const capabilities = powerDnsCapabilities([])
  const { scene, status, inState } = await applied(null, hosts(40), ['h5', 'h37'], capabilities)
  expect([status, inState('failed'), inState('skipped'), inState('applied').length]).toEqual([4, ['h37 A', 'h5 A'], [], 39])
  expect(scene.memory.zone('example.com')).toHaveLength(38)
  const refused = await applied(null, hosts(4), 'all', capabilities)
  expect([refused.status, refused.scene.memory.zone('example.com')]).toEqual([1, null])
})

test.each([
  ['rrset', RFC2136_CAPABILITIES],
  ['record', cloudflareCapabilities('free', false)],
])('what must follow a refused %s is not changed, and what must change together does', async (_, capabilities) => {
  const existing = '@ 300 MX 10 mail1\nmail1 300 A 192.0.2.1\nold 300 CNAME mail1\nswap 300 CNAME www.example.net.\n'
  const definition = `  '': {type: MX, ttl: 300, value: {preference: 10, exchange: mail2}}
  mail2: {type: A, ttl: 300, value: 192.0.2.2}
  alias: {type: CNAME, ttl: 300, value: mail2}
  swap: {type: A, ttl: 300, value: 192.0.2.3}
${hosts(4)}`
  const { scene, inState } = await applied(existing, definition, ['mail2'], capabilities)
  // The old mail server stays as long as the MX record points to it.
  expect([inState('failed'), inState('skipped').sort()]).toEqual([['mail2 A'], ['alias CNAME', 'example MX', 'mail1 A']])
  expect(scene.memory.zone('example.com')).toEqual(
    expect.arrayContaining([
      'example.com. 300 MX 10 mail1.example.com.',
      'mail1.example.com. 300 A 192.0.2.1',
      'swap.example.com. 300 A 192.0.2.3',
    ]),
  )
  for (const write of scene.memory.writes()) expect(write.includes('create swap')).toBe(write.includes('delete swap'))
})

test('a target that refuses everything is not asked about every record set', async () => {
  const { status, inState, messages } = await applied('', hosts(200), 'all')
  expect([status, inState('failed').length]).toEqual([1, 200])
  expect(messages).toBeLessThan(230)
})
