import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { startResolver } from '../support/dns-servers.ts'
import { freePort } from '../support/free-port.ts'
import { describeWithTools } from '../support/skip.ts'
import { ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const REGION = { id: 'us-east', label: 'Newark, NJ', country: 'us', capabilities: [], status: 'ok' }

/**
 * A service whose region us-east has a real caching resolver. Region eu-west has none; of the
 * three of us-west one is unreachable and one refuses, and us-central has only an unreachable one.
 */
async function sceneWithResolver(): Promise<ServiceScene> {
  const places = { resolver: '', gone: `127.0.0.1:${await freePort()}`, refuses: await refusingResolver() }
  const scene = await openServiceScene({
    script: ({ path }) => {
      const region = /^\/v4\/regions\/([a-z-]+)$/.exec(path)?.[1] ?? ''
      const { resolver, gone, refuses } = places
      const all: Readonly<Record<string, string>> = {
        'us-east': resolver,
        'us-west': `${resolver}, ${gone}, ${refuses}`,
        'us-central': gone,
        'eu-west': '',
      }
      if (all[region] === undefined) return null
      const resolvers = { ipv4: all[region], ipv6: '' }
      return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...REGION, id: region, resolvers }) }
    },
  })
  const resolver = await startResolver([{ name: 'example.com', port: scene.service.dnsAddress?.port ?? 0 }])
  places.resolver = `127.0.0.1:${resolver.port}`
  return scene
}

/** The address of a server that responds REFUSED to every query. */
async function refusingResolver(): Promise<string> {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.on('message', (octets, { address, port }) => {
    octets.set([(octets[2] as number) | 0x80, 5], 2)
    socket.send(octets, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

describeWithTools(['named'], 'verify --resolvers', () => {
  test('queries the resolvers of the region, and reports what they still cache', async () => {
    const scene = await sceneWithResolver()
    await scene.run('apply', '--yes')
    const fresh = await scene.run('verify', '--resolvers', 'us-east', '--verbose')
    expect(fresh).toMatchObject({ status: 0, stderr: '' })
    expect(fresh.stdout).toMatch(/\n {2}127\.0\.0\.1:\d+: [34] of [34] record sets as defined\n/)
    expect(fresh.stdout.match(/record sets as defined/g)).toHaveLength(1)

    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.77') })
    await scene.run('apply', '--yes')
    expect((await scene.run('verify')).status).toBe(0)
    const stale = expectEnd(await scene.run('verify', '--resolvers', 'us-east'), 2, {
      out: / {4}mail\.example\.com\. A: the resolver has another answer in its cache, for up to 3[56]\d\d s\n {6}missing 3600 192\.0\.2\.77\n {6}instead 3[56]\d\d 192\.0\.2\.2\n/,
    })
    expect(stale.stdout).not.toContain('www.example.com.')
  })

  test('also queries name servers, but only if they are given', async () => {
    const scene = await sceneWithResolver()
    await scene.run('apply', '--yes')
    const { dnsAddress } = scene.service
    const both = await scene.run('verify', '--resolvers', 'us-east', '--nameserver', `127.0.0.1:${dnsAddress?.port}`, '--verbose')
    expect(both.status).toBe(0)
    expect(both.stdout.match(/record sets as defined/g)).toHaveLength(2)
  })

  test('skips unreachable resolvers, unless there is no other', async () => {
    const scene = await sceneWithResolver()
    await scene.run('apply', '--yes')
    const some = await scene.run('verify', '--resolvers', 'us-west', '--verbose')
    expect(some.stderr).toMatch(
      /warning\[resolver-failed\] cloud: 2 of the 3 resolvers of the region us-west cannot be queried: 127\.0\.0\.1.*, and 1 more/,
    )
    expect(some.stdout.match(/record sets as defined/g)).toHaveLength(1)
    expect(some.status).toBe(0)
    expectEnd(await scene.run('verify', '--resolvers', 'us-central'), 1, {
      err: /error\[resolver-failed\] cloud: none of the 1 resolvers of the region us-central can be queried: 127\.0\.0\.1/,
    })
  })

  test.each([
    ['mars-west', 'error[region-unknown] cloud has no region "mars-west"'],
    ['../domains', 'error[region-unknown] cloud has no region "../domains"'],
    ['eu-west', 'error[region-unknown] cloud has no resolvers in the region eu-west'],
  ])('refuses the region %s', async (region, message) => {
    const scene = await sceneWithResolver()
    await scene.run('apply', '--yes')
    expect(await scene.run('verify', '--resolvers', region)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) })
  })
})
