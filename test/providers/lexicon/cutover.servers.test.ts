/** `cutover` from BIND to PowerDNS behind dns-lexicon, which only creates records there. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { startBind, startPowerDns, TEST_KEY } from '../../support/dns-servers.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { dig } from '../../support/tools.ts'
import { LEXICON_PYTHON, lexiconEntry } from './lexicon-scene.ts'

const soa = (...servers: string[]): string =>
  `$TTL 3600\n@ SOA ns1.example.net. hostmaster.example.net. 1 14400 14400 1209600 300\n${servers.map((name) => `@ 3600 NS ${name}.example.net.\n`).join('')}`
const parentZone = (...servers: string[]): string => soa('ns1') + servers.map((name) => `example 7200 NS ${name}.example.net.\n`).join('')
const RECORDS = '@ 7200 A 192.0.2.1\nwww 7200 A 192.0.2.2\nwww 7200 A 192.0.2.3\n'

describeWithTools(['named', 'pdns_server', 'pdnsutil', 'dig', LEXICON_PYTHON], 'dns-lexicon', () => {
  const NAMED = ['--apex-ns', 'ns7.example.net', '--apex-ns', 'ns8.example.net']
  test.each([
    ['lists its servers', []],
    ['is named with its servers', NAMED],
  ])('a zone moves to a service that only creates and %s', async (_, names) => {
    const former = await startBind({ zones: [{ name: 'example.com', text: soa('ns1', 'ns2') + RECORDS }], key: TEST_KEY })
    const own = await startPowerDns({ zones: [{ name: 'example.com', text: soa('ns7', 'ns8') }] })
    const parent = await startBind({ zones: [{ name: 'com', text: parentZone('ns1', 'ns2') }] })
    const folder = temporaryDirectory()
    const bind = `{type: rfc2136, server: '127.0.0.1:${former.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
    const lexicon = lexiconEntry('powerdns', `{pdns_server: '${own.api.url}', auth_token: env:PDNS}`)
    writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  former: ${bind}\n  own: ${lexicon}\n`)
    const env = { PATH: process.env['PATH'] ?? '', LAB_KEY: TEST_KEY.secret, PDNS: own.api.key }
    const servers = ['--from-server', `127.0.0.1:${former.port}`, '--to-server', `127.0.0.1:${own.port}`]
    const args = ['cutover', 'example.com', '--from', 'former', '--to', 'own', '--yes', '--no-color', ...servers, ...names]
    const cutover = (seconds: number) =>
      cli([...args, '--parent-server', `127.0.0.1:${parent.port}`], {
        cwd: folder,
        env,
        now: () => new Date(Date.UTC(2026, 10, 23) + seconds * 1000),
      })
    expectEnd(await cutover(0), 2, { err: 'step 1 of 6, lower' })
    expectEnd(await cutover(90_000), 2, { err: ['Both sides answer alike', '+ ns7.example.net.'] })
    expect((await dig({ port: own.port, name: 'www.example.com', type: 'A' })).sort()).toEqual(['192.0.2.2', '192.0.2.3'])
    parent.replaceZone('com', parentZone('ns7', 'ns8').replace(' 1 14400', ' 2 14400'))
    await expect.poll(async () => (await cutover(90_100)).stderr).toContain('The parent delegates example.com. to own')
    expectEnd(await cutover(90_100 + 7300), 0, { err: 'example.com. has moved to own' })
  })
})
