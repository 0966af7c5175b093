/** Aliases of Route 53 as ALIAS records: what stays, what new ones lead to, and what is refused. */
import { describe, expect, test } from 'vitest'
import { plainSet } from '../../scripted/route53/service.ts'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN } from '../scripted-scene.ts'
import { aliasSet, changesIn, startRoute53Scene, succeeded, ZONE_ID } from './scene.ts'

const CDN = 'Z2FDTNDATAQYW2'
const ELB = 'lb-1.eu-west-1.elb.amazonaws.com.'

test.each([
  ['CloudFront', 'd1.cloudfront.net.', CDN, ['A', 'AAAA']],
  ['a load balancer', ELB, 'Z32O12XQLNTSW2', ['A', 'AAAA']],
  ['a network load balancer', 'lb-1.elb.us-east-1.amazonaws.com.', 'Z26RNL4JYFTOTI', ['A', 'AAAA']],
  ['a website of S3', 's3-website-us-east-1.amazonaws.com.', 'Z3AQBSTGFYJSTF', ['A']],
  ['a website of S3 in a newer region', 's3-website.eu-central-1.amazonaws.com.', 'Z21DNDUVLTQW6Q', ['A']],
  ['Global Accelerator', 'a1.awsglobalaccelerator.com.', 'Z2BJ6XQ5FK7U4H', ['A', 'AAAA']],
  ['a suffix of the settings', 'app.eu-west-1.elasticbeanstalk.com.', 'ZBEANSTALK', ['A', 'AAAA']],
])('a new ALIAS to %s', async (_, target, hostedZoneId, types) => {
  const scene = await startRoute53Scene({
    definition: `  '': {type: ALIAS, value: ${target}}\n`,
    settings: ', alias_zones: {elasticbeanstalk.com: ZBEANSTALK}',
  })
  succeeded(await scene.run(APPLY))
  expect(scene.held()).toEqual(types.map((type) => `example.com. ${type} ${hostedZoneId} ${target}`))
  succeeded(await scene.run(PLAN))
})

describe('an ALIAS to a name of the zone', () => {
  const WEB = '  web: [{type: A, value: 192.0.2.1}, {type: AAAA, value: "2001:db8::1"}]\n  four: {type: A, value: 192.0.2.4}\n'

  test('has the types of its target, also if both are new', async () => {
    const scene = await startRoute53Scene({
      definition: `${WEB}  '': {type: ALIAS, value: web}\n  b: {type: ALIAS, value: four}\n  c: {type: ALIAS, value: b}\n`,
    })
    succeeded(await scene.run(APPLY))
    expect(scene.held().filter((line) => line.includes(ZONE_ID))).toEqual([
      `example.com. A ${ZONE_ID} web.example.com.`,
      `example.com. AAAA ${ZONE_ID} web.example.com.`,
      `b.example.com. A ${ZONE_ID} four.example.com.`,
      `c.example.com. A ${ZONE_ID} b.example.com.`,
    ])
    succeeded(await scene.run(PLAN))
    scene.define(WEB)
    succeeded(await scene.run(APPLY))
    expect(scene.held()).toHaveLength(3)
  })

  test('needs no requests of its own', async () => {
    const definition = Array.from({ length: 200 }, (_, host) => `  a${host}: {type: ALIAS, value: four}\n`).join('')
    const scene = await startRoute53Scene({ definition: WEB + definition })
    succeeded(await scene.run(APPLY))
    expect(scene.held()).toHaveLength(203)
    expect(scene.server.requests.length).toBeLessThan(8)
  })

  test('without addresses there is refused', async () => {
    const scene = await startRoute53Scene({ definition: '  web: {type: TXT, value: text}\n  b: {type: ALIAS, value: web}\n' })
    expectEnd(await scene.run(APPLY), 4, { said: 'web.example.com. has no addresses' })
    expect(scene.held()).toEqual(['web.example.com. TXT 3600 "text"'])
  })

  test('takes the place of addresses, and gives it back', async () => {
    const sets = [plainSet('www.example.com.', 'A', 300, '192.0.2.9'), plainSet('www.example.com.', 'AAAA', 300, '2001:db8::9')]
    const scene = await startRoute53Scene({ sets, definition: '  www: {type: ALIAS, value: d1.cloudfront.net.}\n' })
    succeeded(await scene.run([...APPLY, '--allow', 'empty-zone']))
    expect(scene.held()).toEqual([`www.example.com. A ${CDN} d1.cloudfront.net.`, `www.example.com. AAAA ${CDN} d1.cloudfront.net.`])
    scene.define('  www: {type: A, value: 192.0.2.9}\n')
    succeeded(await scene.run([...APPLY, '--allow', 'empty-zone']))
    expect(scene.held()).toEqual(['www.example.com. A 3600 192.0.2.9'])
  })

  test('and its addresses change together, however many changes the plan has', { tags: ['long'] }, async () => {
    const others = (value: string): string => Array.from({ length: 1100 }, (_, host) => `  a${host}: {type: A, value: ${value}}\n`).join('')
    const scene = await startRoute53Scene({ definition: `${others('192.0.2.1')}  zz: {type: A, value: 192.0.2.1}\n` })
    succeeded(await scene.run(APPLY))
    scene.define(`${others('192.0.2.2')}  zz: {type: ALIAS, value: a0}\n`)
    succeeded(await scene.run(APPLY))
    expect(scene.held().filter((line) => line.startsWith('zz'))).toEqual([`zz.example.com. A ${ZONE_ID} a0.example.com.`])
  })
})

describe('an existing alias', () => {
  test('keeps its hosted zone, its types and the evaluation of its target', async () => {
    const sets = [aliasSet('www.example.com.', 'A', 'Z32O12XQLNTSW2', ELB, true), plainSet('docs.example.com.', 'A', 300, '192.0.2.1')]
    const same = `  www: {type: ALIAS, value: ${ELB}}\n`
    const scene = await startRoute53Scene({ sets, definition: `${same}  docs: {type: A, ttl: 300, value: 192.0.2.2}\n` })
    succeeded(await scene.run(APPLY))
    expect(scene.held()).toContain(`www.example.com. A Z32O12XQLNTSW2 ${ELB} health`)
    scene.define('  www: {type: ALIAS, value: d1.cloudfront.net.}\n  docs: {type: A, ttl: 300, value: 192.0.2.2}\n')
    succeeded(await scene.run(APPLY))
    expect(scene.held().filter((line) => line.startsWith('www'))).toEqual([`www.example.com. A ${CDN} d1.cloudfront.net. health`])
  })

  test.each([
    ['of a hosted zone that is not known', [aliasSet('www.example.com.', 'A', 'ZOTHER', 'x.vpce.amazonaws.com.')], /hosted zone ZOTHER/],
    [
      'with another target per type',
      [aliasSet('www.example.com.', 'A', CDN, 'd1.cloudfront.net.'), aliasSet('www.example.com.', 'AAAA', CDN, 'd2.cloudfront.net.')],
      /the other type at this name leads elsewhere/,
    ],
    [
      'beside addresses of the other type',
      [aliasSet('www.example.com.', 'A', CDN, 'd1.cloudfront.net.'), plainSet('www.example.com.', 'AAAA', 60, '2001:db8::1')],
      /beside addresses of the other type/,
    ],
    [
      'of another type',
      [plainSet('web.example.com.', 'TXT', 60, '"x"'), aliasSet('www.example.com.', 'TXT', ZONE_ID, 'web.example.com.')],
      /www\.example\.com\. TXT alias of web\.example\.com\. is an alias/,
    ],
  ])('%s is left alone', async (_, sets, reason) => {
    const keep = '  web: {type: TXT, ttl: 60, value: x}\n  www: {type: AAAA, ttl: 60, value: "2001:db8::1"}\n'
    const scene = await startRoute53Scene({ sets, definition: `${keep}  other: {type: A, value: 192.0.2.1}\n` })
    const before = scene.held().filter((line) => line.startsWith('www'))
    const applied = await scene.run(APPLY)
    expect(applied.stdout + applied.stderr).toMatch(reason)
    expect(scene.held()).toEqual(expect.arrayContaining(before.filter((line) => !line.includes(' AAAA 60 '))))
  })

  test('beside addresses of the other type, both stay, also in the next run', async () => {
    const sets = [aliasSet('www.example.com.', 'A', CDN, 'd1.cloudfront.net.'), plainSet('www.example.com.', 'AAAA', 60, '2001:db8::1')]
    const scene = await startRoute53Scene({ sets, definition: '  other: {type: A, value: 192.0.2.1}\n' })
    const before = scene.held().filter((line) => line.startsWith('www'))
    for (let run = 0; run < 2; run += 1) {
      expect((await scene.run([...APPLY, '--allow', 'deletes'])).status).toBe(0)
      expect(scene.held().filter((line) => line.startsWith('www'))).toEqual(before)
    }
  })

  test('that another client changes meanwhile is not overwritten', async () => {
    const theirs = aliasSet('www.example.com.', 'A', CDN, 'd9.cloudfront.net.')
    let isChanged = false
    const scene = await startRoute53Scene({
      sets: [aliasSet('www.example.com.', 'A', CDN, 'd1.cloudfront.net.')],
      definition: '  www: {type: ALIAS, value: d2.cloudfront.net.}\n',
      answer: ({ method }) => {
        if (method === 'POST' && !isChanged) {
          isChanged = true
          scene.route53.put(ZONE_ID, theirs)
        }
        return undefined
      },
    })
    expectEnd(await scene.run(APPLY), 1, { said: 'do not match the current values' })
    expect(scene.held()).toEqual([`www.example.com. A ${CDN} d9.cloudfront.net.`])
  })
})

test.each([
  ['a name elsewhere', '  www: {type: ALIAS, value: host.example.net.}\n', 'the hosted zone of host.example.net. is not known'],
  ['itself', '  www: {type: ALIAS, value: www}\n', 'cannot lead to itself'],
  ['addresses', '  www: [{type: ALIAS, value: d1.cloudfront.net.}, {type: A, value: 192.0.2.1}]\n', 'www.example.com. ALIAS beside'],
])('a plan refuses an ALIAS with %s', async (_, definition, message) => {
  const scene = await startRoute53Scene({ definition })
  expectEnd(await scene.run(PLAN), 1, { said: message })
  expect(changesIn(scene.server)).toBe(0)
})
