/** A pull request that commits packages, programs and links: nothing of it runs, and it reads nothing outside its folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, type TestOptions, test } from 'vitest'
import { childEnvironment } from '../../src/providers/bridge-config.ts'
import { builtProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { gitRepository } from '../support/git-repository.ts'
import { OCTODNS_PYTHON } from '../support/octodns-python.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

const SECRET = 'hunter2hunter2'
const ZONE = "domain: example.com\nsoa_email: hostmaster@example.com\nrecords: {'': {type: NS, value: ns1.example.net.}}\n"

/** A checkout with this provider, beside a folder `runner` with files of the machine. Programs and packages of the checkout write `ran`. */
function checkout(provider: string, env: Readonly<Record<string, string>> = {}, more = '') {
  const root = temporaryDirectory()
  const folder = join(root, 'checkout')
  const ran = join(root, 'ran')
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    chmodSync(join(root, path), 0o755)
  }
  write('checkout/.git/HEAD', '')
  write('checkout/zones/example.com.yaml', ZONE)
  write('checkout/zonewright.yaml', `providers: {own: ${provider}}\n${more}\n`)
  write('checkout/served/.keep', '')
  write('checkout/tools/checker', `#!/bin/sh\ntouch '${ran}'\n`)
  write('checkout/Makefile', `all:\n\ttouch '${ran}'\n`)
  for (const name of ['example.com.zone', 'example.com.yaml', 'token']) write(`runner/${name}`, `root: x ${SECRET} 0\n`)
  const install = (place: string, name = 'zonewright-provider-acme'): void => {
    const module = `import { writeFileSync } from 'node:fs'\nwriteFileSync('${ran}', '')\nexport const provider = {}\n`
    write(`${place}/node_modules/${name}/package.json`, '{"type": "module", "exports": "./index.js"}')
    write(`${place}/node_modules/${name}/index.js`, module)
  }
  const given = Object.entries(env).map(([name, value]) => [name, value.replaceAll('CHECKOUT', folder)] as const)
  const all = { CI: 'true', PATH: process.env['PATH'], ...Object.fromEntries(given) }
  return { root, folder, write, install, ran: () => existsSync(ran), run: (...args: string[]) => cli(args, { cwd: folder, env: all }) }
}

const listed = (...names: string[]) => ({ ZONEWRIGHT_ALLOWED_PACKAGES: names.join(' ') })

describe('a package', () => {
  const ACME = '{type: npm:acme}'
  const LISTED = listed('zonewright-provider-acme')

  test('in the checkout is not loaded, whether it is listed or not, also without CI', async () => {
    for (const env of [LISTED, { CI: '', ...LISTED }, { CI: '' }, {}]) {
      const { run, install, ran } = checkout(ACME, env)
      install('checkout')
      for (const command of ['plan', 'doctor', 'providers'])
        expectEnd(await run(command), 1, { said: /error\[(?:provider-unknown|host-not-allowed)\]/ })
      expect(ran()).toBe(false)
    }
  })

  test('comes from the folder that the environment names, outside the checkout', async () => {
    const places = [
      ['runner', 'does not export "provider"|lacks settings|has version', true],
      ['checkout', 'is in the checkout', false],
      ['link', 'is in the checkout', false],
    ] as const
    for (const [place, message, runs] of places) {
      const root = temporaryDirectory()
      const { run, install, ran, folder, write } = checkout(ACME, { ...LISTED, ZONEWRIGHT_PACKAGES_DIR: join(root, 'packages') })
      install(place === 'link' ? 'checkout' : place)
      write('link/x', '')
      if (place === 'link') symlinkSync(join(folder, 'node_modules'), join(folder, '../link/node_modules'))
      symlinkSync(join(folder, '..', place), join(root, 'packages'))
      expectEnd(await run('plan'), 1, { said: new RegExp(message) })
      expect([place, ran()]).toEqual([place, runs])
    }
    expectEnd(await checkout(ACME, { ...LISTED, ZONEWRIGHT_PACKAGES_DIR: 'node_modules' }).run('plan'), 1, {
      said: 'is not the absolute path',
    })
  })

  test.each(['validate', 'fmt', 'zones', 'history'])('is not loaded by %s', async (command) => {
    const outside = temporaryDirectory()
    const { run, install, ran, root } = checkout(ACME, { ...LISTED, ZONEWRIGHT_PACKAGES_DIR: join(outside, 'packages') })
    install('runner')
    symlinkSync(join(root, 'runner'), join(outside, 'packages'))
    expect([(await run(command)).status, ran()]).toEqual([0, false])
  })
})

const CIS: [string, TestOptions][] = [
  ['true', {}],
  ['', { tags: ['long'] }],
]
for (const [CI, options] of CIS)
  test(`no SDK of the checkout is loaded with CI=${CI} by a program that has none`, options, async () => {
    const { root, folder, install, ran } = checkout('{type: route53}', {}, "journal: {url: 's3://bucket/dns', region: eu-west-1}")
    cpSync(dirname(await builtProgram()), join(root, 'program'), { recursive: true })
    const keys = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: SECRET, AWS_EC2_METADATA_DISABLED: 'true' }
    const env = { ...keys, CI, ZONEWRIGHT_ALLOWED_HOSTS: '*.amazonaws.com', NODE_PATH: join(folder, 'node_modules') }
    const plan = () => runTool(process.execPath, [join(root, 'program/zonewright.js'), 'plan', '--verbose'], { cwd: folder, env })
    const packages = ['@aws-sdk/client-route-53', '@aws-sdk/client-s3']
    for (const name of packages) install('checkout', name)
    expectEnd(await plan(), 1, { said: packages.map((name) => `the package ${name} is not installed`) })
    expect(ran()).toBe(false)
    // It is loaded from beside the program.
    for (const name of packages) install('.', name)
    await plan()
    expect(ran()).toBe(true)
  })

describe('a command', () => {
  const zonefile = (more: string): string => `{type: zonefile, directory: served, ${more}}`
  test.each<[settings: string, env: Readonly<Record<string, string>>, message: string]>([
    ['check: tools/checker', listed('tools/checker'), 'is in the checkout of a CI job'],
    ["check: [sh, -c, 'tools/checker', '{file}']", {}, 'host-not-allowed'],
    ['reload: tools/checker', { CI: '', ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net' }, 'host-not-allowed'],
    ['list: {format: bind, file: x, reload: tools/checker}', listed('checker'), 'providers.own.list.reload: this run may not run'],
    ['check: checker', { ...listed('checker'), CI: '', PATH: 'tools' }, 'is not installed'],
    // It finds no Makefile, since its working directory is not the checkout.
    ['reload: make', listed('make'), 'reload-failed'],
    ["reload: [sh, -c, 'checker; false']", { ...listed('sh'), PATH: 'CHECKOUT/tools' }, 'reload-failed'],
  ])('%s with %j runs nothing of the checkout', async (settings, env, message) => {
    const { run, ran } = checkout(zonefile(settings), env)
    expectEnd(await run('apply', '--yes'), 1, { said: message })
    expect(ran()).toBe(false)
  })
})

test.each(['tools', 'CHECKOUT/tools'])('git in the folder %s of PATH is not run', async (PATH) => {
  const { run, write, ran, root } = checkout('{type: zonefile, directory: served}', { PATH })
  write('checkout/tools/git', `#!/bin/sh\ntouch '${root}/ran'\n`)
  expectEnd(await run('plan', '--since', 'HEAD'), 1, { said: 'revision-unreadable' })
  expect(ran()).toBe(false)
})

describe('a class of octoDNS', () => {
  test.each<[python: string, env: Readonly<Record<string, string>>]>([
    ['tools/checker', listed('a.B', 'tools/checker')],
    ['checker', { ...listed('a.B', 'checker'), PATH: 'tools' }],
  ])('is not run by the interpreter %s of the checkout', async (python, env) => {
    const { run, ran } = checkout(`{type: octodns, class: a.B, python: ${python}}`, env)
    expectEnd(await run('plan'), 1, { said: 'is in the checkout of a CI job' })
    expect(ran()).toBe(false)
  })

  test('gets no relative folder of modules and, in CI, none of the checkout', () => {
    const { folder, root } = checkout('{}')
    const given = {
      PYTHONPATH: `:.:${folder}/x:${root}/runner:`,
      PYTHONHOME: folder,
      PYTHONUSERBASE: 'x',
      HOME: folder,
      PATH: `.:${folder}/bin:/bin`,
    }
    const passed = (CI: string) => childEnvironment({ folder, env: { ...given, CI } }, ['PYTHON*'])
    expect(passed('true')).toEqual({ PYTHONPATH: `${root}/runner`, PYTHONHOME: '', PYTHONUSERBASE: '', HOME: folder, PATH: '/bin' })
    expect(passed('')).toMatchObject({ PYTHONPATH: `${folder}/x:${root}/runner`, PYTHONUSERBASE: '' })
  })
})

describeWithTools([OCTODNS_PYTHON], 'an allowed class of octoDNS', () => {
  test.each([
    ['true', 'CHECKOUT:CHECKOUT/lib:.:lib', false],
    ['', '.:lib', false],
    ['true', 'CHECKOUT/../runner', true],
  ])('with CI=%j and PYTHONPATH=%s comes from outside the checkout', async (CI, PYTHONPATH, runs) => {
    const env = { ...listed('acme.Provider', OCTODNS_PYTHON), CI, PYTHONPATH }
    const { root, run, write, ran } = checkout(`{type: octodns, class: acme.Provider, python: ${OCTODNS_PYTHON}}`, env)
    const module = `open(${JSON.stringify(join(root, 'ran'))}, 'w')\n`
    for (const path of ['checkout/acme.py', 'checkout/lib/acme/__init__.py', ...(runs ? ['runner/acme.py'] : [])]) write(path, module)
    expectEnd(await run('plan'), 1, { said: runs ? 'acme' : /provider-class.*acme/ })
    expect(ran()).toBe(runs)
  })
})

describe('a program', () => {
  const FILES = {
    'data/.env.json': `"${SECRET}"`,
    'data/creds.json': `"${SECRET}"`,
    'data/terraform.tfstate': `"${SECRET}"`,
    'data/terraform.tfstate.d/x.json': `"${SECRET}"`,
    'data/token.json': '"0123456789abcdef"',
    'evil.ts': 'throw new Error("ran")',
  }

  /** A repository in a CI job: files are committed, links to them too; `left.json` is of an earlier step. */
  function repository(files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}) {
    const globs = 'dnsconfig.js' in { ...files, ...links } ? 'dnsconfig.js' : 'zones/*.{yaml,ts}'
    const scene = checkout("{type: desec, token: 'file:data/token.json'}", {}, `zones: [{files: '${globs}'}]`)
    rmSync(join(scene.folder, '.git'), { recursive: true })
    for (const [path, text] of Object.entries({ ...FILES, ...files })) scene.write(`checkout/${path}`, text)
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(scene.folder, path))
    gitRepository({}, scene.folder)
    for (const path of ['checkout/left.json', 'checkout/left.ts', 'runner/x.json']) scene.write(path, `"${SECRET}"`)
    return scene
  }

  const DATA_LINKS = {
    'data/a.json': 'creds.json',
    'data/b.json': 'terraform.tfstate',
    'data/c.json': '../../runner/x.json',
    linked: '../runner',
  }
  const READS: readonly [path: string, message: RegExp][] = [
    ['data/.env.json', /is hidden/],
    ['data/creds.json', /may have secrets/],
    ['data/CREDS.JSON', /may have secrets/],
    ['data/a.json', /may have secrets/],
    ['data/b.json', /may have secrets/],
    ['data/terraform.tfstate.d/x.json', /may have secrets/],
    ['data/token.json', /contains a secret of the config/],
    ['zonewright.yaml', /is the config/],
    ['left.json', /left\.json is not tracked by git/],
    ['.git/config', /is hidden|ends in none/],
    ['../runner/x.json', /outside the config folder/],
    ['data/c.json', /outside the config folder/],
    ['linked/x.json', /outside the config folder/],
    ['../runner/missing.json', /outside the config folder/],
    ['/etc/hostname', /outside the config folder|ends in none/],
  ]
  test.each(['zones/evil.ts', 'dnsconfig.js'])('%s reads no file that is not for it', async (file) => {
    const isScript = file === 'dnsconfig.js'
    const records = READS.map(([path], at) => {
      const own = path.startsWith('/') ? path : isScript ? `./${path}` : `../${path}`
      return `TXT('r${at}', read(() => ${isScript ? 'require' : 'load'}('${own}')))`
    })
    const read = 'const read = (call) => { try { return JSON.stringify(call()) } catch (e) { return String(e) } }\n'
    const program = isScript
      ? `${read}D('a.example', NewRegistrar('none'), DnsProvider(NewDnsProvider('own')), ${records})\n`
      : `import { TXT, load, zone } from 'zonewright/definition'\n${read}zone('a.example', {}, [${records}])\n`
    const { run, ran } = repository({ [file]: program }, DATA_LINKS)
    const { stdout, stderr } = await run('render')
    const made = stdout.split(/^ {2}r\d+:/m).slice(1)
    for (const [at, [path, message]] of READS.entries()) expect(made[at], path).toMatch(message)
    expect(stdout + stderr).not.toContain(SECRET)
    expect(ran()).toBe(false)
  })

  test.each<[links: Readonly<Record<string, string>>, messages: readonly (string | RegExp)[]]>([
    [
      {
        'zones/a.ts': '../../runner/x.json',
        'zones/b.ts': '../left.ts',
        'zones/c.ts': '../data/creds.json',
        'zones/d.ts': '../data/token.json',
      },
      [/a\.ts.*outside the config folder/, /b\.ts.*is not tracked by git/, /c\.ts.*may have secrets/, /d\.ts.*contains a secret/],
    ],
    [{ 'dnsconfig.js': 'data/terraform.tfstate' }, ['may have secrets']],
    [{ 'spfcache.json': '../runner/x.json' }, [/has no answer for|spfcache/]],
  ])('that is one of the links %j is refused', async (links, messages) => {
    const flatten = "SPF_BUILDER({ parts: ['v=spf1', 'include:a.example', '-all'], flatten: ['*'] })"
    const program = `D('a.example', NewRegistrar('none'), DnsProvider(NewDnsProvider('own')), ${flatten})\n`
    const { run } = repository('spfcache.json' in links ? { 'dnsconfig.js': program } : {}, links)
    const { stdout, stderr } = expectEnd(await run('validate'), 1, { said: messages })
    expect(stdout + stderr).not.toContain(SECRET)
  })

  test('runs nothing of the checkout or the machine that it imports', async () => {
    const shadows = ['node_modules/zonewright/definition.js', 'zones/zonewright/definition.ts', 'zonewright/definition.js']
    const imports: readonly [text: string, message: RegExp | null][] = [
      ["import 'node:fs'", /zones\/evil0\.ts:.*"node:fs" cannot be imported/],
      ["import 'zonewright-provider-acme'", /zones\/evil1\.ts:.*"zonewright-provider-acme" cannot be imported/],
      ["import '../node_modules/zonewright-provider-acme/index.js'", /acme\/index\.js:.*"node:fs" cannot be imported/],
      ["import 'zonewright'", /zones\/evil3\.ts:.*"zonewright" cannot be imported/],
      ["import '../left.ts'", /zones\/evil4\.ts:.*is not tracked by git/],
      ["import '../linked/left.ts'", /zones\/evil5\.ts:.*outside the config folder/],
      ["import 'file:///etc/hostname'", /zones\/evil6\.ts:.*cannot be imported/],
      // The package and the files with the name of the module are not used.
      ["import { A, zone } from 'zonewright/definition'\nzone('a.example', {}, [A('www', '192.0.2.1')])", null],
    ]
    const scene = repository(
      {
        ...Object.fromEntries(shadows.map((path) => [path, 'throw 1'])),
        ...Object.fromEntries(imports.map(([text], index) => [`zones/evil${index}.ts`, text])),
        'node_modules/zonewright-provider-acme/index.js': '',
      },
      { linked: '../runner' },
    )
    scene.install('checkout')
    scene.write('runner/left.ts', 'throw 1')
    const { stderr } = expectEnd(await scene.run('render'), 1, { err: imports.flatMap(([, message]) => message ?? []) })
    expect(stderr.match(/error\[/g)).toHaveLength(imports.length - 1)
    expect(scene.ran()).toBe(false)
  })

  test('is only what is called like one', async () => {
    const text = 'throw new Error("ran")'
    const files = ['evil.yaml', 'evil.ts.yaml', 'evil.zone', 'sub/evil.ts', 'evil.mjs', 'evil.d.ts', '.evil.ts']
    const { run } = repository({
      ...Object.fromEntries(files.map((name) => [`zones/${name}`, text])),
      'zones/a.yaml': `${ZONE.replace('example.com', 'a.example')}include: [../evil.ts]\n`,
    })
    const { stdout, stderr } = await run('validate')
    expect(stdout + stderr).not.toMatch(/\[program-|error.*: ran\b/)
  })
})

describeWithTools(['python3'], 'the child of octoDNS', () => {
  test('loads no module of the folder that it runs in', async () => {
    const { folder, write, ran } = checkout('{}')
    write('checkout/queue.py', `open(${JSON.stringify(join(dirname(folder), 'ran'))}, 'w')\n`)
    const bridge = readFileSync(resolve(import.meta.dirname, '../../src/providers/python_bridge.py'), 'utf8')
    // It leads a group of processes, which it ends at the end of its input.
    const child = spawn('python3', ['-c', bridge], { cwd: folder, stdio: 'ignore', detached: true })
    const [, signal] = await once(child, 'exit')
    expect([signal, ran()]).toEqual(['SIGKILL', false])
  })
})

describe('a file of the machine', () => {
  const DESEC = '{type: desec, token: env:T}'
  const LINKS = {
    'served/example.com.zone': 'runner/example.com.zone',
    'served/example.com.yaml': 'runner/example.com.yaml',
    linked: 'runner',
  }
  test.each<[provider: string, code: string, command?: string, more?: string]>([
    ['{type: zonefile, directory: ../runner}', 'path-not-allowed', 'validate'],
    ['{type: zonefile, directory: linked}', 'path-not-allowed'],
    ['{type: zonefile, directory: served}', 'file-unreadable'],
    ['{type: zonefile, directory: zones, list: {format: bind, file: ../runner/token}}', 'path-not-allowed'],
    ['{type: octodns, directory: ../runner}', 'path-not-allowed', 'validate'],
    ['{type: octodns, directory: served}', 'file-unreadable'],
    ['{type: octodns, class: a.B, options: {a: [{directory: /etc}]}}', 'path-not-allowed', 'validate'],
    ['{type: octodns, class: a.B, options: {a: zones/../../runner}}', 'path-not-allowed'],
    ['{type: octodns, class: a.B, options: {a: ~/x}}', 'path-not-allowed'],
    ["{type: desec, token: 'file:../runner/token'}", 'secret-missing'],
    ["{type: rfc2136, server: 192.0.2.1, tsig: {file: 'file:linked/token'}}", 'secret-missing'],
    ["{type: google, project: x, credentials: 'file:linked/token'}", 'secret-missing'],
    [DESEC, 'path-not-allowed', 'validate', 'journal: ../runner'],
    [DESEC, 'path-not-allowed', 'plan', 'journal: {url: "file:///etc"}'],
    [DESEC, 'path-not-allowed', 'plan', 'usage: {source: [zones/a.csv, linked/token]}'],
  ])('is not read in CI by %s: %s', async (provider, code, command = 'plan', more) => {
    const scene = checkout(provider, {}, more)
    for (const [path, target] of Object.entries(LINKS)) symlinkSync(join(scene.root, target), join(scene.folder, path))
    const { stdout, stderr } = expectEnd(await scene.run(command), 1, { said: code })
    expect(stdout + stderr).toContain('is outside the config folder, links resolved, and not in ZONEWRIGHT_ALLOWED_PATHS')
    expect(stdout + stderr).not.toContain(SECRET)
  })

  test('is read in CI if the environment allows it, or names it', async () => {
    const scene = checkout('{type: zonefile, directory: ../runner/served}', { ZONEWRIGHT_ALLOWED_PATHS: 'CHECKOUT/../runner/served' })
    mkdirSync(join(scene.root, 'runner/served'))
    expect((await scene.run('plan')).status).toBe(0)
    const google = checkout('{type: google, project: x}', { GOOGLE_APPLICATION_CREDENTIALS: 'CHECKOUT/../runner/token' })
    expectEnd(await google.run('plan'), 1, { said: 'is no JSON file with credentials of Google' })
  })

  test('that is named instead of the config is not shown', async () => {
    const scene = checkout('{}')
    symlinkSync(join(scene.root, 'runner/token'), join(scene.folder, 'link.yaml'))
    const { stdout, stderr } = expectEnd(await scene.run('plan', '-c', 'link.yaml'), 1, { said: 'path-protected' })
    expect(stdout + stderr).not.toContain(SECRET)
  })

  test.each(['zonefile', 'octodns'])('is not shown by the type %s, also without CI', async (type) => {
    const { run } = checkout(`{type: ${type}, directory: ../runner}`, { CI: '' })
    const { stdout, stderr } = expectEnd(await run('plan'), 1, { said: /provider-garbled.*this is not a zone file/ })
    expect(stdout + stderr).not.toContain(SECRET)
  })
})
