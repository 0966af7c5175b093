/** Zones that the service makes by itself: of what it transfers from a real name server, or as copies of its own. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openScene } from '../cli/scene.ts'
import { type DnsServer, startBind, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'

const TEXT = `$TTL 3600
@ SOA ns1.example.org. hostmaster.example.com. 7 7200 3600 1209600 300
@ NS ns1.example.org.
@ MX 10 mail
mail A 192.0.2.1
cpu HINFO "a" "b"
`

const EMPTY = { files: { 'zones/.keep': '' } }

describeWithTools(['named'], 'import --via-service', () => {
  let open: DnsServer
  let closed: DnsServer
  beforeAll(async () => {
    const zones = ['example.com', 'example.net'].map((name) => ({ name, text: TEXT }))
    open = await startBind({ zones })
    closed = await startBind({ zones, key: TEST_KEY, unsignedTransfer: false })
  })
  afterAll(() => Promise.all([open?.stop(), closed?.stop()]))

  it('makes a zone at the service and its definition, and a plan is empty', async () => {
    const scene = await openScene({ ...EMPTY, peerPort: open.port })
    const args = ['import', '--from', 'cloud', '--via-service', '127.0.0.1', 'example.com', 'example.net', '-o', 'zones']
    expect(await scene.run(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining('[not-confirmed]') })
    expect(await scene.run(...args, '--dry-run')).toMatchObject({ status: 0, stderr: expect.stringContaining('left undone') })
    expect(scene.front.heard).toEqual([])
    const result = await scene.run(...args, '--yes')
    expect(result).toMatchObject({ status: 0, stdout: 'zones/example.com.yaml\nzones/example.net.yaml\n' })
    expect(result.stderr).toContain(
      'warning[import-lossy] cloud made example.com. with a difference: left out, the service has no records of this type: cpu HINFO',
    )
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
    const clone = await scene.run('import', '--from', 'cloud', '--clone', 'example.com', 'copy.example', '-o', 'zones', '--yes')
    expect(clone).toMatchObject({ status: 0, stdout: 'zones/copy.example.yaml\n' })
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
    expect(scene.files()['zones/copy.example.yaml']).toContain('  mail: {type: A, value: 192.0.2.1}\n')
  })

  it('shows the addresses to allow where the transfer is refused', async () => {
    const scene = await openScene({ ...EMPTY, peerPort: closed.port, transferAddresses: ['127.0.0.1', '::1'] })
    const result = await scene.run('import', '--from', 'cloud', '--via-service', '127.0.0.1', 'example.com', '-o', 'zones', '--yes')
    expect(result).toMatchObject({ status: 1, stdout: '' })
    expect(result.stderr).toContain('[provider-rejected] cloud: importing example.com. from 127.0.0.1: 400 remote_nameserver: ')
    expect(result.stderr).toContain('It must allow transfers (AXFR) to 127.0.0.1, ::1.')
    expect(Object.keys(scene.files()).sort()).toEqual(['zones/.keep', 'zonewright.yaml'])
  })

  it('knows the addresses of the real service, which does not tell them', async () => {
    const script = ({ path }: { path: string }) =>
      path === '/v4/domains/import'
        ? { status: 400, headers: { 'content-type': 'application/json' }, body: '{"errors":[{"reason":"The request was refused"}]}' }
        : null
    const scene = await openScene({ ...EMPTY, script, provider: 'preset: linode' })
    const result = await scene.run('import', '--from', 'cloud', '--via-service', 'ns1.example.net', 'example.com', '--yes')
    expect(result).toMatchObject({ status: 1, stdout: '' })
    expect(result.stderr).toMatch(/\(the name server must allow zone transfers \(AXFR\) to [0-9.]+, [0-9.]+, [0-9a-f:]+, [0-9a-f:]+\)/)
  })

  it('tells what was made before it failed', async () => {
    const scene = await openScene({ ...EMPTY, peerPort: open.port })
    const result = await scene.run(
      'import',
      '--from',
      'cloud',
      '--via-service',
      '127.0.0.1',
      'example.com',
      'example.org',
      '-o',
      'z',
      '--yes',
    )
    expect(result).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('warning[zone-undefined] cloud has example.com. now'),
    })
  })

  it('looks for files in the way before anything is made', async () => {
    const scene = await openScene({ files: { 'zones/example.com.yaml': 'mine' }, peerPort: open.port })
    const result = await scene.run('import', '--from', 'cloud', '--via-service', '127.0.0.1', 'example.com', '-o', 'zones', '--yes')
    expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining('[file-exists]') })
    expect(scene.front.heard).toEqual([])
  })
})
