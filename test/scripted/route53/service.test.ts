/** What the scripted Route 53 refuses, and how it signs in, pages, batches, throttles and loses answers. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Answer, send } from '../replay.ts'
import { type ScriptedServer, startScriptedServer } from '../scripted-server.ts'
import { createRoute53, plainSet, type Route53Options } from './service.ts'
import { elementAt, parseXml, printXml, textAt, type XmlContent, type XmlElement } from './xml.ts'

const KEY = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const ZONE = 'ZTEST'
const RRSET = `/2013-04-01/hostedzone/${ZONE}/rrset`

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Signs as the specification of Signature Version 4 says; the query of these requests needs no encoding. */
function authorization(method: string, path: string, body: string, host: string, { id, secret } = KEY): Readonly<Record<string, string>> {
  const [pathname = '', query = ''] = path.split('?')
  const date = '20260101T000000Z'
  const scope = '20260101/us-east-1/route53/aws4_request'
  const canonical = [
    method,
    pathname,
    query.split('&').sort().join('&'),
    `host:${host}\nx-amz-date:${date}\n`,
    'host;x-amz-date',
    sha256(body),
  ].join('\n')
  const key = ['20260101', 'us-east-1', 'route53', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex')
  return {
    'x-amz-date': date,
    authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  }
}

interface Answered extends Answer {
  readonly xml: XmlElement | null
  readonly code: string | null
  readonly message: string
}

async function start(options: Partial<Route53Options> = {}) {
  const route53 = createRoute53({ key: KEY, zones: [{ id: ZONE, name: 'example.com.' }], ...options })
  const server = await startScriptedServer(route53.service)
  const { host } = new URL(server.origin)
  const call = async (method: string, path: string, body = '', key = KEY): Promise<Answered> => {
    const answer = await send(server.origin + path, method, body, { host, ...authorization(method, path, body, host, key) })
    const xml = parseXml(answer.body)
    return { ...answer, xml, code: textAt(xml, 'Error', 'Code'), message: textAt(xml, 'Error', 'Message') ?? '' }
  }
  const change = (...changes: readonly (readonly [action: string, set: XmlContent])[]): Promise<Answered> => {
    const list = changes.map(
      ([action, set]) =>
        [
          'Change',
          [
            ['Action', action],
            ['ResourceRecordSet', set],
          ],
        ] as const,
    )
    return call('POST', `${RRSET}/`, printXml('ChangeResourceRecordSetsRequest', [['ChangeBatch', [['Changes', list]]]]))
  }
  return { route53, server, call, change }
}

const set = (name: string, type: string, ...values: readonly string[]): XmlContent => [
  ['Name', name],
  ['Type', type],
  ['TTL', 300],
  ['ResourceRecords', values.map((value) => ['ResourceRecord', [['Value', value]]] as const)],
]
const alias = (name: string, type: string, zone: string, target: string): XmlContent => [
  ['Name', name],
  ['Type', type],
  [
    'AliasTarget',
    [
      ['HostedZoneId', zone],
      ['DNSName', target],
      ['EvaluateTargetHealth', false],
    ],
  ],
]
const A = set('www.example.com.', 'A', '192.0.2.1')

describe('refusals of changes', () => {
  test.each<readonly [string, readonly (readonly [string, XmlContent])[], (readonly [string, XmlContent])[], string]>([
    ['an existing record set', [['CREATE', A]], [['CREATE', A]], 'but it already exists'],
    ['a deletion of nothing', [], [['DELETE', A]], 'but it was not found'],
    [
      'a deletion with other values',
      [['CREATE', A]],
      [['DELETE', set('www.example.com.', 'A', '192.0.2.2')]],
      'do not match the current values',
    ],
    [
      'a CNAME beside an address',
      [['CREATE', A]],
      [['CREATE', set('www.example.com.', 'CNAME', 'a.example.net')]],
      'conflicting RRSet of type  A',
    ],
    [
      'an address beside a CNAME',
      [['CREATE', set('www.example.com.', 'CNAME', 'a.example.net')]],
      [['CREATE', A]],
      'conflicting RRSet of type  CNAME',
    ],
    ['a CNAME at the apex', [], [['CREATE', set('example.com.', 'CNAME', 'a.example.net')]], 'not permitted at apex'],
    ['a name outside the zone', [], [['CREATE', set('www.example.net.', 'A', '192.0.2.1')]], 'not permitted in zone'],
    ['an address that is none', [], [['CREATE', set('www.example.com.', 'A', '192.0.2.256')]], 'ARRDATAIllegalIPv4Address'],
    ['an MX without preference', [], [['CREATE', set('www.example.com.', 'MX', 'mail.example.net.')]], 'InvalidMXRRDATA'],
    ['a text without quotes', [], [['CREATE', set('www.example.com.', 'TXT', 'text')]], 'InvalidTXTRRDATA'],
    ['a decimal escape above 377', [], [['CREATE', set('www.example.com.', 'TXT', '"\\400"')]], 'InvalidTXTRRDATA'],
    ['a string of 256 characters', [], [['CREATE', set('www.example.com.', 'TXT', `"${'x'.repeat(256)}"`)]], 'CharacterStringTooLong'],
    [
      'a text of 4,001 characters',
      [],
      [['CREATE', set('www.example.com.', 'TXT', Array.from({ length: 16 }, () => `"${'x'.repeat(251)}"`).join(' '))]],
      'TXTRDATATooLong',
    ],
    ['a value twice', [], [['CREATE', set('www.example.com.', 'A', '192.0.2.1', '192.0.2.1')]], "Duplicate Resource Record: '192.0.2.1'"],
    ['no NS records at the apex', [], [['DELETE', set('example.com.', 'NS')]], ''],
    [
      'an alias of a missing name',
      [],
      [['CREATE', alias('www.example.com.', 'A', ZONE, 'web.example.com.')]],
      'but that target was not found',
    ],
    [
      'an alias of a name elsewhere',
      [],
      [['CREATE', alias('www.example.com.', 'A', ZONE, 'web.example.net.')]],
      'does not lie within the target zone',
    ],
    [
      'a record set beside weighted ones',
      [['CREATE', [...(A as readonly []), ['SetIdentifier', 'one'], ['Weight', 1]]]],
      [['CREATE', A]],
      'cannot be created beside others',
    ],
    ['an unknown type', [], [['CREATE', set('www.example.com.', 'LOC', '1')]], "Value 'LOC'"],
  ])('%s', async (_, before, changes, message) => {
    const { route53, change } = await start()
    for (const one of before) expect((await change(one)).status).toBe(200)
    const held = JSON.stringify(route53.sets(ZONE))
    const refused = await change(...changes)
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining(message)])
    expect(JSON.stringify(route53.sets(ZONE))).toBe(held)
  })

  test('one refused change refuses all of its batch', async () => {
    const { route53, change } = await start()
    const refused = await change(['CREATE', A], ['DELETE', set('other.example.com.', 'A', '192.0.2.1')])
    expect([refused.status, refused.code]).toEqual([400, 'InvalidChangeBatch'])
    expect(route53.sets(ZONE)).toHaveLength(2)
  })

  test('more than 1,000 records, where an UPSERT counts twice, or 32,000 characters', async () => {
    const { change } = await start()
    const many = (count: number, action: string, value = '192.0.2.1', type = 'A') =>
      Array.from({ length: count }, (_, host) => [action, set(`h${host}.example.com.`, type, value)] as const)
    expect((await change(...many(1001, 'CREATE'))).message).toContain('limit of 1000 exceeded')
    expect((await change(...many(501, 'UPSERT'))).message).toContain('limit of 1000 exceeded')
    expect((await change(...many(170, 'CREATE', `"${'x'.repeat(200)}"`, 'TXT'))).message).toContain('limit of 32000 exceeded')
    expect((await change(...many(1000, 'CREATE'))).status).toBe(200)
  })
})

describe('signing in', () => {
  test.each([
    ['without a signature', null, 'MissingAuthenticationToken'],
    ['with an unknown key', { ...KEY, id: 'AKIAUNKNOWN' }, 'InvalidClientTokenId'],
    ['with a wrong secret', { ...KEY, secret: 'wrong' }, 'SignatureDoesNotMatch'],
  ])('%s', async (_, key, code) => {
    const { server, call } = await start()
    const path = '/2013-04-01/hostedzonesbyname?maxitems=1'
    const answer = key === null ? await send(server.origin + path, 'GET', '', {}) : await call('GET', path, '', key)
    expect([answer.status, textAt(parseXml(answer.body), 'Error', 'Code')]).toEqual([403, code])
    expect((await call('GET', path)).status).toBe(200)
  })

  test('without a permission', async () => {
    const { call } = await start({ denied: ['ListResourceRecordSets'] })
    expect(await call('GET', RRSET)).toMatchObject({ status: 403, code: 'AccessDenied' })
  })
})

test('record sets come in pages of at most 300, by reversed names', async () => {
  const sets = Array.from({ length: 350 }, (_, host) => plainSet(`h${host}.example.com.`, 'A', 60, '192.0.2.1'))
  const { call } = await start({ zones: [{ id: ZONE, name: 'example.com.', sets }] })
  const page = async (query: string): Promise<[number, string | null, string | null]> => {
    const { xml } = await call('GET', `${RRSET}${query}`)
    return [elementAt(xml, 'ResourceRecordSets')?.children.length ?? 0, textAt(xml, 'IsTruncated'), textAt(xml, 'NextRecordName')]
  }
  expect(await page('')).toEqual([100, 'true', 'h187.example.com.'])
  expect(await page('?maxitems=1000')).toEqual([300, 'true', 'h52.example.com.'])
  expect(await page('?maxitems=300&name=h52.example.com.&type=A')).toEqual([52, 'false', null])
})

describe('zones', () => {
  const request = (name: string, reference: string): string =>
    printXml('CreateHostedZoneRequest', [
      ['Name', name],
      ['CallerReference', reference],
    ])

  test('may have one name twice, but not one caller reference', async () => {
    const { route53, call } = await start()
    expect((await call('POST', '/2013-04-01/hostedzone', request('example.com', 'one'))).status).toBe(201)
    expect(await call('POST', '/2013-04-01/hostedzone', request('example.net', 'one'))).toMatchObject({
      status: 409,
      code: 'HostedZoneAlreadyExists',
    })
    expect(route53.zones()).toHaveLength(2)
  })

  test('are deleted only without records of others', async () => {
    const { route53, call, change } = await start()
    await change(['CREATE', A])
    expect(await call('DELETE', `/2013-04-01/hostedzone/${ZONE}`)).toMatchObject({ status: 400, code: 'HostedZoneNotEmpty' })
    await change(['DELETE', A])
    expect((await call('DELETE', `/2013-04-01/hostedzone/${ZONE}`)).status).toBe(200)
    expect(route53.zones()).toEqual([])
    expect(await call('GET', RRSET)).toMatchObject({ status: 404, code: 'NoSuchHostedZone' })
  })
})

test('a change is pending and then in sync', async () => {
  const { call, change } = await start({ pendingReads: 1 })
  const id = textAt((await change(['CREATE', A])).xml, 'ChangeInfo', 'Id') ?? ''
  const status = async (): Promise<string | null> => textAt((await call('GET', `/2013-04-01${id}`)).xml, 'ChangeInfo', 'Status')
  expect([await status(), await status()]).toEqual(['PENDING', 'INSYNC'])
})

test('requests above the rate, and changes during others, are refused', async () => {
  const { call, change } = await start({ requestsPerPause: 3, busyChanges: 1 })
  expect(await change(['CREATE', A])).toMatchObject({ status: 400, code: 'PriorRequestNotComplete' })
  expect((await change(['CREATE', A])).status).toBe(200)
  expect((await call('GET', RRSET)).status).toBe(200)
  expect(await call('GET', RRSET)).toMatchObject({ status: 400, code: 'Throttling' })
})

test('an answer is lost after the change was made', async () => {
  const { route53, server, change } = await start()
  ;(server as ScriptedServer).loseAnswers(1)
  await expect(change(['CREATE', A])).rejects.toThrow()
  expect(route53.sets(ZONE)).toHaveLength(3)
})
