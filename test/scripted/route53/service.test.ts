/** What the scripted Route 53 refuses, and how it signs in, pages and batches. */
import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Asked, openService, repeat, serviceTests } from '../service-tests.ts'
import { ACCESS_KEY, ROUTE53_ZONE } from '../services.ts'
import { printXml, type XmlContent } from './xml.ts'

const { id: ZONE } = ROUTE53_ZONE
const AT_ZONE = `/hostedzone/${ZONE}`
const SCOPE = '20260101/us-east-1/route53/aws4_request'

/** Signatures are not checked. */
const UNSIGNED = { key: { id: ACCESS_KEY.id, secret: null } }
const credential = (id: string): string => `AWS4-HMAC-SHA256 Credential=${id}/${SCOPE}, SignedHeaders=host;x-amz-date, Signature=`
const authorization = `${credential(ACCESS_KEY.id)}00`

type Change = readonly [action: string, set: XmlContent]

/** The request that makes these changes. */
function changing(changes: readonly Change[]): Asked {
  const list = changes.map(([action, set]) => ['Change', Object.entries({ Action: action, ResourceRecordSet: set })] as const)
  const body = printXml('ChangeResourceRecordSetsRequest', [['ChangeBatch', [['Changes', list]]]])
  return ['POST', `${AT_ZONE}/rrset/`, body, { authorization }]
}

const error = (status: number, code: string, message: unknown = expect.anything()): object => ({
  status,
  body: { ErrorResponse: { Error: { Code: code, Message: message } } },
})

const set = (name: string, type: string, ...values: readonly string[]): XmlContent =>
  Object.entries({ Name: name, Type: type, TTL: 300, ResourceRecords: values.map((v) => ['ResourceRecord', [['Value', v]]] as const) })
const www = (type: string, ...values: readonly string[]): Change => ['CREATE', set('www.example.com.', type, ...values)]
const alias = (target: string): Change => {
  const to = Object.entries({ HostedZoneId: ZONE, DNSName: target, EvaluateTargetHealth: false })
  return ['CREATE', Object.entries({ Name: 'www.example.com.', Type: 'A', AliasTarget: to })]
}
const A = set('www.example.com.', 'A', '192.0.2.1')
const WEIGHTED: Change = ['CREATE', [...(A as readonly []), ['SetIdentifier', 'one'], ['Weight', 1]]]
const CNAME = www('CNAME', 'a.example.net')
const string = (length: number): string => `"${'x'.repeat(length)}"`
const hosts = (count: number, action: string, value = '192.0.2.1', type = 'A'): Change[] =>
  repeat(count, (host) => [action, set(`h${host}.example.com.`, type, value)])

serviceTests('route53', {
  options: UNSIGNED,
  write: (changes) => changing(changes as readonly Change[]),
  refused: (message) => error(400, expect.stringMatching(/^Invalid(?:ChangeBatch|Input)$/), expect.stringContaining(String(message))),
  refusals: [
    ['an existing record set', [[['CREATE', A]]], [['CREATE', A]], 'but it already exists'],
    ['a deletion of nothing', [], [['DELETE', A]], 'but it was not found'],
    ['a deletion with other values', [[['CREATE', A]]], [['DELETE', www('A', '192.0.2.2')[1]]], 'do not match the current values'],
    ['a CNAME beside an address', [[['CREATE', A]]], [CNAME], 'conflicting RRSet of type  A'],
    ['an address beside a CNAME', [[CNAME]], [['CREATE', A]], 'conflicting RRSet of type  CNAME'],
    ['a CNAME at the apex', [], [['CREATE', set('example.com.', 'CNAME', 'a.example.net')]], 'not permitted at apex'],
    ['a name outside the zone', [], [['CREATE', set('www.example.net.', 'A', '192.0.2.1')]], 'not permitted in zone'],
    ['an address that is none', [], [www('A', '192.0.2.256')], 'ARRDATAIllegalIPv4Address'],
    ['an MX without preference', [], [www('MX', 'mail.example.net.')], 'InvalidMXRRDATA'],
    ['a text without quotes', [], [www('TXT', 'text')], 'InvalidTXTRRDATA'],
    ['a decimal escape above 377', [], [www('TXT', '"\\400"')], 'InvalidTXTRRDATA'],
    ['a string of 256 characters', [], [www('TXT', string(256))], 'CharacterStringTooLong'],
    ['a text of 4,001 characters', [], [www('TXT', repeat(16, () => string(251)).join(' '))], 'TXTRDATATooLong'],
    ['a value twice', [], [www('A', '192.0.2.1', '192.0.2.1')], "Duplicate Resource Record: '192.0.2.1'"],
    ['no NS records at the apex', [], [['DELETE', set('example.com.', 'NS')]], ''],
    ['an alias of a missing name', [], [alias('web.example.com.')], 'but that target was not found'],
    ['an alias of a name elsewhere', [], [alias('web.example.net.')], 'does not lie within the target zone'],
    ['a record set beside weighted ones', [[WEIGHTED]], [['CREATE', A]], 'cannot be created beside others'],
    ['an unknown type', [], [www('LOC', '1')], "Value 'LOC'"],
    [
      'a batch of which one change is refused',
      [],
      [
        ['CREATE', A],
        ['DELETE', set('other.example.com.', 'A', '192.0.2.1')],
      ],
      'was not found',
    ],
    ['1,001 records', [], hosts(1001, 'CREATE'), 'limit of 1000 exceeded'],
    ['501 records that an UPSERT counts twice', [], hosts(501, 'UPSERT'), 'limit of 1000 exceeded'],
    ['34,000 characters', [], hosts(170, 'CREATE', string(198), 'TXT'), 'limit of 32000 exceeded'],
  ],
  requests: [
    ['an unknown key', ['GET', AT_ZONE, undefined, { authorization: `${credential('AKIAOTHER')}00` }], error(403, 'InvalidClientTokenId')],
    ['no key', ['GET', AT_ZONE, undefined, { authorization: '' }], error(403, 'MissingAuthenticationToken')],
    ['an unknown zone', ['GET', '/hostedzone/ZOTHER/rrset', undefined, { authorization }], error(404, 'NoSuchHostedZone')],
  ],
  throttled: [['GET', AT_ZONE, undefined, { authorization }], error(400, 'Throttling')],
})

test('a signature as the specification of Signature Version 4 says, and with another secret', () => {
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
  const { call } = openService('route53')
  const list = (secret: string) => {
    const headers = { host: 'scripted', 'x-amz-date': '20260101T000000Z' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`)
    const canonical = ['GET', '/2013-04-01/hostedzonesbyname', 'maxitems=1', lines.join(''), 'host;x-amz-date', sha256('')].join('\n')
    const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], SCOPE, sha256(canonical)].join('\n')
    const signature = hmac(SCOPE.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`), toSign).toString('hex')
    return call('GET', '/hostedzonesbyname?maxitems=1', undefined, { ...headers, authorization: credential(ACCESS_KEY.id) + signature })
  }
  expect(list(ACCESS_KEY.secret).status).toBe(200)
  expect(list('wrong')).toMatchObject(error(403, 'SignatureDoesNotMatch'))
})
