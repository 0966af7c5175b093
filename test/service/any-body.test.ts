import { expect, test } from 'vitest'
import { parseDomainName } from '../../src/dns/domain-name.ts'
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { startForTest } from './harness.ts'

/** Bodies with any text: those accepted give a valid zone. Bodies from schemas are in any-operation.test.ts. */
const { service, client } = await startForTest()

const label = fc.constantFrom('', 'a b', ...'a WWW _x * bücher xn--bcher-kva - 1h in @ " \\046 企业 K ①'.split(' '))
const name = fc.oneof(
  fc.array(label, { maxLength: 4 }).map((labels) => labels.join('.')),
  fc.array(label, { maxLength: 3 }).map((labels) => [...labels, 'any', 'example', ''].join('.')),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const target = fc.oneof(
  name,
  fc.constantFrom('192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1', '[remote_addr]', ';', '.', 'mailto:a@b.example', 'https://b.example/"'),
  fc.string({ unit: 'binary', maxLength: 600 }),
)
const number = fc.oneof(fc.integer({ min: -1, max: 70_000 }), fc.constantFrom(0, 10, 300, 1e300, 0.5))
const junk = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(null, '', 0, [], {}))
const mostly = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 20, arbitrary }, { weight: 1, arbitrary: junk as fc.Arbitrary<unknown> })

/** Bodies that are stored unchanged. */
const fine = fc.constantFrom<Record<string, unknown>[]>(
  { type: 'A', target: '192.0.2.1' },
  { type: 'AAAA', target: '2001:db8::1' },
  { type: 'NS', name: 'sub', target: 'ns.example.net' },
  { type: 'MX', target: 'mail.example.net', priority: 10 },
  { type: 'CNAME', name: 'alias', target: 'www' },
  { type: 'TXT', target: 'text' },
  { type: 'SRV', service: 'sip', protocol: 'tcp', priority: 1, weight: 2, port: 3, target: 'sip.example.net' },
  { type: 'PTR', name: '1', target: 'host.example.net' },
  { type: 'CAA', tag: 'issue', target: ';' },
)
const change = fc.oneof(
  fc.record({ name: mostly(name) }),
  fc.record({ target: mostly(target) }),
  fc.record({ ttl_sec: mostly(number) }),
  fc.record({ priority: mostly(number) }),
  fc.record({ port: mostly(number) }),
  fc.record({ service: mostly(fc.oneof(fc.constantFrom('_sip', 'a-b', 'ä'), name)) }),
  fc.record({ protocol: mostly(fc.oneof(fc.constantFrom('_udp', 'tcp.sub', 'tcp.*'), name)) }),
  fc.record({ tag: mostly(fc.constantFrom(null, 'issue', 'issuewild', 'iodef')) }),
  fc.dictionary(fc.string(), junk, { maxKeys: 1 }),
)
const recordBody = fc
  .tuple(fine, fc.array(change, { maxLength: 3 }))
  .map(([body, changes]) => Object.assign({}, body, ...changes) as object)

test('accepts or refuses every body, and accepted bodies give a valid zone', { tags: ['long'], timeout: 180_000 }, async () => {
  const { id } = await client.ok('POST', '/domains', { domain: 'any.example', type: 'master', soa_email: 'a@any.example' })
  const path = `/domains/${id}/records`
  let taken = 0
  await fc.assert(
    fc.asyncProperty(recordBody, async (body) => {
      const answer = await client.call('POST', path, body)
      expect([200, 400]).toContain(answer.status)
      if (answer.status === 200) {
        taken += 1
        const { type: _, ...same } = answer.body
        // A returned object can be sent again.
        expect((await client.call('PUT', `${path}/${answer.body.id}`, same)).body).toMatchObject({ name: same.name, target: same.target })
      } else {
        expect(answer.body.errors.length).toBeGreaterThan(0)
        for (const { reason } of answer.body.errors) expect(reason).toMatch(/^[A-Z<a-z_]/)
      }
    }),
    { numRuns: rounds(800) },
  )
  expect(taken).toBeGreaterThan(rounds(100))

  await service.flush()
  const lines: string[] = (await client.ok('GET', `/domains/${id}/zone-file`)).zone_file
  expect((await client.ok('GET', `/domains/${id}`)).errors).toBe('')
  const origin = parseDomainName('any.example.')
  if (!origin.ok) throw new Error(origin.message)
  const { records, diagnostics } = parseZoneFile(`${lines.join('\n')}\n`, { origin: origin.value, file: 'any.example' })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(records).toHaveLength(lines.length - 2)
})
