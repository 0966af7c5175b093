/** `--notify` and `--metrics-file`: what others learn of a run, and that nothing of it changes the run. */
import { createHmac } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { validate as isRun } from '../../generated/run-schema.js'
import { expectEnd } from '../support/cli.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { openLiveScene, openScene, type Scene, TOKEN, ZONE } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const KEY = 'key-of-the-notifications-0123456789'
const OTHER = ZONE.replace('192.0.2.2', '192.0.2.9')
type Delivery = { readonly headers: IncomingHttpHeaders; readonly path: string; readonly body: string }

/** A web address that keeps what it gets, and answers with these statuses, the last one from then on. */
async function startReceiver(...statuses: (number | 'cut')[]) {
  const deliveries: Delivery[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      deliveries.push({ headers: request.headers, path: request.url ?? '', body })
      const status = statuses[Math.min(deliveries.length, statuses.length) - 1] ?? 200
      if (status === 'cut') response.destroy()
      else response.writeHead(status, status === 429 ? { 'retry-after': '0' } : {}).end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hooks/secret-path?a=b`, host: `127.0.0.1:${port}`, deliveries }
}

const documentOf = ({ body }: Pick<Delivery, 'body'>) => {
  const document = JSON.parse(body)
  expect(isRun(document), JSON.stringify(isRun.errors)).toBe(true)
  return document
}

describe('--notify', () => {
  test('sends the figures of an apply with a signature that its receiver can compute', async () => {
    const receiver = await startReceiver()
    const { runWith } = openScene({ config: 'zones: [{zone: example.com, owner: team-a}]\n' })
    const env = { HOOK: receiver.url, KEY, GITHUB_SERVER_URL: 'https://git.example.com', GITHUB_REPOSITORY: 'a/b', GITHUB_RUN_ID: '7' }
    expect(await runWith(env, 'apply', '--yes', '--notify', 'env:HOOK', '--notify-key', 'env:KEY')).toMatchObject({ status: 0, stderr: '' })
    expect(receiver.deliveries).toHaveLength(1)
    const [{ headers, path, body }] = receiver.deliveries as [Delivery]
    expect([path, headers['content-type']]).toEqual(['/hooks/secret-path?a=b', 'application/json'])
    const document = documentOf({ body })
    expect(document).toMatchObject({
      command: 'apply',
      exitStatus: 0,
      result: 'done',
      job: 'https://git.example.com/a/b/actions/runs/7',
      summary: { zones: 1, changedZones: 1, create: 4, applied: 4, failed: 0, errors: 0, differences: null },
      zones: [{ zone: 'example.com.', target: 'cloud', owner: 'team-a', create: 4, applied: 4, refusals: [] }],
      omittedZones: 0,
    })
    expect(document.targets).toEqual([{ target: 'cloud', calls: 4, callsSaved: 0, requests: expect.any(Number), retries: 0 }])
    expect(document.targets[0].requests).toBeGreaterThan(4)
    expect(headers['zonewright-delivery']).toBe(document.id)
    // No record, and no secret.
    expect(body).not.toMatch(/192\.0\.2|hostmaster/)
    expect(body).not.toContain(TOKEN)
    const [, seconds, signature] = /^t=([0-9]+),v1=([0-9a-f]{64})$/.exec(String(headers['zonewright-signature'])) ?? []
    expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(60)
    expect(createHmac('sha256', KEY).update(`${seconds}.${body}`).digest('hex')).toBe(signature)
  })

  test('counts the requests that arrive at the target, and those that repeat one', async () => {
    const receiver = await startReceiver()
    let failures = 2
    const scene = await openServiceScene({ script: ({ method }) => (method === 'GET' && failures-- > 0 ? { status: 503 } : null) })
    await scene.run('plan', '--notify', receiver.url)
    expect(documentOf(receiver.deliveries[0] as Delivery).targets).toMatchObject([{ requests: scene.proxy.requests.length, retries: 2 }])
  })

  test('is repeated with the same id until it is taken', async () => {
    const receiver = await startReceiver(503, 429, 'cut', 200)
    const { run } = openScene()
    expect(await run('plan', '--notify', receiver.url)).toMatchObject({ status: 0, stderr: '' })
    expect(receiver.deliveries).toHaveLength(4)
    expect(new Set(receiver.deliveries.map(({ headers, body }) => `${headers['zonewright-delivery']} ${body}`)).size).toBe(1)
  })

  test.each<[string, () => Promise<{ url: string; host: string }>, string]>([
    ['that refuses', () => startReceiver(404), 'failed: it answers 404'],
    ['that redirects', () => startReceiver(302), 'failed: it answers 302'],
    ['that nobody listens at', async () => ({ url: 'http://127.0.0.1:1/hooks/secret-path', host: '127.0.0.1:1' }), 'failed 4 times: '],
  ])('at an address %s is a warning, and the run is as without it', async (_, start, message) => {
    const receiver = await start()
    const { run, memory } = openScene()
    const applied = await run('apply', '--yes', '--quiet', '--notify', receiver.url)
    expect(applied.status).toBe(0)
    expect(applied.stderr).toContain(`warning[notification-failed] the notification to ${receiver.host} ${message}`)
    expect(applied.stderr + applied.stdout).not.toContain('secret-path')
    expect(memory.writes().length).toBeGreaterThan(0)
    expect(await run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
  })

  test('says what a plan refuses, what verify finds, and why a run could not begin', async () => {
    const [one, two] = [await startReceiver(), await startReceiver()]
    const both = ['--notify', one.url, '--notify', two.url]
    const scene = await openLiveScene()
    scene.write({ 'zones/example.com.yaml': 'domain: example.com\nabsent: true\n' })
    expect((await scene.run('plan', ...both)).status).toBe(3)
    expect((await scene.run('verify', '--no-dns', ...both)).status).toBe(2)
    scene.write({ 'zones/example.com.yaml': 'domain: [' })
    expect((await scene.run('apply', '--yes', ...both)).status).toBe(1)
    const documents = one.deliveries.map(documentOf)
    expect(documents.map(({ command, result }) => `${command} ${result}`)).toEqual(['plan refused', 'verify pending', 'apply failed'])
    expect(documents[0].zones).toMatchObject([{ refusals: ['delete-zone'], delete: 1, applied: 0 }])
    expect(documents[1].summary.differences).toBe(documents[1].zones[0].differences)
    expect(documents[1].summary.differences).toBeGreaterThan(0)
    expect(documents[2]).toMatchObject({ zones: [], errors: [{ code: expect.any(String) }] })
    expect(two.deliveries.map(documentOf).map(({ id }) => id)).toEqual(documents.map(({ id }) => id))
  })

  test('has no secret that an error repeats', async () => {
    const receiver = await startReceiver()
    const scene = openScene({ fault: () => ({ kind: 'refused', code: 'provider-rejected', message: `400 no ${KEY}` }) })
    expectEnd(await scene.runWith({ KEY }, 'plan', '--notify', receiver.url, '--notify-key', 'env:KEY'), 1)
    const { errors } = documentOf(receiver.deliveries[0] as Delivery)
    expect(errors).toMatchObject([{ code: 'provider-rejected', message: expect.stringContaining('***') }])
    expect(JSON.stringify(errors)).not.toContain(KEY.slice(0, 8))
  })

  test('counts the messages to a name server', async () => {
    const receiver = await startReceiver()
    const zone = ZONE.replace('records:', 'axfr_ips: [127.0.0.1]\nrecords:')
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': zone } })
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    const { host, port } = scene.service.dnsAddress ?? {}
    scene.write({ 'zonewright.yaml': `providers: {own: {type: axfr, server: '${host}:${port}'}}\n` })
    await scene.run('verify', '--no-dns', '--notify', receiver.url)
    expect(documentOf(receiver.deliveries[0] as Delivery).targets).toMatchObject([{ target: 'own', requests: 1, retries: 0 }])
  })

  test('has a text for chat rooms, in which an owner mentions nobody', async () => {
    const receiver = await startReceiver()
    const { runWith } = openScene({ config: "zones: [{zone: example.com, owner: 'a <!channel> *b* & @c'}]\n" })
    await runWith({ CI_JOB_URL: 'https://ci.example.com/a_b/*/1' }, 'plan', '--notify', receiver.url, '--notify-format', 'slack')
    const { text, ...rest } = JSON.parse(receiver.deliveries[0]?.body ?? '')
    expect(rest).toEqual({})
    expect(text.split('\n')).toEqual([
      ':white_check_mark: *zonewright plan*: done, 4 to create, 0 to update, 0 to delete',
      '• example.com. at cloud: +4 ~0 −0, owner a &lt;!channel&gt; *\u2060b*\u2060 &amp; @\u2060c',
      '<https://ci.example.com/a_b/*/1|The job>',
    ])
  })

  test.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
    ['no address', ['--notify', 'hooks.example.net'], {}, '--notify is no https: address'],
    ['plain HTTP', ['--notify', 'http://hooks.example.net/secret-path'], {}, '--notify is no https: address'],
    ['a password', ['--notify', 'https://a:secret-path@hooks.example.net/'], {}, '--notify is no https: address'],
    ['a missing variable', ['--notify', 'env:HOOK'], {}, 'the environment variable HOOK is not set'],
    ['another host', ['--notify', 'https://hooks.example.net/'], { ZONEWRIGHT_ALLOWED_HOSTS: '127.0.0.1' }, 'hooks.example.net:443 is'],
    ['a key in plain text', ['--notify', 'https://127.0.0.1/', '--notify-key', 'secret-path'], {}, '--notify-key is no reference'],
    ['a short key', ['--notify', 'https://127.0.0.1/', '--notify-key', 'env:KEY'], { KEY: 'short' }, 'shorter than 16 octets'],
    ['another format', ['--notify', 'https://127.0.0.1/', '--notify-format', 'xml'], {}, 'json, slack'],
  ])('with %s ends the run before it begins', async (_, args, env, message) => {
    const { runWith, memory } = openScene()
    const { stdout, stderr } = expectEnd(await runWith(env, 'apply', '--yes', ...args), 1, { err: message })
    expect(stdout + stderr).not.toContain('secret-path')
    expect(memory.requests).toEqual([])
  })
})

const python = findForeignClient('prometheus')
const PARSE = `import json, sys
from prometheus_client.parser import text_string_to_metric_families
families = text_string_to_metric_families(sys.stdin.read())
print(json.dumps([[f.name, f.type, [[s.labels, s.value] for s in f.samples]] for f in families]))`

/** Families by name, without the prefix of all: each sample as its labels and its value. */
type Families = ReadonlyMap<string, readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]>
const textIn = ({ folder }: Scene): string => readFileSync(join(folder, 'metrics/zw.prom'), 'utf8')

function familiesOf(text: string): Families {
  const families = new Map<string, [Record<string, string>, number][]>()
  for (const [, name = '', labels = '', value] of text.matchAll(/^zonewright_run_(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    const all = Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, of]) => [key, of]))
    families.set(name, [...(families.get(name) ?? []), [all, Number(value)]])
  }
  return families
}

describe('--metrics-file', () => {
  const file = ['--metrics-file', 'metrics/zw.prom']

  test('has the metrics of the last run, and other users may read it', async () => {
    const scene = openScene()
    mkdirSync(join(scene.folder, 'metrics'))
    expect(await scene.run('apply', '--yes', ...file)).toMatchObject({ status: 0, stderr: '' })
    const applied = familiesOf(textIn(scene))
    const action = (name: string, count: number) => [{ command: 'apply', action: name }, count]
    expect(applied.get('changes')).toEqual([action('create', 4), action('update', 0), action('delete', 0)])
    expect(applied.get('outcomes')?.[0]).toEqual([{ command: 'apply', outcome: 'applied' }, 4])
    expect(applied.get('zone_changes')).toEqual([[{ command: 'apply', zone: 'example.com.', target: 'cloud' }, 4]])
    expect(applied.get('requests')).toEqual([[{ command: 'apply', target: 'cloud' }, scene.memory.requests.length]])
    expect(applied.get('timestamp_seconds')?.[0]?.[1]).toBeGreaterThan(Date.now() / 1000 - 600)
    for (const name of ['calls_saved', 'refusals', 'retries', 'exit_status']) expect(applied.get(name)?.[0]?.[1]).toBe(0)
    expect(applied.get('duration_seconds')?.[0]?.[1]).toBeGreaterThan(0)
    scene.write({ 'zones/example.com.yaml': OTHER })
    expect((await scene.run('verify', '--no-dns', ...file)).status).toBe(2)
    const verified = familiesOf(textIn(scene))
    expect(verified.get('differences')).toEqual([[{ command: 'verify' }, 1]])
    expect(verified.get('zone_differences')).toEqual([[{ command: 'verify', zone: 'example.com.', target: 'cloud' }, 1]])
    expect(verified.get('exit_status')).toEqual([[{ command: 'verify' }, 2]])
    expect(readdirSync(join(scene.folder, 'metrics'))).toEqual(['zw.prom'])
    expect(statSync(join(scene.folder, 'metrics/zw.prom')).mode & 0o777).toBe(0o644)
  })

  describeWithTools([python], 'for Prometheus', () => {
    test('is read by its parser as gauges with the same samples', async () => {
      const scene = openScene()
      mkdirSync(join(scene.folder, 'metrics'))
      await scene.run('apply', '--yes', ...file)
      const { status, stdout, stderr } = await runTool(python, ['-c', PARSE], { input: textIn(scene) })
      expect(status, stderr).toBe(0)
      const families: [name: string, type: string, samples: unknown][] = JSON.parse(stdout)
      expect(new Set(families.map(([, type]) => type))).toEqual(new Set(['gauge']))
      const found = new Map(families.map(([name, , samples]) => [name.replace('zonewright_run_', ''), samples]))
      expect(found).toEqual(familiesOf(textIn(scene)))
    })
  })
})

test('a file of metrics that cannot be written is a warning', async () => {
  const { run } = openScene()
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'file'), '')
  chmodSync(folder, 0o500)
  onTestFinished(() => chmodSync(folder, 0o700))
  expectEnd(await run('apply', '--yes', '--metrics-file', join(folder, 'file/zw.prom')), 0, { err: /^warning\[file-unwritable\] \S+/m })
})
