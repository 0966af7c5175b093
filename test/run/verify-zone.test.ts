import { describe, expect, test } from 'vitest'
import { TOKEN } from '../cli/scene.ts'
import { openServiceScene, type ServiceScene } from '../cli/service-scene.ts'
import { expectEnd } from '../support/cli.ts'

/** Changes the domain or its records without the program. */
async function changeLive({ service }: ServiceScene, method: 'POST' | 'PUT', path: string, fields: object): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  expect((await fetch(`${service.baseUrl}/domains/1${path}`, { method, headers, body: JSON.stringify(fields) })).status).toBe(200)
}

const zoneOf = (records: string): Record<string, string> => ({
  'zones/example.com.yaml': `domain: example.com\nsoa_email: hostmaster@example.com\nrecords:\n${records}`,
})

describe('TTLs', () => {
  test('accepts one TTL of an RRset with several TTLs', async () => {
    const scene = await openServiceScene({
      files: zoneOf(`  a: [{type: A, ttl: 300, value: 192.0.2.1}, {type: A, ttl: 1h, value: 192.0.2.2}]
  b: [{type: A, ttl: 300, value: 192.0.2.1}, {type: A, value: 192.0.2.2}]
`),
    })
    await scene.run('apply', '--yes')
    const { status, stdout } = await scene.run('verify')
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Verified: 1 of 1 zone as defined, 2 record sets queried.\n' })
  })

  test('accepts additional apex NS records of the service', async () => {
    const scene = await openServiceScene({ files: zoneOf('  a: {type: A, value: 192.0.2.1}\n') })
    await scene.run('apply', '--yes')
    await changeLive(scene, 'POST', '/records', { type: 'NS', name: '', target: 'ns.example.net', ttl_sec: 300 })
    const { status, stdout } = await scene.run('verify')
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Verified: 1 of 1 zone as defined, 2 record sets queried.\n' })
  })

  test('accepts duplicates with another TTL that are rendered once', async () => {
    const definition = 'unmanaged: [{name: token}]\nrecords:\n  a: {type: A, value: 192.0.2.1}\n'
    const scene = await openServiceScene({
      files: { 'zones/example.com.yaml': `domain: example.com\nsoa_email: hostmaster@example.com\n${definition}` },
    })
    await scene.run('apply', '--yes')
    for (const ttl_sec of [300, 3600]) await changeLive(scene, 'POST', '/records', { type: 'TXT', name: 'token', target: 'one', ttl_sec })
    const { status, stdout } = await scene.run('verify')
    const left = 'example.com. at cloud: "unmanaged" leaves 1 record set to other clients: token.example.com. TXT'
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${left}\n\nVerified: 1 of 1 zone as defined, 2 record sets queried.\n` })
  })

  test('reports an undefined TTL', async () => {
    const scene = await openServiceScene({
      files: zoneOf('  a: [{type: A, ttl: 1h, value: 192.0.2.1}, {type: A, ttl: 2h, value: 192.0.2.2}]\n'),
    })
    await scene.run('apply', '--yes')
    await changeLive(scene, 'PUT', '/records/1', { ttl_sec: 300 })
    expectEnd(await scene.run('verify'), 2, { out: ['missing 3600 192.0.2.2', 'instead 300 192.0.2.2'] })
  })
})

test('a disabled zone gives a warning unless the definition disables it', async () => {
  const scene = await openServiceScene({ files: zoneOf('  a: {type: A, value: 192.0.2.1}\n') })
  await scene.run('apply', '--yes')
  await changeLive(scene, 'PUT', '', { status: 'disabled' })
  expect((await scene.run('verify')).stderr).toContain('zones/example.com.yaml:1:9: warning[zone-disabled] example.com. is disabled')
  scene.write({ 'zones/example.com.yaml': `status: disabled\n${zoneOf('  a: {type: A, value: 192.0.2.1}\n')['zones/example.com.yaml']}` })
  expect(await scene.run('verify')).toMatchObject({ status: 0, stderr: '' })
})

test('a zone of which no name server is known gives a warning, unless none is to be queried', async () => {
  const scene = await openServiceScene({
    files: {
      'zonewright.yaml': 'providers:\n  files: {type: octodns, directory: served}\nzones:\n  - {files: zones/*, targets: [files]}\n',
      'served/example.com.yaml': 'a: {type: A, ttl: 300, value: 192.0.2.1}\n',
      'zones/example.com.yaml': 'domain: example.com\nrecords:\n  a: {type: A, ttl: 300, value: 192.0.2.1}\n',
    },
  })
  const warning =
    'zones/example.com.yaml:1:9: warning[nameservers-unknown] example.com. at files: no name server is known, so none was queried'
  const { status, stdout, stderr } = await scene.run('verify')
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'Verified: 1 of 1 zone as defined, 0 record sets queried.\n' })
  expect(stderr).toContain(warning)
  const { diagnostics } = JSON.parse((await scene.run('verify', '--format', 'json')).stdout).zones[0]
  expect(diagnostics).toMatchObject([{ code: 'nameservers-unknown', severity: 'warning' }])
  expect(await scene.run('verify', '--no-dns')).toMatchObject({ status: 0, stderr: '' })
})
