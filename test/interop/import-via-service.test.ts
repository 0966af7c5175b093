/** Zones that the service creates: from a transfer from a real name server, or as copies of its own zones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Script } from '../cli/recording-proxy.ts'
import { TOKEN } from '../cli/scene.ts'
import { openServiceScene } from '../cli/service-scene.ts'
import { startProgram } from '../support/built-program.ts'
import { expectEnd } from '../support/cli.ts'
import { type DnsServer, startBind, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'

const TEXT = `$TTL 3600
@ SOA ns1.example.org. hostmaster.example.com. 7 7200 3600 1209600 300
@ NS ns1.example.org.
@ MX 10 mail
mail A 192.0.2.1
cpu HINFO "a" "b"
`

const VIA = ['import', '--from', 'cloud', '--via-service'] as const

/** A command that failed, with a message. */
const failed = (message: string) => ({ status: 1, stdout: '', stderr: expect.stringContaining(message) })
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

  it('creates a zone and its definition, with an empty plan', async () => {
    const scene = await openServiceScene({ ...EMPTY, peerPort: open.port })
    const args = [...VIA, '127.0.0.1', 'example.com', 'example.net', '-o', 'zones']
    expect(await scene.run(...args)).toMatchObject(failed('[not-confirmed]'))
    expectEnd(await scene.run(...args, '--dry-run'), 0, { err: 'Not done because of --dry-run' })
    expect(scene.proxy.requests).toEqual([])
    const result = await scene.run(...args, '--yes')
    expect(result).toMatchObject({ status: 0, stdout: 'zones/example.com.yaml\nzones/example.net.yaml\n' })
    expect(result.stderr).toContain(
      'warning[import-lossy] cloud created example.com. with a difference: skipped, the service does not support this type: cpu HINFO',
    )
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
    const clone = await scene.run('import', '--from', 'cloud', '--clone', 'example.com', 'copy.example', '-o', 'zones', '--yes')
    expect(clone).toMatchObject({ status: 0, stdout: 'zones/copy.example.yaml\n' })
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
    expect(scene.files()['zones/copy.example.yaml']).toContain('  mail: {type: A, value: 192.0.2.1}\n')
  })

  it('shows the addresses to allow if the transfer is refused', async () => {
    const scene = await openServiceScene({ ...EMPTY, peerPort: closed.port, transferAddresses: ['127.0.0.1', '::1'] })
    expectEnd(await scene.run(...VIA, '127.0.0.1', 'example.com', '-o', 'zones', '--yes'), 1, {
      err: ['[provider-rejected] cloud: importing example.com. from 127.0.0.1: 400', 'It must allow transfers (AXFR) to 127.0.0.1, ::1.'],
      out: '',
    })
    expect(Object.keys(scene.files()).sort()).toEqual(['zones/.keep', 'zonewright.yaml'])
  })

  it('knows the addresses of the real service, which does not report them', async () => {
    const script = ({ path }: { path: string }) =>
      path === '/v4/domains/import'
        ? { status: 400, headers: { 'content-type': 'application/json' }, body: '{"errors":[{"reason":"The request was refused"}]}' }
        : null
    const scene = await openServiceScene({ ...EMPTY, script, provider: 'preset: linode' })
    const result = await scene.run(...VIA, 'ns1.example.net', 'example.com', '--yes')
    expect(result).toMatchObject({ status: 1, stdout: '' })
    expect(result.stderr).toMatch(/\(the name server must allow zone transfers \(AXFR\) to [0-9.]+, [0-9.]+, [0-9a-f:]+, [0-9a-f:]+\)/)
  })

  it('reports the zones created before a failure', async () => {
    const scene = await openServiceScene({ ...EMPTY, peerPort: open.port })
    const result = await scene.run(...'import --from cloud --via-service 127.0.0.1 example.com example.org -o z --yes'.split(' '))
    expect(result).toMatchObject(failed('warning[zone-undefined] cloud now has example.com.'))
  })

  it('checks for existing files before it creates anything', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': 'mine' }, peerPort: open.port })
    expect(await scene.run(...VIA, '127.0.0.1', 'example.com', '-o', 'zones', '--yes')).toMatchObject(failed('[file-exists]'))
    expect(scene.proxy.requests).toEqual([])
  })

  it('creates no zone if the service already has one of them, even if it is named twice', async () => {
    const scene = await openServiceScene({ ...EMPTY, peerPort: open.port })
    const names = ['example.com', 'example.com.', 'EXAMPLE.com']
    expectEnd(await scene.run(...VIA, '127.0.0.1', ...names, '-o', 'zones', '--yes'), 0, { out: /^zones\/example\.com\.yaml\n$/ })
    const before = scene.proxy.mutations().length
    for (const how of [
      ['--via-service', '127.0.0.1'],
      ['--clone', 'example.com'],
    ]) {
      const result = await scene.run('import', '--from', 'cloud', ...how, 'example.com', '-o', 'other', '--yes')
      expect(result).toMatchObject(failed('error[zone-exists] cloud already has example.com.'))
    }
    const both = await scene.run(...VIA, '127.0.0.1', 'example.net', 'example.com', '-o', 'other', '--yes')
    expect(both).toMatchObject(failed('[zone-exists]'))
    expect(scene.proxy.mutations()).toHaveLength(before)
  })

  it('reports a zone that the name server does not have', async () => {
    const scene = await openServiceScene({ ...EMPTY, peerPort: open.port })
    const result = await scene.run(...VIA, '127.0.0.1', 'other.example', '-o', 'zones', '--yes')
    expect(result).toMatchObject(failed('[provider-rejected] cloud: importing other.example. from 127.0.0.1: 400'))
    expect(result.stderr).not.toContain('[zone-undefined]')
    expect(await scene.run('import', '--from', 'cloud')).toMatchObject(failed('cloud has no zones'))
  })

  it('reports a created zone whose definition cannot be written', async () => {
    const scene = await openServiceScene({ files: { 'zones/.keep': '', file: 'mine' }, peerPort: open.port })
    const result = await scene.run(...VIA, '127.0.0.1', 'example.com', '-o', 'file', '--yes')
    expect(result).toMatchObject(failed('[file-unwritable] file/example.com.yaml'))
    expect(result.stderr).toContain(
      'warning[zone-undefined] cloud now has example.com., and no definition for it was written (import it with: zonewright import --from cloud example.com)',
    )
  })

  it('checks whether the zone was created if the answer is lost', async () => {
    let upstream = ''
    const script: Script = async ({ method, path, headers, body }) => {
      if (method !== 'POST') return null
      await fetch(new URL(path, upstream), {
        method,
        headers: { 'content-type': 'application/json', authorization: String(headers.authorization) },
        body,
      })
      return 'cut'
    }
    const scene = await openServiceScene({ ...EMPTY, script, peerPort: open.port })
    upstream = scene.service.baseUrl
    const result = await scene.run(...VIA, '127.0.0.1', 'example.com', 'example.net', '-o', 'zones', '--yes')
    expect(result).toMatchObject(failed('warning[zone-undefined] cloud now has example.com.'))
    expect(scene.proxy.mutations()).toHaveLength(1)
  })
})

const json = { 'content-type': 'application/json' }
const onImport =
  (reply: Awaited<ReturnType<Script>>): Script =>
  ({ path }) =>
    path === '/v4/domains/import' ? reply : null

it('a --via-service that names no server is refused before any request', async () => {
  const scene = await openServiceScene(EMPTY)
  for (const [nameserver, message] of [
    ['127.0.0.1:5353', 'has the port 5353, but the provider asks name servers at port 53 only'],
    ...['ns1.example.net:53', '[::1]:53'].map((one) => [one, 'has the port']),
    ...['', '.', '-', '999.1.1.1', 'fe80::1%eth0', 'http://127.0.0.1'].map((one) => [one, 'is neither the address nor the name']),
    ...['ns 1.example', 'ns\u001b[31m.example', 'ns1\n.example', '\u202ens.example'].map((one) => [one, 'is neither']),
    [`${'a'.repeat(64)}.example`, 'is neither'],
  ] as [string, string][]) {
    const result = await scene.run(...VIA, nameserver, 'example.com', '--yes')
    expect(result, nameserver).toMatchObject(failed(message))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may appear in the output
    expect(result.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  }
  for (const option of [
    ['--tsig', 'upd:env:SECRET'],
    ['--timeout', '5'],
  ]) {
    // The service knows nothing of them.
    const result = await scene.run(...VIA, '127.0.0.1', 'example.com', '-o', 'zones', '--yes', ...option)
    const message = 'are for imports from a name server (axfr), not for provider'
    expect(result, option[0]).toMatchObject(failed(message))
  }
  expect(scene.proxy.requests).toEqual([])
})

it('--via-service is sent in canonical form', async () => {
  const script = onImport({ status: 400, headers: json, body: '{"errors":[{"reason":"no"}]}' })
  const scene = await openServiceScene({ ...EMPTY, script })
  for (const nameserver of ['2001:db8::53', '[2001:db8::53]', 'NS1.Example.NET.', 'ns.bücher.example'])
    await scene.run(...VIA, nameserver, 'example.com', '--yes')
  const sent = ['2001:db8::53', '2001:db8::53', 'ns1.example.net', 'ns.xn--bcher-kva.example']
  expect(scene.proxy.mutations().map(({ body }) => JSON.parse(body))).toEqual(
    sent.map((one) => ({ domain: 'example.com', remote_nameserver: one })),
  )
})

it('a zone of another account is reported without a hint about transfers, whatever its name', async () => {
  const script = onImport({ status: 400, headers: json, body: '{"errors":[{"field":"domain","reason":"DNS zone already exists."}]}' })
  const scene = await openServiceScene({ ...EMPTY, script, provider: 'preset: linode' })
  const result = await scene.run(...VIA, 'axfr.example.net', 'transfer.example', '--yes')
  expect(result).toMatchObject(failed('400 domain: DNS zone already exists.'))
  expect(result.stderr).not.toMatch(/must allow|zone-undefined/)
})

it.each([
  ['without a scope', 401, 'Your OAuth token is not authorized to use this endpoint.', '[provider-forbidden]'],
  ['that is revoked', 401, 'Invalid Token', '[provider-unauthorized]'],
])('a token %s', async (_, status, reason, code) => {
  const script = onImport({ status, headers: json, body: JSON.stringify({ errors: [{ reason }] }) })
  const scene = await openServiceScene({ ...EMPTY, script })
  const result = await scene.run(...VIA, '127.0.0.1', 'example.com', '--yes')
  expect(result).toMatchObject(failed(code))
  expect(result.stderr).not.toContain('[zone-undefined]')
})

it('retries a busy service, and reports that a killed one may have created the zone', { tags: ['long'] }, async () => {
  let asked = 0
  const script: Script = ({ path }) => {
    if (path === '/v4/domains/import') asked += 1
    if (asked === 0) return null
    return asked === 1
      ? { status: 429, headers: { ...json, 'retry-after': '0' }, body: '{"errors":[{"reason":"Too many requests"}]}' }
      : 'cut'
  }
  const scene = await openServiceScene({ ...EMPTY, script })
  const result = await scene.run(...VIA, '127.0.0.1', 'example.com', 'example.net', '-o', 'zones', '--yes')
  expect(asked).toBe(2)
  expect(result).toMatchObject(failed('warning[zone-undefined] cloud may have created example.com., or may still be doing so'))
})

describe('Ctrl-C while a zone is being created', () => {
  const interrupt = async (times: number, said: string): Promise<void> => {
    let answer: () => void = () => undefined
    const waiting = new Promise<void>((resolve) => {
      answer = resolve
    })
    const made = JSON.stringify({ id: 1, domain: 'example.com', type: 'master', status: 'active' })
    const script: Script = async ({ path }) => {
      if (path !== '/v4/domains/import') return null
      await waiting
      return { headers: json, body: made }
    }
    const scene = await openServiceScene({ ...EMPTY, script })
    const program = await startProgram([...VIA, '127.0.0.1', 'example.com', 'example.net', '-o', 'zones', '--yes'], {
      cwd: scene.folder,
      env: { ZONEWRIGHT_TOKEN: TOKEN },
    })
    await expect.poll(() => scene.proxy.mutations().length).toBe(1)
    program.kill('SIGINT')
    await program.until('Stopping: ')
    if (times === 2) program.kill('SIGINT')
    else answer()
    expect(await program.ended).toEqual({ status: 130, signal: null })
    answer()
    expect(program.stderr()).toContain(said)
    expect(program.stdout()).toBe('')
    expect(scene.proxy.mutations()).toHaveLength(1)
    expect(Object.keys(scene.files()).sort()).toEqual(['zones/.keep', 'zonewright.yaml'])
  }

  it('waits for it', { tags: ['long'] }, () =>
    interrupt(1, 'warning[zone-undefined] cloud now has example.com., and no definition for it was written'),
  )
  it('twice ends at once', { tags: ['long'] }, () =>
    interrupt(
      2,
      'Stopping: waiting for the zone that cloud is creating. Press Ctrl-C again to end at once; the zone may be created anyway.',
    ),
  )
})
