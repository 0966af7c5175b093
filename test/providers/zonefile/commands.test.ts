/** Check and reload commands, the list of zones and the catalog zone. Scripts stand in for the programs of servers. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addSecret, noSecrets } from '../../../src/base/secret-guard.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import { createProvider } from '../../../src/providers/registry.ts'
import { parseCommand, runCommand } from '../../../src/providers/zonefile/run-command.ts'
import { expectEnd } from '../../support/cli.ts'
import { ORIGIN, planOf } from '../../support/plan.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { NS, type Workspace, workspace } from './workspace.ts'

const FILE = 'served/example.com.zone'
const WWW = '  www: {type: A, ttl: 300, value: 192.0.2.1}\n'

/** Adds settings with the paths of programs, which exist only in the workspace. */
function configure(space: Workspace, settings: string): void {
  const lines = settings.trimEnd().split('\n')
  space.write(
    'zonewright.yaml',
    space.read('zonewright.yaml').replace('directory: served\n', `directory: served\n${lines.map((line) => `    ${line}\n`).join('')}`),
  )
}

function withPrograms(): Workspace & { readonly fail: (name: string) => void; readonly succeed: (name: string) => void } {
  const space = workspace()
  // A program that fails as long as the file NAME.fails exists.
  for (const name of ['check', 'reload', 'reconfig']) {
    const text = `if [ -e "${space.folder}/${name}.fails" ]; then echo "line one"; echo "${name}: broken" >&2; exit 7; fi`
    space.program(name, text)
  }
  return { ...space, fail: (name) => space.write(`${name}.fails`, ''), succeed: (name) => rm(space.folder, name) }
}

const rm = (folder: string, name: string): void =>
  writeFileSync(join(folder, 'programs', name), `#!/bin/sh\necho "${name} $*" >> "${folder}/calls"\n`)

describe('a check', () => {
  test('gets the temporary file and the zone, and its failure leaves everything as it is', async () => {
    const space = withPrograms()
    configure(space, 'check: programs/check')
    space.define('example.com', NS)
    expect((await space.apply()).status).toBe(0)
    expect(space.calls()).toEqual([
      expect.stringMatching(/^check example\.com \/.*\/served\/\.example\.com\.zone\.\d+-[0-9a-f]+-[0-9a-f]+\.tmp$/),
    ])
    const before = space.read(FILE)
    space.fail('check')
    space.define('example.com', NS + WWW)
    const failed = await space.apply('--format', 'json')
    expect(failed.status).toBe(1)
    const [zone] = JSON.parse(failed.stdout).zones
    expect(zone.changes[0].outcome).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('example.com. was not written: "programs/check" ended with status 7: line one; check: broken'),
    })
    expect([space.read(FILE), space.served()]).toEqual([before, ['example.com.zone']])
    space.succeed('check')
    expect((await space.apply()).status).toBe(0)
    expect(space.read(FILE)).toContain('192.0.2.1')
  })

  test.each([
    ['is not installed', 'check: no-such-program', 'is not installed'],
    ['does not end', "check: [sh, -c, 'sleep 60', '{file}']\ntimeout: 1", 'did not end within 1 s'],
    ['is ended by a signal', "check: [sh, -c, 'kill -9 $$', '{file}']", 'was ended by SIGKILL'],
  ])('that %s leaves no file', async (_, settings, expected) => {
    const space = workspace(settings)
    space.define('example.com', NS)
    const result = await space.apply()
    expect([result.status, result.stdout, space.served()]).toEqual([1, expect.stringContaining(expected), []])
  })
})

describe('a reload', () => {
  test('follows every change, and not an apply without changes', async () => {
    const space = withPrograms()
    configure(space, "reload: 'programs/reload {zone}'")
    space.define('example.com', NS)
    expect((await space.apply()).status).toBe(0)
    expect((await space.apply()).status).toBe(0)
    expect(space.calls()).toEqual(['reload example.com'])
    space.define('example.com', NS + WWW)
    expect((await space.apply()).status).toBe(0)
    space.define('example.com', null)
    expect((await space.apply('--allow', 'delete-zone')).status).toBe(0)
    expect(space.calls()).toEqual(['reload example.com', 'reload example.com'])
    expect(space.served()).toEqual([])
  })

  test('that fails is reported, and repeated by the next apply until it succeeds', async () => {
    const space = withPrograms()
    configure(space, 'reload: programs/reload {zone}')
    space.fail('reload')
    space.define('example.com', NS)
    const first = await space.apply('--format', 'json')
    const [zone] = JSON.parse(first.stdout).zones
    expect([first.status, zone.changes[0].outcome.state, zone.readBack]).toEqual([1, 'applied', 'equal'])
    expect(first.stderr).toContain('error[reload-failed] files: example.com. was written, but "programs/reload" ended with status 7: line')
    expect(space.read(FILE)).toContain('ns1.example.net.')
    expectEnd(await space.run('plan', '--detailed-exitcode'), 0, { err: /warning\[reload-failed\].*written by an earlier run/ })
    expect((await space.run('doctor')).stdout).toContain('servers were not told of the change of example.com.')
    expectEnd(await space.apply(), 1, { err: 'error[reload-failed]' })
    space.succeed('reload')
    expectEnd(await space.apply(), 0, { err: 'an earlier run had created example.com.; servers were told' })
    expect(space.served()).toEqual(['example.com.zone'])
    expect((await space.apply()).stderr).toBe('')
    expect(space.calls()).toHaveLength(3)
  })

  test('of a changed zone that the server does not know yet comes after the list of zones', async () => {
    const space = withPrograms()
    configure(space, 'reload: programs/reload {zone}\nlist: {format: bind, file: served.conf, reload: programs/reconfig}')
    // The server knows the zone after it has read the list.
    const { folder } = space
    space.program('reload', `if [ ! -e "${folder}/known" ]; then echo "not found"; exit 1; fi`)
    space.fail('reconfig')
    space.define('example.com', NS)
    expect((await space.apply()).stderr).toContain('error[reload-failed]')
    space.define('example.com', NS + WWW)
    expect((await space.apply()).stderr).toContain('error[reload-failed]')
    space.program('reconfig', `touch "${folder}/known"`)
    expectEnd(await space.apply(), 0, { err: 'servers were told' })
    expect(space.calls()).toEqual(['reconfig', 'reconfig', 'reconfig'])
    space.define('example.com', NS)
    expect((await space.apply()).status).toBe(0)
    expect(space.calls().at(-1)).toBe('reload example.com')
    expect(space.served()).toEqual(['example.com.zone'])
  })

  test('of all zones is combined for many files', async () => {
    const space = withPrograms()
    configure(space, 'reload: programs/reload')
    for (let i = 0; i < 20; i += 1) space.define(`z${i}.example`, NS)
    expect((await space.apply()).status).toBe(0)
    expect(space.calls().length).toBeLessThan(20)
    expect(space.served()).toHaveLength(20)
  })

  test('of a run that was killed after the rename is done by the next apply', async () => {
    const space = withPrograms()
    configure(space, 'reload: programs/reload {zone}')
    space.define('example.com', NS)
    expect((await space.apply()).status).toBe(0)
    space.write('served/.example.com.zone.pending', '{"zone":"example.com.","change":"changed"}\n')
    space.write('served/.x.pending', '{"zone":"-o/etc/x.","change":"changed"}')
    space.write('served/.y.pending', 'garbage')
    expect((await space.apply()).status).toBe(0)
    expect(space.calls()).toEqual(['reload example.com', 'reload example.com'])
  })
})

describe('commands', () => {
  test('are run by apply only', async () => {
    const space = withPrograms()
    configure(space, 'check: programs/check\nreload: programs/reload\nlist: {format: bind, file: zones.conf, reload: programs/reconfig}')
    space.define('example.com', NS)
    for (const command of [['validate'], ['plan'], ['plan', '--out', 'plan.json'], ['verify', '--no-dns'], ['doctor'], ['history']])
      await space.run(...command)
    expect([space.calls(), space.served()]).toEqual([[], []])
  })

  test('get no secret of the environment', async () => {
    const space = workspace("check: [sh, -c, 'env > env.txt', '{file}']", { SECRET_TOKEN: 'a-secret-token', HOME: '/home-of-user' })
    space.define('example.com', NS)
    expect((await space.apply()).status).toBe(0)
    expect(space.read('env.txt')).toMatch(/^HOME=\/home-of-user$/m)
    expect(space.read('env.txt')).not.toContain('SECRET')
  })

  /** A provider whose reload command fails and prints a secret, and a call that creates a zone. */
  const openProvider = async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'served'))
    const loaded = noSecrets()
    addSecret(loaded, 'token', 'a-long-secret-token')
    const settings = { directory: 'served', check: ['true', '{file}'], reload: ['sh', '-c', 'echo key a-long-secret-token; exit 1'] }
    const at = { file: 'zonewright.yaml', line: 1, column: 1 }
    const { provider } = await createProvider(
      { name: 'files', type: 'zonefile', settings, at, placeOf: () => at },
      { secrets: { folder, env: process.env, loaded } },
    )
    const rrsets = [
      { name: ORIGIN, type: 'NS', existing: null, desired: { ttl: 300 as Ttl, hasOtherTtls: false, data: ['ns1.example.net.'] } },
    ]
    const { changes } = planOf(null, '')
    return { served: () => readdirSync(join(folder, 'served')), provider, call: { changes: changes.slice(0, 1), rrsets } }
  }

  test('put no secret of the run into messages', async () => {
    const { provider, call } = await openProvider()
    const { problems } = (await provider?.apply(null, call)) ?? {}
    expect(problems).toMatchObject([{ code: 'reload-failed', message: expect.stringContaining('ended with status 1: key ') }])
    expect(JSON.stringify(problems)).not.toContain('a-long-secret-token')
  })

  test('may take longer than the lease of the run lasts: then no file is written', async () => {
    const { provider, call, served } = await openProvider()
    const late = provider?.apply(null, call, { mayWrite: async () => 'run 1 has lost its lease' })
    await expect(late).rejects.toMatchObject({ notSent: true, message: 'files: not sent: run 1 has lost its lease' })
    expect(served()).toEqual([])
  })

  test.each([
    ['named-checkzone -q', ['named-checkzone', '-q']],
    ['  rndc   reload {zone} ', ['rndc', 'reload', '{zone}']],
    [
      ['sh', '-c', 'a "b" | c'],
      ['sh', '-c', 'a "b" | c'],
    ],
    ['rndc reload; rm -r x', null],
    ['a "b c"', null],
    ['a $(b)', null],
    [' ', null],
    ['{file} x', null],
  ])('%j is %j', (setting, expected) => {
    const parsed = parseCommand(setting)
    expect(parsed.ok ? parsed.value : null).toEqual(expected)
  })

  test.each([
    ['reload: "a | b"', 'is written as a list'],
    ['reload: a {file}', '{file} has no value here'],
    ['check: a {zone}', 'the command does not get the file'],
    ["list: {format: bind, file: x, reload: 'a {zone}'}", '{zone} has no value here'],
    ['catalog: a..b', 'is not a domain name'],
    ['file_name: ../{zone}', 'providers.files.file_name'],
    ['file_name: x', 'providers.files.file_name'],
    ['serial: never', 'providers.files.serial'],
  ])(
    'the setting %s is refused',
    async (setting, expected) => void expectEnd(await workspace(setting).run('validate'), 1, { out: expected }),
  )

  test('are killed with their children when they take too long', async () => {
    const folder = temporaryDirectory()
    const began = performance.now()
    const problem = await runCommand(['sh', '-c', 'sleep 30 & wait'], { folder, env: process.env, timeout: 200 })
    expect([problem, performance.now() - began < 20_000]).toEqual(['did not end within 0.2 s', true])
  })

  test('have bounded, printable output', async () => {
    const problem = await runCommand(['sh', '-c', 'yes abcdefgh | head -c 3000000; printf "\\033[31mred"; exit 3'], {
      folder: temporaryDirectory(),
      env: process.env,
      timeout: 20_000,
    })
    expect(problem).toMatch(/^ended with status 3: /)
    expect(problem?.length).toBeLessThan(800)
    expect(problem).not.toContain('\u001b')
  })
})

describe('the list of zones', () => {
  test.each([
    ['bind', '// Written', 'zone "a.example" {\n  type primary;\n  file "/srv/zones/a.example.zone";\n  more;\n};\n'],
    ['nsd', '# Written', 'zone:\n  name: "a.example"\n  zonefile: "/srv/zones/a.example.zone"\n  more;\n'],
    ['knot', '# Written', 'zone:\n  - domain: "a.example"\n    file: "/srv/zones/a.example.zone"\n    more;\n'],
  ])('for %s follows creations and deletions, not changes', async (format, header, entry) => {
    const space = withPrograms()
    configure(
      space,
      `reload: programs/reload {zone}\nlist: {format: ${format}, file: conf/zones.conf, path: /srv/zones, lines: ['more;'], reload: programs/reconfig}`,
    )
    mkdirSync(join(space.folder, 'conf'))
    space.define('a.example', NS)
    expect(await space.apply()).toMatchObject({ status: 0 })
    expect(space.read('conf/zones.conf')).toContain(entry)
    expect(space.read('conf/zones.conf').startsWith(header)).toBe(true)
    space.define('a.example', NS + WWW)
    expect((await space.apply()).status).toBe(0)
    expect(space.calls()).toEqual(['reconfig', 'reload a.example'])
    space.define('a.example', null)
    expect((await space.apply('--allow', 'delete-zone')).status).toBe(0)
    expect(space.calls()).toEqual(['reconfig', 'reload a.example', 'reconfig'])
    expect(space.read('conf/zones.conf')).not.toContain('a.example')
  })

  test('that another program wrote is kept, and the next apply completes what is left', async () => {
    const space = withPrograms()
    configure(space, 'list: {format: bind, file: zones.conf, reload: programs/reconfig}')
    space.write('zones.conf', '// mine\n')
    space.define('a.example', NS)
    expectEnd(await space.apply(), 1, { err: 'files: zones.conf is not overwritten, since Zonewright did not write it' })
    expect(space.read('zones.conf')).toBe('// mine\n')
    space.write('zones.conf', '// Written by Zonewright.\n')
    expect((await space.apply()).status).toBe(0)
    expect(space.read('zones.conf')).toContain('zone "a.example"')
    expect(space.calls()).toEqual(['reconfig'])
  })

  test.each(['bind', 'nsd', 'knot'])('for %s keeps a zone whose file cannot be read for now', async (format) => {
    const space = withPrograms()
    configure(space, `reload: programs/reload {zone}\nlist: {format: ${format}, file: zones.conf}\ncatalog: catalog.example`)
    space.define('a.example', NS)
    space.write('zones/0_25.2.0.192.in-addr.arpa.yaml', `domain: 0/25.2.0.192.in-addr.arpa\nrecords:\n${NS}`)
    expect(await space.apply()).toMatchObject({ status: 0 })
    for (const file of ['a.example', '0_25.2.0.192.in-addr.arpa']) space.write(`served/${file}.zone`, '; being written\n')
    space.define('b.example', NS)
    expect((await space.apply('b.example')).stderr).not.toContain('error')
    for (const zone of ['a.example', 'b.example', '0/25.2.0.192.in-addr.arpa']) {
      expect(space.read('zones.conf')).toContain(`"${zone}"`)
      expect(space.read('served/catalog.example.zone')).toContain(` PTR ${zone}.`)
    }
  })

  test('is corrected by an apply without changes', async () => {
    const space = withPrograms()
    space.define('a.example', NS)
    expect((await space.apply()).status).toBe(0)
    configure(space, 'list: {format: bind, file: zones.conf, reload: programs/reconfig}')
    expect((await space.run('plan')).stderr).toContain('notice[zone-list] files: the list of zones gets a.example.: the folder has their')
    expect((await space.apply()).status).toBe(0)
    expect([space.read('zones.conf').includes('zone "a.example"'), space.calls()]).toEqual([true, ['reconfig']])
    expect((await space.apply()).status).toBe(0)
    expect(space.calls()).toEqual(['reconfig'])
    space.define('b.example', NS)
    expect((await space.run('plan')).stderr).not.toContain('zone-list')
    rmSync(join(space.folder, 'served/a.example.zone'))
    expect((await space.run('plan')).stderr).toContain('the list of zones loses a.example.: the folder does not have their files')
  })
})

describe('the catalog zone', () => {
  test('lists all zones under labels that stay, and its serial rises', async () => {
    const space = withPrograms()
    configure(space, 'reload: programs/reload {zone}\ncatalog: catalog.example')
    space.define('a.example', NS)
    space.define('b.example', NS)
    expect((await space.apply()).status).toBe(0)
    const members = (): string[] =>
      space
        .read('served/catalog.example.zone')
        .match(/^\S+ 0 IN PTR \S+$/gm)
        ?.sort() ?? []
    const first = members()
    expect(first.map((line) => line.split(' ').at(-1)).sort()).toEqual(['a.example.', 'b.example.'])
    expect(space.read('served/catalog.example.zone')).toMatch(/^version +0 IN TXT "2"$/m)
    const serial = (): number => Number(/([0-9]+) +; serial/.exec(space.read('served/catalog.example.zone'))?.[1])
    const before = serial()
    space.define('c.example', NS)
    expect((await space.apply()).status).toBe(0)
    expect(members()).toEqual(expect.arrayContaining(first))
    expect([members().length, serial()]).toEqual([3, before + 1])
    expect(space.calls()).toContain('reload catalog.example')
    expect((await space.run('plan', '--detailed-exitcode')).status).toBe(0)
    expect((await space.run('import', '--from', 'files', '-o', 'x')).stdout).not.toContain('catalog')
  })

  test('is no zone for a definition', async () => {
    const space = workspace('catalog: catalog.example')
    space.define('catalog.example', NS)
    expect((await space.run('plan')).stderr).toContain('cannot have a zone named catalog.example.')
  })
})
