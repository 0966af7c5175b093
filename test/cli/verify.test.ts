import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../service/harness.ts'
import { expectEnd } from '../support/cli.ts'
import { openScene, TOKEN, ZONE, zoneOf } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

test('a zone as defined exits with 0 and prints one line', async () => {
  const scene = await openServiceScene()
  await scene.run('apply', '--yes')
  const { stdout: line } = expectEnd(await scene.run('verify'), 0, { err: '' })
  expect(line).toBe('Verified: 1 of 1 zone as defined, 3 record sets queried.\n')
  const { stdout } = await scene.run('verify', '--verbose')
  expect(stdout).toMatch(
    /^example\.com\. at cloud\n {2}records: as defined\n {2}rendered zone file: match\n {2}127\.0\.0\.1:\d+: 3 of 3 record sets as defined\n\nVerified: /,
  )
})

test('a changed record exits with 2 and shows how to see the difference', async () => {
  const scene = await openServiceScene()
  await scene.run('apply', '--yes')
  const { client, close } = connect(scene.service.baseUrl, TOKEN)
  onTestFinished(close)
  const { data } = await client.ok('GET', '/domains/1/records')
  await client.ok('PUT', `/domains/1/records/${data.find(({ name }: { name: string }) => name === 'mail').id}`, { target: '192.0.2.66' })
  expectEnd(await scene.run('verify'), 2, {
    err: '',
    out: [
      '  records: 1 change pending ("zonewright plan example.com." shows it)\n',
      / {4}mail\.example\.com\. A\n {6}missing 3600 192\.0\.2\.2\n {6}instead 3600 192\.0\.2\.66\n/,
      /\nVerified: 0 of 1 zone as defined, 3 record sets queried\.\n$/,
    ],
  })
  expect(scene.proxy.mutations()).toHaveLength(4)
})

test('a missing zone exits with 2', async () => {
  expect(await openScene().run('verify', '--no-dns')).toMatchObject({ status: 2, stdout: expect.stringContaining('4 changes pending') })
})

test('fails with a code if a name server is unreachable', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const scene = await openServiceScene()
  await scene.run('apply', '--yes')
  expectEnd(await scene.run('verify', '--nameserver', `127.0.0.1:${silent.address().port}`), 1, {
    err: /^zones\/example\.com\.yaml:1:\d+: error\[nameserver-failed\] example\.com\. at cloud: the name server 127\.0\.0\.1:\d+ could not be queried: /,
    out: /^ {2}127\.0\.0\.1:\d+: could not be queried\n/m,
  })
  expect((await scene.run('verify', '--no-dns')).status).toBe(0)
})

test('verifies only the given zones', async () => {
  const scene = openScene({ files: { 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': zoneOf('example.net') } })
  await scene.run('apply', '--yes', 'example.net')
  expect((await scene.run('verify', '--no-dns', 'example.net')).status).toBe(0)
  expect((await scene.run('verify', '--no-dns')).status).toBe(2)
})
