/** Provider classes of octoDNS at the name servers that they are for. Those for cloud services are in test/scripted/clients.test.ts. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { startBind, startPowerDns, TEST_KEY } from '../../support/dns-servers.ts'
import { NONE, startFaultProxy } from '../../support/fault-proxy.ts'
import { freePort } from '../../support/free-port.ts'
import { OCTODNS_PYTHON } from '../../support/octodns-python.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { dig } from '../../support/tools.ts'

/** A folder with this entry of the config as provider `live`. */
function workspace(entry: string, env: Readonly<Record<string, string>>) {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: ${entry}\n`)
  const define = (records: string): void =>
    writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\nrecords:\n${records}`)
  const run = (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env } })
  /** Applies, and returns the zone of the report. */
  const apply = async (...args: string[]) => {
    const { stdout, stderr } = await run('apply', '--yes', '--format', 'json', ...args)
    const [zone] = (JSON.parse(stdout || '{"zones":[]}') as { zones: Record<string, unknown>[] }).zones
    return zone ?? { stderr }
  }
  return { folder, define, run, apply }
}

const RECORDS = [
  '  www: {type: A, ttl: 300, values: [192.0.2.1, 192.0.2.2]}\n',
  "  txt: {type: TXT, ttl: 300, value: 'v=DKIM1; p=abc'}\n",
  '  mail: {type: MX, ttl: 300, value: {preference: 10, exchange: www}}\n',
].join('')

describeWithTools([OCTODNS_PYTHON, 'pdns_server', 'pdnsutil', 'named', 'dig'], 'classes of octoDNS at name servers', () => {
  test('octodns-powerdns creates a zone, and leaves LUA records alone', async () => {
    const server = await startPowerDns({ zones: [] })
    const { hostname, port } = new URL(server.api.url)
    const options = `{host: ${hostname}, port: ${port}, api_key: env:PDNS_KEY, enable_dynamic: false}`
    const { define, run, apply } = workspace(
      `{type: octodns, class: octodns_powerdns.PowerDnsProvider, python: '${OCTODNS_PYTHON}', options: ${options}}`,
      { PDNS_KEY: server.api.key },
    )
    define(`${RECORDS}  '': {type: NS, ttl: 300, values: [ns1.example.net., ns2.example.net.]}\n`)
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(await dig({ port: server.port, name: 'www.example.com', type: 'A' })).toHaveLength(2)
    const records = [{ content: 'A "ifportup(443, {\'192.0.2.1\'})"' }]
    const lua = { name: 'lua.example.com.', type: 'LUA', ttl: 60, changetype: 'REPLACE', records }
    const response = await fetch(`${server.api.url}/servers/localhost/zones/example.com.`, {
      method: 'PATCH',
      headers: { 'X-API-Key': server.api.key },
      body: JSON.stringify({ rrsets: [lua] }),
    })
    expect(response.status).toBe(204)
    define(RECORDS.replace('192.0.2.2', '192.0.2.3'))
    const plan = await run('plan')
    expect(plan.stderr).toMatch(/lua\.example\.com\. PowerDnsProvider\/LUA .* has a type that only octoDNS has at live, and stays as it is/)
    expect(await apply()).toMatchObject({ readBack: 'equal' })
    const zone = (await (
      await fetch(`${server.api.url}/servers/localhost/zones/example.com.`, { headers: { 'X-API-Key': server.api.key } })
    ).json()) as { rrsets: { type: string }[] }
    expect(zone.rrsets.map(({ type }) => type)).toContain('LUA')
    expect((await run('zones')).stdout).toContain('example.com')
    const wrong = workspace(`{type: octodns, class: octodns_powerdns.PowerDnsProvider, python: '${OCTODNS_PYTHON}', options: ${options}}`, {
      PDNS_KEY: 'a-wrong-key-0123456789',
    })
    wrong.define(RECORDS)
    expectEnd(await wrong.run('plan'), 1, { said: /PowerDNS unauthorized host=127\.0\.0\.1/ })
  })

  test('a read that a gateway refuses for a moment is repeated once', async () => {
    const server = await startPowerDns({ zones: [{ name: 'example.com', text: '$TTL 300\n@ SOA a. b. 1 1 1 1 1\n@ NS a.\n' }] })
    const proxy = await startFaultProxy(new URL(server.api.url).origin)
    const { hostname, port } = new URL(proxy.origin)
    const options = `{host: ${hostname}, port: ${port}, api_key: env:PDNS_KEY, enable_dynamic: false}`
    const { define, run } = workspace(
      `{type: octodns, class: octodns_powerdns.PowerDnsProvider, python: '${OCTODNS_PYTHON}', options: ${options}}`,
      { PDNS_KEY: server.api.key },
    )
    define(RECORDS)
    let left = 1
    proxy.use(() => (left-- > 0 ? { kind: 'answer', when: 'before', status: 503, html: true } : NONE))
    expect((await run('plan', '--detailed-exitcode')).status).toBe(2)
    proxy.use(() => ({ kind: 'answer', when: 'before', status: 503, html: true }))
    expectEnd(await run('plan'), 1, { said: /requests\.exceptions\.HTTPError: 503 Server Error/ })
    await proxy.close()
  })

  test('octodns-bind: a zone that is transferred is planned, applied and verified', async () => {
    const text = '$TTL 300\n@ SOA ns1.example.net. h.example.com. 1 1 1 1 1\n@ NS ns1.example.net.\n'
    const server = await startBind({ zones: [{ name: 'example.com', text }], key: TEST_KEY })
    const options = `{host: 127.0.0.1, port: ${server.port}, key_name: ${TEST_KEY.name}, key_secret: env:LAB_KEY, key_algorithm: ${TEST_KEY.algorithm}}`
    const { define, run, apply } = workspace(
      `{type: octodns, class: octodns_bind.Rfc2136Provider, python: '${OCTODNS_PYTHON}', options: ${options}}`,
      { LAB_KEY: TEST_KEY.secret },
    )
    const many = Array.from({ length: 500 }, (_, index) => `  h${index}: {type: A, ttl: 300, value: 192.0.2.1}\n`).join('')
    define(RECORDS + many)
    expect(await apply()).toMatchObject({ readBack: 'equal', calls: { total: 1 } })
    expect(await run('verify', '--nameserver', `127.0.0.1:${server.port}`)).toMatchObject({ status: 0, stdout: expect.any(String) })
    define(RECORDS)
    expect(await apply('--allow', 'deletes')).toMatchObject({ readBack: 'equal' })
    expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
  })

  test('octodns-bind: a server that cannot be reached, and one that refuses', async () => {
    const options = (port: number): string => `{host: 127.0.0.1, port: ${port}, timeout: 2}`
    const planAt = async (port: number): Promise<string> => {
      const { define, run } = workspace(
        `{type: octodns, class: octodns_bind.Rfc2136Provider, python: '${OCTODNS_PYTHON}', options: ${options(port)}}`,
        {},
      )
      define(RECORDS)
      const { stdout, stderr } = expectEnd(await run('plan'), 1)
      return stdout + stderr
    }
    expect(await planAt(await freePort())).toMatch(/provider-unreachable.*ConnectionRefusedError/)
    const server = await startBind({ zones: [] })
    expect(await planAt(server.port)).toMatch(/AxfrSourceZoneTransferFailed: Unable to Perform Zone Transfer/)
  })
})
