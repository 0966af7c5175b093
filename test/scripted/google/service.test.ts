/** What the scripted Cloud DNS refuses, and how it pages, throttles and loses answers. */
import { describe, expect, test } from 'vitest'
import { send } from '../replay.ts'
import { startScriptedServer } from '../scripted-server.ts'
import { createGoogle, type GoogleOptions } from './service.ts'

const ZONE = { id: '5', name: 'example-com', dnsName: 'example.com.' }
const CHANGES = '/managedZones/5/changes'
const A = { name: 'www.example.com.', type: 'A', ttl: 300, rrdatas: ['192.0.2.1'] }
const CNAME = { ...A, type: 'CNAME', rrdatas: ['other.example.com.'] }
const NS = ['ns-cloud-a1', 'ns-cloud-a2', 'ns-cloud-a3', 'ns-cloud-a4'].map((host) => `${host}.googledomains.com.`)

interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any form.
  readonly body: any
}

async function start(options: Partial<GoogleOptions> = {}) {
  const google = createGoogle({ project: 'p', token: 'test-token', zones: [ZONE], ...options })
  const server = await startScriptedServer(google.service)
  const call = async (method: string, path: string, body?: object, token = 'test-token'): Promise<Answered> => {
    const url = `${server.origin}/dns/v1/projects/p${path}`
    const answer = await send(url, method, body === undefined ? '' : JSON.stringify(body), { authorization: `Bearer ${token}` })
    return { status: answer.status, body: answer.body === '' ? undefined : JSON.parse(answer.body) }
  }
  return { server, call, held: () => google.rrsets('5').length - 2 }
}

const refusal = (status: number, reason: string): object => ({ status, body: { error: { code: status, errors: [{ reason }] } } })

describe('refusals', () => {
  test.each<readonly [string, readonly object[], object, number, string]>([
    ['an empty change', [], {}, 400, 'required'],
    ['a record set that exists', [A], { additions: [{ ...A, ttl: 600 }] }, 409, 'alreadyExists'],
    ['the deletion of a record set that does not exist', [], { deletions: [A] }, 404, 'notFound'],
    ['the deletion of another TTL', [A], { deletions: [{ ...A, ttl: 600 }] }, 412, 'conditionNotMet'],
    ['the deletion of other data', [A], { deletions: [{ ...A, rrdatas: ['192.0.2.2'] }] }, 412, 'conditionNotMet'],
    ['a CNAME beside an address', [A], { additions: [CNAME] }, 400, 'cnameResourceRecordSetConflict'],
    ['an address beside a CNAME', [CNAME], { additions: [A] }, 400, 'cnameResourceRecordSetConflict'],
    ['a CNAME at the apex', [], { additions: [{ ...CNAME, name: 'example.com.' }] }, 400, 'recordTypeDisallowedAtZoneApex'],
    ['two CNAMEs', [], { additions: [{ ...CNAME, rrdatas: ['a.example.', 'b.example.'] }] }, 400, 'invalidRecordCount'],
    [
      'a wildcard NS',
      [],
      { additions: [{ ...A, name: '*.example.com.', type: 'NS', rrdatas: ['ns.example.net.'] }] },
      400,
      'wildcardNotAllowed',
    ],
    ['an ALIAS below the apex', [], { additions: [{ ...A, type: 'ALIAS', rrdatas: ['a.example.'] }] }, 400, 'invalid'],
    ['an address that is none', [], { additions: [{ ...A, rrdatas: ['192.0.2.256'] }] }, 400, 'invalid'],
    ['a relative target', [], { additions: [{ ...A, type: 'MX', rrdatas: ['10 mail'] }] }, 400, 'invalid'],
    ['a name of another zone', [], { additions: [{ ...A, name: 'www.example.net.' }] }, 400, 'invalid'],
    ['an unknown type', [], { additions: [{ ...A, type: 'HINFO' }] }, 400, 'invalid'],
    ['a TTL below 0', [], { additions: [{ ...A, ttl: -1 }] }, 400, 'invalid'],
    ['no data', [], { additions: [{ ...A, rrdatas: [] }] }, 400, 'invalid'],
    ['a zone without NS', [], { deletions: [{ name: 'example.com.', type: 'NS', ttl: 21_600, rrdatas: NS }] }, 400, 'invalidZoneApex'],
    [
      'too many additions',
      [],
      { additions: Array.from({ length: 1001 }, (_, at) => ({ ...A, name: `h${at}.example.com.` })) },
      403,
      'quotaExceeded',
    ],
    [
      'too much data',
      [],
      {
        additions: Array.from({ length: 450 }, (_, at) => ({
          ...A,
          name: `h${at}.example.com.`,
          type: 'TXT',
          rrdatas: [`"${'x'.repeat(250)}"`],
        })),
      },
      403,
      'quotaExceeded',
    ],
  ])('%s', async (_, before, change, status, reason) => {
    const { call, held } = await start()
    for (const rrset of before) expect((await call('POST', CHANGES, { additions: [rrset] })).status).toBe(200)
    expect(await call('POST', CHANGES, change)).toMatchObject(refusal(status, reason))
    expect(held()).toBe(before.length)
  })

  test('a change of which one part is refused changes nothing', async () => {
    const { call, held } = await start()
    await call('POST', CHANGES, { additions: [A] })
    const change = {
      deletions: [A],
      additions: [
        { ...A, name: 'new.example.com.' },
        { ...A, name: 'bad.example.com.', rrdatas: ['x'] },
      ],
    }
    expect((await call('POST', CHANGES, change)).status).toBe(400)
    expect(held()).toBe(1)
  })

  test('a wrong token, another project, an unknown zone, a zone with records, a name that is taken', async () => {
    const { call } = await start()
    expect(await call('GET', '/managedZones', undefined, 'other')).toMatchObject(refusal(401, 'authError'))
    expect(await call('GET', '-2/managedZones')).toMatchObject(refusal(403, 'forbidden'))
    expect(await call('GET', '/managedZones/6/rrsets')).toMatchObject(refusal(404, 'notFound'))
    await call('POST', CHANGES, { additions: [A] })
    expect(await call('DELETE', '/managedZones/5')).toMatchObject(refusal(400, 'containerNotEmpty'))
    expect(await call('POST', '/managedZones', { ...ZONE, description: '' })).toMatchObject(refusal(409, 'alreadyExists'))
    expect(await call('POST', '/managedZones', ZONE)).toMatchObject(refusal(400, 'required'))
  })
})

test('lists have pages, changes become done, and a zone without records is deleted', async () => {
  const { call, held } = await start({ pendingReads: 1 })
  const additions = Array.from({ length: 8 }, (_, at) => ({ ...A, name: `h${at}.example.com.` }))
  const { body: change } = await call('POST', CHANGES, { additions })
  expect(change).toMatchObject({ status: 'pending' })
  expect((await call('GET', `${CHANGES}/${change.id}`)).body.status).toBe('pending')
  expect((await call('GET', `${CHANGES}/${change.id}`)).body.status).toBe('done')
  const first = await call('GET', '/managedZones/5/rrsets?maxResults=7')
  expect(first.body.rrsets).toHaveLength(7)
  const second = await call('GET', `/managedZones/5/rrsets?maxResults=7&pageToken=${first.body.nextPageToken}`)
  expect([second.body.rrsets.length, second.body.nextPageToken]).toEqual([3, undefined])
  await call('POST', CHANGES, { deletions: additions })
  expect([held(), (await call('DELETE', '/managedZones/example-com')).status]).toEqual([0, 204])
})

test('too many requests are refused, and a lost answer is carried out', async () => {
  const { call, held, server } = await start({ requestsPerPause: 1 })
  await call('GET', '/managedZones')
  expect(await call('GET', '/managedZones')).toMatchObject(refusal(429, 'rateLimitExceeded'))
  server.loseAnswers(1)
  await expect(call('POST', CHANGES, { additions: [A] })).rejects.toThrow()
  expect(held()).toBe(1)
})
