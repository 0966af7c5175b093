/** What the scripted OVHcloud refuses, that it answers as the real one did, and what is published when. */
import { expect, test } from 'vitest'
import { APPLY, startCloudScene, WWW } from '../../providers/scripted-scene.ts'
import { expectEnd } from '../../support/cli.ts'
import { replayTests } from '../replay-tests.ts'
import { serviceTests } from '../service-tests.ts'
import { createOvh, type OvhRecord } from './service.ts'

const RECORD = '/domain/zone/example.com/record'
const A = { fieldType: 'A', subDomain: 'www', target: '192.0.2.1', ttl: 300 }
const CNAME = { fieldType: 'CNAME', subDomain: 'www', target: 'other.example.com.', ttl: 300 }

serviceTests('ovh', {
  options: { keys: null },
  write: (record) => ['POST', RECORD, record],
  refused: (why) => ({ status: 400, body: { message: `Invalid record: ${why}` } }),
  refusals: [
    ['a CNAME beside an address', [A], CNAME, 'cname'],
    ['a CNAME at the apex', [], { ...CNAME, subDomain: '' }, 'cname'],
    ['a record twice', [A], A, 'double'],
    ['an unknown type', [], { ...A, fieldType: 'ALIAS' }, 'type'],
    ['a low TTL', [], { ...A, ttl: 59 }, 'ttl'],
    ['an address that is none', [], { ...A, target: '192.0.2.256' }, 'data'],
  ],
  requests: [
    ['an unknown record', ['PUT', `${RECORD}/1`, A], { status: 404, body: { errorCode: 'NOT_FOUND' } }],
    ['an unknown zone', ['GET', '/domain/zone/missing.example/record'], { status: 404 }],
    ['a list of some', ['GET', `${RECORD}?fieldType=A`], { status: 200, body: [] }],
  ],
  throttled: [['GET', '/domain/zone'], { status: 429, headers: { 'retry-after': '1' } }],
})

replayTests('ovh', {
  size: [26, 223],
  generated: { pattern: () => null, isUnordered: () => true },
  seed({ exchanges }) {
    const bodies = exchanges.map(({ method, response }) => [method, JSON.parse(response || 'null')] as const)
    const ids = bodies.flatMap(([method, body]): number[] => (method === 'POST' && body !== null ? [body.id] : []))
    const all = new Map(bodies.flatMap(([, body]): [number, OvhRecord][] => (body?.fieldType ? [[body.id, body]] : [])))
    const records = [...all.values()].filter(({ id }) => !ids.includes(id))
    return { service: createOvh({ keys: null, zones: ['pacalis.net'], records, ids }).service, shared: [] }
  },
})

test('requests are signed by the clock of the service, and what a run could not publish the next one does', async () => {
  let isBroken = true
  const respond = ({ path }: { path: string }) =>
    isBroken && path.endsWith('/refresh') ? { status: 500, headers: {}, body: '' } : undefined
  const scene = await startCloudScene('ovh', { definition: WWW, ahead: 3600, respond })
  const served = () => scene.scripted.served('example.com').filter(({ subDomain }) => subDomain === 'www').length
  expectEnd(await scene.run(APPLY), 1, { said: /publishing example\.com\..*500.*apply again/s })
  expect([scene.scripted.records('example.com').length, served()]).toEqual([3, 0])
  isBroken = false
  expectEnd(await scene.run(APPLY), 0, { said: 'example.com. is published' })
  expect(served()).toBe(1)
})
