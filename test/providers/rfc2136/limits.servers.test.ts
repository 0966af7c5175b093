/** Rules and limits of real servers that plans cannot know before the first apply. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { type DnsServer, startServer, TEST_KEY } from '../../support/dns-servers.ts'
import { bind } from '../../support/server-recipes/bind.ts'
import { knot } from '../../support/server-recipes/knot.ts'
import type { ServerRecipe } from '../../support/server-recipes/recipe.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { transferZone } from '../../support/tools.ts'

const ZONE = `$TTL 3600
@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300
@ NS ns1.example.net.
www 300 A 192.0.2.1
`

/** BIND with its usual checks of names and targets, and more options of the zone. */
const strictBind = (options = ''): ServerRecipe => ({
  ...bind,
  files(setup) {
    const files = bind.files(setup)
    return { ...files, 'named.conf': (files['named.conf'] ?? '').replace('check-names ignore; check-integrity no;', options) }
  },
})

describeWithTools(['named', 'knotd', 'dig'], 'the rules and limits of BIND and Knot DNS', () => {
  let server: DnsServer
  let folder: string
  const define = (records: string): void =>
    writeFileSync(
      join(folder, 'zones/example.com.yaml'),
      `domain: example.com\nrecords:\n  www: {type: A, ttl: 300, value: 192.0.2.1}\n${records}`,
    )
  const run = (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: { LAB_KEY: TEST_KEY.secret } })
  const served = async (): Promise<string[]> =>
    (await transferZone({ port: server.port, name: 'example.com', key: TEST_KEY })).flatMap((line) =>
      /\s(?:SOA|NS)\s/.test(line) ? [] : [line.replace(/\s+/g, ' ').replace('.example.com. ', ' ')],
    )

  async function start(recipe: ServerRecipe): Promise<void> {
    server = await startServer(recipe, { zones: [{ name: 'example.com', text: ZONE }], key: TEST_KEY })
    folder = temporaryDirectory()
    mkdirSync(join(folder, 'zones'))
    const tsig = `{name: ${TEST_KEY.name}, secret: env:LAB_KEY}`
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers:\n  lab: {type: rfc2136, server: '127.0.0.1:${server.port}', tsig: ${tsig}}\nzones: [{files: zones/*.yaml, targets: [lab]}]\n`,
    )
  }
  beforeAll(() => start(strictBind()))

  test('records that it refuses are named with the likely rule, and the others are changed', async () => {
    const mx = (name: string): string => `{type: MX, ttl: 300, value: {preference: 10, exchange: ${name}}}`
    const hosts = Array.from({ length: 30 }, (_, host) => `  h${host}: {type: A, ttl: 300, value: 192.0.2.1}\n`).join('')
    define(`${hosts}  a_b: {type: A, ttl: 300, value: 192.0.2.1}\n  m1: ${mx('nowhere')}\n  m2: ${mx('h3')}\n`)
    expectEnd(await run('apply', '--yes'), 4, {
      out: [
        /\+ a_b .*\n +failed: .* REFUSED \(a_b\.example\.com\. is not the name of a host, which "check-names"/,
        /\+ m1 .*\n +failed: .* REFUSED \(servers refuse an MX record whose target .* nowhere\.example\.com\.\)/,
        'Applied in part: 2 failed; 31 created',
      ],
    })
    expect((await served()).length).toBe(32)
    expect(await run('validate')).toMatchObject({ stdout: expect.stringContaining('m1.example.com. MX points to nowhere.example.com.') })
  })

  test('a TTL beyond max-zone-ttl is reported with what the server stores, and the next plan is empty', async () => {
    await start(strictBind('max-zone-ttl 3600;'))
    define('  long: {type: A, ttl: 1d, value: 192.0.2.2}\n')
    expectEnd(await run('apply', '--yes'), 0, { err: 'stores TTL 3600, not 86400, for long.example.com. A' })
    expect(await run('plan', '--detailed-exitcode')).toMatchObject({ status: 0, stdout: expect.stringContaining('No changes') })
    expect((await run('verify', '--nameserver', `127.0.0.1:${server.port}`)).status).toBe(0)
  })

  test('a zone of Knot DNS without data is explained', async () => {
    const empty = '  - domain: empty.example\n    acl: [signed]\n'
    await start({
      ...knot,
      files: (setup) => ({ ...knot.files(setup), 'knot.conf': `${knot.files(setup)['knot.conf']?.trimEnd()}\n${empty}` }),
    })
    writeFileSync(join(folder, 'zones/empty.example.yaml'), 'domain: empty.example\nrecords: {}\n')
    expectEnd(await run('plan', 'empty.example.'), 1, { err: /responds SERVFAIL \(the server may have no data for the zone yet/ })
  })
})
