import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageInfo from '../../package.json' with { type: 'json' }
import { startService } from '../../src/service/index.ts'
import { folderWith } from '../definition/files.ts'
import { createCloudflare } from '../scripted/cloudflare/service.ts'
import { createDesec } from '../scripted/desec/service.ts'
import { createDigitalOcean } from '../scripted/digitalocean/service.ts'
import { createTestAccount } from '../scripted/google/account.ts'
import { createHetzner } from '../scripted/hetzner/service.ts'
import { defaultRrsets } from '../scripted/hetzner/zones.ts'
import { createRoute53 } from '../scripted/route53/service.ts'
import { createScaleway } from '../scripted/scaleway/service.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { createVultr } from '../scripted/vultr/service.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import type { WorkflowJob } from '../support/workflow-runner.ts'
import { filesBelow, TOKEN } from './scene.ts'

const inFolder = (folder: string, ...args: string[]): Promise<CliResult> => cli(args, { cwd: folder })

/** The variables of the step of a job that runs a command. */
const envOf = (job: WorkflowJob, command: string): unknown => job.steps.find(({ run }) => run?.startsWith(command))?.env
const JOBS = ['.github/workflows/dns-check.yml', '.github/workflows/dns.yml']
const SCHEMAS = ['schemas/config.schema.json', 'schemas/zone.schema.json']
const FILES = [...JOBS, '.gitignore', ...SCHEMAS, 'zones/example.com.yaml', 'zonewright.yaml']

describe('init', () => {
  test('writes its files, and lists them and the next steps', async () => {
    const folder = temporaryDirectory()
    const { stdout } = expectEnd(await inFolder(folder, 'init'), 0, { err: '' })
    expect(Object.keys(filesBelow(folder)).sort()).toEqual(FILES)
    for (const file of FILES) expect(stdout).toContain(`  ${file}\n`)
    for (const command of ['serve', 'validate', 'plan', 'apply', 'verify'])
      expect(stdout).toMatch(new RegExp(`^ .*zonewright ${command}`, 'm'))
    expect(stdout).toMatch(
      /^Require the checks "plan" and "check".*\n {2}https:.*\/settings\/rules\/new.*\nLet only main .*required reviewers.*\n {2}https:.*\/environments$/m,
    )
  })

  test.each([
    ['example.com', 'example.com', 'hostmaster@example.com', 3],
    ['Example.COM.', 'example.com', 'hostmaster@example.com', 3],
    ['bücher.example', 'bücher.example', 'hostmaster@xn--bcher-kva.example', 3],
    ['xn--bcher-kva.example', 'bücher.example', 'hostmaster@xn--bcher-kva.example', 3],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa', 'hostmaster@2.0.192.in-addr.arpa', 1],
  ])('the zone %s is valid and formatted', async (zone, written, email, records) => {
    const folder = temporaryDirectory()
    expect((await inFolder(folder, 'init', '--zone', zone)).status).toBe(0)
    const definition = Object.entries(filesBelow(folder)).find(([path]) => path.startsWith('zones/'))?.[1] as string
    expect(parse(definition)).toMatchObject({ domain: written, soa_email: email })
    const validated = await inFolder(folder, 'validate')
    expectEnd(validated, 0, { out: '', err: `1 zone, ${records} record${records === 1 ? '' : 's'} in 1 file: no problems.\n` })
    expect(await inFolder(folder, 'fmt', '--check')).toMatchObject({ status: 0, stdout: '' })
  })

  test('a zone without a default mail address needs --soa-email', async () => {
    const folder = temporaryDirectory()
    expectEnd(await inFolder(folder, 'init', '--zone', '0/25.2.0.192.in-addr.arpa'), 1, { err: /^error\[usage\] .*--soa-email/, out: '' })
    expect(filesBelow(folder)).toEqual({})
    expect((await inFolder(folder, 'init', '--zone', '0/25.2.0.192.in-addr.arpa', '--soa-email', 'dns@example.com')).status).toBe(0)
    expect(Object.keys(filesBelow(folder))).toContain('zones/0-25.2.0.192.in-addr.arpa.yaml')
    expect((await inFolder(folder, 'validate')).stderr).toBe('1 zone, 1 record in 1 file: no problems.\n')
    expect((await inFolder(folder, 'fmt', '--check')).status).toBe(0)
  })

  test.each([['nobody'], ['a b@example.com'], ['x: y@example.com'], ['a@example.com\nrecords: {}']])(
    'refuses the mail address %j',
    async (email) => {
      const folder = temporaryDirectory()
      expectEnd(await inFolder(folder, 'init', '--soa-email', email), 1, { err: /^error\[usage\] .*\n$/ })
      expect(filesBelow(folder)).toEqual({})
    },
  )

  test.each(FILES.filter((path) => !/zonewright\.yaml|gitignore/.test(path)))('keeps an existing %s, and adds the others', async (path) => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), 'mine')
    const { stdout } = expectEnd(await inFolder(folder, 'init'), 0)
    expect(stdout).not.toContain(`  ${path}\n`)
    const files = filesBelow(folder)
    // Nothing names the schema of zones if the zone exists.
    const expected = FILES.filter((file) => path !== 'zones/example.com.yaml' || file !== SCHEMAS[1])
    expect([files[path], Object.keys(files).sort()]).toEqual(['mine', expected])
    expectEnd(await inFolder(folder, 'init', '--zone', 'example.com'), 0, { out: /^Nothing is missing:\n/ })
  })

  test('new files name their schema for editors: that of the npm package if the folder has it, else a copy', async () => {
    const named = async (files: Record<string, string>): Promise<unknown> => {
      const folder = folderWith(files)
      await inFolder(folder, 'init')
      return ['zones/example.com.yaml', 'zonewright.yaml'].map((path) => {
        const [, schema = ''] = /^# yaml-language-server: \$schema=(.*)\n/.exec(filesBelow(folder)[path] ?? '') ?? []
        return [schema, existsSync(resolve(folder, path, '..', schema)) && readFileSync(resolve(folder, path, '..', schema), 'utf8')]
      })
    }
    const printed = async (document: string): Promise<string> => expectEnd(await inFolder('/', 'schema', document), 0, { err: '' }).stdout
    expect(await named({})).toEqual([
      ['../schemas/zone.schema.json', await printed('zone')],
      ['schemas/config.schema.json', await printed('config')],
    ])
    const PACKAGE = 'node_modules/zonewright/schemas'
    const installed = { [`${PACKAGE}/zone.schema.json`]: 'zone', [`${PACKAGE}/config.schema.json`]: 'config' }
    expect(await named(installed)).toEqual([
      [`../${PACKAGE}/zone.schema.json`, 'zone'],
      [`${PACKAGE}/config.schema.json`, 'config'],
    ])
  })

  test('removes the written files if one cannot be written', async () => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'zones'), 'a file where the folder should be')
    expectEnd(await inFolder(folder, 'init'), 1, { err: /error\[file-(?:unwritable|exists)\] zones\/example\.com\.yaml/ })
    expect(Object.keys(filesBelow(folder))).toEqual(['zones'])
  })

  test('writes a pipeline for GitLab', async () => {
    const folder = temporaryDirectory()
    expectEnd(await inFolder(folder, 'init', '--ci', 'gitlab'), 0, {
      out: /^(?!.*(?:github\.com|CI jobs are for)).*Turn on "Pipelines must succeed"/s,
    })
    expect(Object.keys(filesBelow(folder))).toEqual(['.gitlab-ci.yml'])
    expectEnd(await inFolder(folder, 'init'), 0)
    expect(Object.keys(filesBelow(folder)).sort()).toEqual(['.gitignore', '.gitlab-ci.yml', ...FILES.slice(3)])
    expect((await inFolder(folder, 'init', '--ci', 'other')).stderr).toContain('It must be one of github, gitlab.')
  })

  test('the written files work with a service at their address', async () => {
    const folder = temporaryDirectory()
    await inFolder(folder, 'init')
    const loopback = { host: '127.0.0.1', port: 0 }
    const service = await startService({ dataFolder: null, listen: loopback, dns: loopback, bootstrapToken: TOKEN })
    try {
      const config = filesBelow(folder)['zonewright.yaml'] as string
      expect(config).toContain("'http://127.0.0.1:8080/v4'")
      expect(config).toContain("'127.0.0.1:5353'")
      const { host, port } = service.dnsAddress as { host: string; port: number }
      const moved = config.replace('http://127.0.0.1:8080/v4', service.baseUrl).replace('127.0.0.1:5353', `${host}:${port}`)
      writeFileSync(join(folder, 'zonewright.yaml'), moved)
      const setting = { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN } }
      expect((await cli(['apply', '--yes'], setting)).status).toBe(0)
      await service.flush()
      const verified = await cli(['verify'], setting)
      expect(verified).toMatchObject({ status: 0, stdout: 'Verified: 1 of 1 zone as defined, 3 record sets queried.\n' })
    } finally {
      await service.stop()
    }
  })
})

describe('init --from TYPE', () => {
  const NAMED = { id: 1, name: 'example.com' }
  const { name: domain } = NAMED
  const ID = '1'.repeat(32)

  test.each([
    ['desec', 'DESEC_TOKEN', 'token', '/api/v1', createDesec({ token: TOKEN, domains: [{ name: 'example.com' }] }).service],
    ['digitalocean', 'DIGITALOCEAN_TOKEN', 'token', '/v2', createDigitalOcean({ token: TOKEN, domains: ['example.com'] }).service],
    ['hetzner', 'HETZNER_TOKEN', 'token', '/v1', createHetzner({ token: TOKEN, zones: [NAMED], rrsets: defaultRrsets(1) }).service],
    ['vultr', 'VULTR_API_KEY', 'api_key', '/v2', createVultr({ token: TOKEN, domains: [{ domain }] }).service],
    ['scaleway', 'SCW_SECRET_KEY', 'secret_key', '/domain/v2beta1', createScaleway({ token: TOKEN, zones: [{ domain }] }).service],
    ['cloudflare', 'CLOUDFLARE_TOKEN', 'token', '/client/v4', createCloudflare({ token: TOKEN, zones: [{ ...NAMED, id: ID }] }).service],
  ] as const)('%s writes a config, a workflow and all zones, and a plan is empty', async (type, variable, key, path, service) => {
    const { origin } = await startScriptedServer(service)
    const cwd = temporaryDirectory()
    const env = { [variable]: TOKEN }
    expect(await cli(['init', '--from', `${type}=${origin}${path}`], { cwd, env })).toMatchObject({ status: 0 })
    const files = filesBelow(cwd)
    expect(parse(files['zonewright.yaml'] ?? '').providers).toEqual({
      [type]: { type, base_url: `${origin}${path}`, [key]: `env:${variable}` },
    })
    const workflow = files['.github/workflows/dns.yml'] ?? ''
    expect(envOf(parse(workflow).jobs.apply, 'zonewright ci apply')).toMatchObject({ [variable]: `\${{ secrets.${variable} }}` })
    expect(workflow).not.toContain('domains:read_only')
    expect(Object.keys(files)).toContain('zones/example.com.yaml')
    expect(await cli(['plan', '--detailed-exitcode'], { cwd, env })).toMatchObject({ status: 0 })
    expect(Object.values(files).join('')).not.toContain(TOKEN)
  })

  test('route53 has two secrets', async () => {
    const key = { id: 'AKIAEXAMPLE', secret: TOKEN }
    const { origin } = await startScriptedServer(createRoute53({ key, zones: [{ id: 'Z1', name: 'example.com.' }] }).service)
    const cwd = temporaryDirectory()
    const env = { AWS_ACCESS_KEY_ID: key.id, AWS_SECRET_ACCESS_KEY: key.secret }
    expect(await cli(['init', '--from', `route53=${origin}`], { cwd, env })).toMatchObject({ status: 0 })
    const files = filesBelow(cwd)
    const { jobs, env: variables } = parse(files['.github/workflows/dns.yml'] ?? '')
    const secrets = (suffix: string) => Object.fromEntries(Object.keys(env).map((name) => [name, `\${{ secrets.${name}${suffix} }}`]))
    expect(envOf(jobs.plan, 'zonewright ci plan --since')).toMatchObject(secrets('_READ_ONLY'))
    expect(envOf(jobs.apply, 'zonewright ci apply')).toMatchObject(secrets(''))
    // Its SDK is installed beside Zonewright, in the version that the tests use.
    const sdk = `@aws-sdk/client-route-53@${packageInfo.devDependencies['@aws-sdk/client-route-53']}`
    expect(variables.INSTALL_ZONEWRIGHT).toMatch(new RegExp(`^npm install --prefix "\\$folder" --ignore-scripts .* ${sdk} `, 'm'))
    expect(await cli(['plan', '--detailed-exitcode'], { cwd, env })).toMatchObject({ status: 0 })
    expect(Object.values(files).join('')).not.toContain(TOKEN)
  })

  const HOSTS = ' is not among the hosts in ZONEWRIGHT_ALLOWED_HOSTS'
  const OF_OCTODNS = '--from octodns=CLASS,OPTION=VARIABLE'

  test.each<readonly [from: string, message: string | RegExp]>([
    ['azure', 'azure needs a setting: --from azure=RESOURCE_GROUP'],
    ['azure=dns', `management.azure.com:443${HOSTS}`],
    // It signs in with the key in a variable.
    ['google', `oauth2.googleapis.com:443${HOSTS}`],
    ['desec', `desec.io:443${HOSTS}`],
    ['nosuch', /^error\[usage\] --from "nosuch" is none of these: the base URL .*linode.*hetzner/],
    ['no.such', /^error\[usage\] --from "no\.such" is none of these/],
    ['rfc2136', '--from rfc2136: this type needs more settings. Write its provider into zonewright.yaml (docs/tasks/name-servers.md)'],
    ['http://dns.example.net', /^error\[insecure-url\] --from "http:\/\/dns\.example\.net" would send the token /],
    ['hetznr', 'there is no such type of provider. Did you mean "hetzner"?'],
    ...['', '=', '=Class', '=a.B,token', '=a.B,token=env:X', '=a.B,token=$X'].map((rest) => [`octodns${rest}`, OF_OCTODNS] as const),
  ])('%s is refused: %s', async (from, message) => {
    const keys = { AZURE_CLIENT_SECRET: TOKEN, GOOGLE_CREDENTIALS: createTestAccount().keyFile, DESEC_TOKEN: TOKEN }
    const env = { ...keys, ZONEWRIGHT_ALLOWED_HOSTS: from === 'google' ? 'dns.googleapis.com' : 'dns.example.net' }
    expectEnd(await cli(['init', '--from', from], { cwd: temporaryDirectory(), env }), 1, { err: message })
  })

  test('a preset is not a type', async () => {
    expect((await inFolder(temporaryDirectory(), 'init', '--from', 'linode')).stderr).toContain('ZONEWRIGHT_TOKEN is not set')
  })
})
