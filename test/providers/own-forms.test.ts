/** Records with a form of their own at single services, and answers that only one of them gives. */
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRead, type ScriptedResponse } from '../scripted/scripted-server.ts'
import { expectEnd } from '../support/cli.ts'
import { NONE, startFaultProxy } from '../support/fault-proxy.ts'
import { APPLY, PLAN, startCloudScene, UNCHANGED, WWW } from './scripted-scene.ts'

const OVH_RECORD = { id: 1, zone: 'example.com', ttl: 3600 }
const OVH_A = { ...OVH_RECORD, fieldType: 'A', subDomain: 'www', target: '192.0.2.2' }

test('OVHcloud: a change whose record cannot be read afterwards is published', async () => {
  let isChanged = false
  const scene = await startCloudScene('ovh', {
    definition: WWW,
    records: [OVH_A],
    respond(request) {
      if (isChanged && request.path.endsWith('/record/1')) {
        isChanged = false
        return { status: 400, headers: { 'content-type': 'application/json' }, body: '{"message":"Try later","errorCode":"BUSY"}' }
      }
      isChanged ||= request.method === 'PUT'
      return undefined
    },
  })
  expectEnd(await scene.run(APPLY), 0)
  expect(scene.scripted.served('example.com').map(({ target }) => target)).toEqual(['192.0.2.1'])
})

test('OVHcloud: a failed publication is repeated, whatever other zones are applied before', async () => {
  let isBroken = true
  const scene = await startCloudScene('ovh', {
    definition: WWW,
    zones: ['example.com', 'example.net'],
    respond: ({ path }) => (isBroken && path.endsWith('/refresh') ? { status: 500, headers: {}, body: '' } : undefined),
  })
  expectEnd(await scene.run(APPLY), 1)
  isBroken = false
  scene.define(WWW, '', 'example.net')
  expectEnd(await scene.run([...APPLY, 'example.net']), 0)
  expectEnd(await scene.run(APPLY), 0, { said: 'example.com. is published' })
  expect(scene.scripted.served('example.com').map(({ subDomain }) => subDomain)).toContain('www')
})

test.each(['DKIM', 'DMARC'])('OVHcloud: a %s record keeps its text without quotes', async (fieldType) => {
  const scene = await startCloudScene('ovh', {
    definition: "  _dmarc: {type: TXT, value: 'v=X1; p=new'}\n",
    records: [{ ...OVH_RECORD, fieldType, subDomain: '_dmarc', target: 'v=X1; p=old' }],
  })
  expectEnd(await scene.run(APPLY), 0)
  expect(scene.scripted.records('example.com')).toMatchObject([{ id: 1, fieldType, target: 'v=X1; p=new' }])
  expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
})

test('OVHcloud: texts with quotes or backslashes are refused before anything is changed', async () => {
  const scene = await startCloudScene('ovh', { definition: "  a: {type: TXT, value: 'a\"b'}\n  b: {type: TXT, value: 'a\\b'}\n" })
  expectEnd(await scene.run(PLAN), 1, { said: /a\.example\.com\. TXT: OVHcloud accepts.*b\.example\.com\. TXT: OVHcloud accepts/s })
})

test('Vultr: a backslash in a text is one', async () => {
  const scene = await startCloudScene('vultr', { definition: "  a: {type: TXT, value: 'back\\slash'}\n" })
  expectEnd(await scene.run(APPLY), 0)
  expect(scene.scripted.records('example.com')?.at(-1)).toMatchObject({ data: '"back\\slash"' })
  expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
})

test('Vultr: the TTL of several records changes, of which one stays at any moment', async () => {
  const records = ['1', '2', '3'].map((host) => ({
    ...{ id: randomUUID(), type: 'A', name: 'www', data: `192.0.2.${host}`, priority: 0, ttl: 300 },
  }))
  const counts: number[] = []
  const scene = await startCloudScene('vultr', {
    definition: '  www: {type: A, ttl: 600, values: [192.0.2.2, 192.0.2.3, 192.0.2.4]}\n',
    records,
    respond(request): undefined {
      if (!isRead(request)) counts.push(scene.scripted.records('example.com')?.length ?? 0)
    },
  })
  expectEnd(await scene.run(APPLY), 0)
  expect(
    scene.scripted
      .records('example.com')
      ?.map(({ data, ttl }) => `${data} ${ttl}`)
      .sort(),
  ).toEqual([...['192.0.2.2 600', '192.0.2.3 600', '192.0.2.4 600']])
  expect(counts).toEqual([3, 2, 1, 1, 2])
  expect(scene.scripted.records('example.com')?.some(({ id }) => id === records[1]?.id)).toBe(true)
  expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
})

test('Vultr: a record set that is changed in part is completed by the next run', async () => {
  const records = ['1', '2'].map((host) => ({
    ...{ id: randomUUID(), type: 'A', name: 'www', data: `192.0.2.${host}`, priority: 0, ttl: 300 },
  }))
  let isFull = true
  const refused = { status: 400, headers: { 'content-type': 'application/json' }, body: '{"error":"Full","status":400}' }
  const scene = await startCloudScene('vultr', {
    definition: '  www: {type: A, ttl: 600, values: [192.0.2.1, 192.0.2.2]}\n',
    records,
    respond: ({ method }) => (isFull && method === 'POST' ? refused : undefined),
  })
  expectEnd(await scene.run(APPLY), 4, { said: '400 Full; only a part of the record set is changed' })
  isFull = false
  expectEnd(await scene.run(APPLY), 0)
  expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
})

test('Porkbun: the notes of a record stay with its name', async () => {
  const record = { type: 'A', content: '192.0.2.9', ttl: '3600', prio: '0' }
  const scene = await startCloudScene('porkbun', {
    definition: `${WWW}  mail: {type: A, value: 192.0.2.2}\n`,
    records: [
      { id: '1', name: 'ftp.example.com', notes: 'the old office', ...record },
      { id: '2', name: 'mail.example.com', notes: 'in the cellar', ...record },
    ],
  })
  expectEnd(await scene.run(APPLY), 0)
  expect(scene.scripted.records('example.com').map(({ name, notes }) => [name, notes])).toEqual([
    ['mail.example.com', 'in the cellar'],
    ['www.example.com', null],
  ])
})

test('Porkbun: a creation without the identifier of the record is looked up', async () => {
  const scene = await startCloudScene('porkbun', {
    definition: WWW,
    respond(request): ScriptedResponse | undefined {
      if (isRead(request)) return undefined
      const answer = scene.scripted.service(request)
      return { ...answer, body: '{"status":"SUCCESS"}' }
    },
  })
  const { requests } = await scene.requestsOf(APPLY)
  expect(requests.map((one) => one.split('/').at(-2))).toEqual(['retrieve', 'create', 'retrieve', 'retrieve'])
})

test('Porkbun: the name of a zone is one part of a path', async () => {
  const scene = await startCloudScene('porkbun', {})
  writeFileSync(join(scene.folder, 'zones/a.yaml'), 'domain: 0/25.2.0.192.in-addr.arpa\nrecords: {}\n')
  const { requests } = await scene.requestsOf(PLAN)
  expect(requests).toEqual(['POST /api/json/v3/dns/retrieve/0%2F25.2.0.192.in-addr.arpa'])
})

test('Vultr: a creation that may still complete is not sent again', async () => {
  const scene = await startCloudScene('vultr', { definition: WWW, settings: ', timeout: 1' })
  const proxy = await startFaultProxy(scene.server.origin)
  let isLate = true
  proxy.use(({ method }) => {
    if (method !== 'POST' || !isLate) return NONE
    isLate = false
    return { kind: 'late', by: 4000 }
  })
  const config = join(scene.folder, 'zonewright.yaml')
  writeFileSync(config, readFileSync(config, 'utf8').replace(scene.server.origin, proxy.origin))
  expectEnd(await scene.run(APPLY), 4, { said: 'it still may be' })
  await proxy.untilIdle()
  expect(scene.server.requests.filter(({ method }) => method === 'POST').length).toBe(1)
  await proxy.close()
})
