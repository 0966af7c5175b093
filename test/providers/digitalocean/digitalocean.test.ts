/** What plans and runs do at DigitalOcean beyond the conformance suite: texts, TTLs, domains, requests and errors. */
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, UNCHANGED, WWW } from '../scripted-scene.ts'
import { record, startDigitalOceanScene as start } from './scene.ts'

test('records keep their identifiers, and names of rdata are those of the API', async () => {
  const scene = await start({
    records: [record(7, 'www', 'A', '192.0.2.9'), record(8, 'docs', 'CNAME', '@'), record(9, '@', 'MX', 'mx.example.com', { priority: 9 })],
    definition: `${WWW}  docs: {type: CNAME, value: example.com.}\n  '': {type: MX, value: {preference: 20, exchange: mx.example.com.}}\n`,
  })
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(scene.records()?.map(({ id, data, priority }) => [id, data, priority])).toEqual([
    [7, '192.0.2.1', null],
    [8, '@', null],
    [9, 'mx.example.com', 20],
  ])
  expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
})

test('texts have no quotes at the API, CAA values no final dot, and low TTLs become 30', async () => {
  const scene = await start({
    definition:
      '  a: {type: TXT, ttl: 5, value: \'say "hi" to; us\'}\n' +
      "  '': {type: CAA, values: [{flags: 0, tag: issue, value: ca.example.net}, {flags: 0, tag: issuewild, value: ;}]}\n",
  })
  expectEnd(await scene.run(APPLY), 0, { err: 'rounds TTL 5 up to 30 for a.example.com. TXT' })
  expect(
    scene
      .records()
      ?.map(({ data, ttl }) => `${data} ${ttl}`)
      .sort(),
  ).toEqual(['; 3600', 'ca.example.net 3600', 'say "hi" to; us 30'])
  expect((await scene.run(PLAN)).status).toBe(0)
})

test.each([
  ['a backslash', 'TXT', "'back\\slash'"],
  ['a text of 600 characters', 'TXT', 'x'.repeat(600)],
  ['a CAA value with parameters', 'CAA', "{flags: 0, tag: issue, value: 'ca.example.net; a=b'}"],
  ['a null MX', 'MX', '{preference: 0, exchange: .}'],
])('%s is refused by the plan', async (_, type, value) => {
  const scene = await start({ definition: `  www: {type: ${type}, value: ${value}}\n` })
  expectEnd(await scene.run(PLAN), 1, { err: /DigitalOcean (?:accepts|does not support)/ })
})

describe('domains', () => {
  test('are created and deleted, and keep the name servers that they are given', async () => {
    const scene = await start({ definition: WWW, domains: [] })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
    scene.defineAbsent()
    expect((await scene.run([...APPLY, '--allow', 'delete-zone', '--allow', 'empty-zone'])).status).toBe(0)
    expect(scene.records()).toBeNull()
  })

  test('to which another client adds a record after the plan are not deleted', async () => {
    const answer = ({ method, path }: { method: string; path: string }) => {
      reads += Number(method === 'GET' && path.endsWith('/records'))
      const records = [record(1, 'www', 'A', '192.0.2.1'), ...(reads > 1 ? [record(2, 'new', 'A', '192.0.2.2')] : [])]
      return method === 'GET' && path.endsWith('/records') ? { domain_records: records, meta: { total: records.length } } : undefined
    }
    let reads = 0
    const scene = await start({ definition: WWW, answer })
    scene.defineAbsent()
    expectEnd(await scene.run([...APPLY, '--allow', 'delete-zone', '--allow', 'empty-zone']), 1, { said: /another client/ })
    expect(scene.records()).not.toBeNull()
  })

  test.each([
    ['with other NS records have those only', 'ns1.example.net., ns2.example.net.'],
    ['with NS records have those once', 'ns1.digitalocean.com., ns2.digitalocean.com., ns3.digitalocean.com.'],
  ])('%s, also if the answer to the creation is lost', async (_, names) => {
    const scene = await start({ definition: '', domains: [] })
    scene.define(`  '': {type: NS, ttl: 600, values: [${names}]}\n`)
    scene.server.loseAnswers(1)
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })
})

test('a deletion that was not carried out', async () => {
  const scene = await start({
    records: [record(1, 'www', 'A', '192.0.2.1'), record(2, 'other', 'A', '192.0.2.1')],
    definition: '  other: {type: A, value: 192.0.2.1}\n',
    answer: ({ method }) => (method === 'DELETE' ? {} : undefined),
  })
  expect((await scene.run(APPLY)).status).not.toBe(0)
})
