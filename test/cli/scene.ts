import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { type RunningService, readSeed, type Seed, startService, UNLIMITED } from '../../src/service/index.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type RecordingProxy, type Script, startRecordingProxy } from './recording-proxy.ts'

/** The token of every scene. It may stand in no output whatever happens. */
export const TOKEN = 'zw-test-token-5b0c94e1d7a2'

/** A folder with definitions, a service behind a proxy that hears all requests, and the program run in it. */
export interface Scene {
  readonly folder: string
  readonly proxy: RecordingProxy
  readonly expect: TestContext['expect']
  readonly service: RunningService
  /** Runs the program in this process, with no terminal. */
  run(...args: string[]): Promise<CliResult>
  /** The same with other variables beside the token. */
  runWith(env: Readonly<Record<string, string | undefined>>, ...args: string[]): Promise<CliResult>
  write(files: Readonly<Record<string, string>>): void
  /** Every file with its text, by path. */
  files(): Record<string, string>
}

export interface SceneOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly script?: Script
  /** Lines of the provider's entry, beside type, base_url and token. */
  readonly provider?: string
  /** Lines at the end of the config. */
  readonly config?: string
  /** A seed file of the service. */
  readonly seed?: string
  /** The port of the service's masters. */
  readonly peerPort?: number
  /** Addresses the service transfers zones from. */
  readonly transferAddresses?: readonly string[]
}

/** A zone of three records, with a layout that stays as it is. */
export const ZONE = `domain: example.com
soa_email: hostmaster@example.com
records:
  '': {type: A, value: 192.0.2.1}
  mail: {type: A, ttl: 1h, value: 192.0.2.2}
  www: {type: CNAME, value: '@'}
`

/** Everything is taken down at the end of the test. Tests that run beside others give their own context. */
export async function openScene(
  options: SceneOptions = {},
  context: Pick<TestContext, 'expect' | 'onTestFinished'> = { expect, onTestFinished },
): Promise<Scene> {
  const { files = { 'zones/example.com.yaml': ZONE }, script = () => null, peerPort = 53, transferAddresses = [] } = options
  const loopback = { host: '127.0.0.1', port: 0 }
  const seed = options.seed === undefined ? null : seedFrom(options.seed)
  const service = await startService({
    ...UNLIMITED,
    dataDirectory: null,
    listen: loopback,
    dns: loopback,
    bootstrapToken: TOKEN,
    peerPort,
    transferAddresses,
    seed,
  })
  context.onTestFinished(() => service.stop())
  const proxy = await startRecordingProxy(script, new URL(service.baseUrl).origin)
  context.onTestFinished(() => proxy.close())
  const folder = temporaryDirectory()
  const write: Scene['write'] = (some) => {
    for (const [path, text] of Object.entries(some)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  write({ 'zonewright.yaml': configOf(proxy.origin, service, options), ...files })
  const runWith: Scene['runWith'] = async (env, ...args) => {
    await service.flush()
    return withoutToken(await cli(args, { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } }))
  }
  return {
    folder,
    proxy,
    expect: context.expect,
    service,
    write,
    runWith,
    run: (...args) => runWith({}, ...args),
    files: () => filesBelow(folder),
  }
}

function seedFrom(text: string): Seed {
  const { seed, diagnostics } = readSeed(text, 'seed.yaml')
  if (seed === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return seed
}

function configOf(origin: string, { dnsAddress }: RunningService, { provider = '', config = '' }: SceneOptions): string {
  const extra = provider === '' ? '' : `, ${provider}`
  return `providers:
  cloud: {type: cloud, base_url: '${origin}/v4', token: 'env:ZONEWRIGHT_TOKEN'${extra}}
nameservers: ['${dnsAddress?.host}:${dnsAddress?.port}']
${config}`
}

/** No output holds the token, whatever the test is about. */
export function withoutToken(result: CliResult): CliResult {
  expect(result.stdout + result.stderr).not.toContain(TOKEN)
  return result
}

export function filesBelow(folder: string): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) files[relative(folder, path)] = readFileSync(path, 'utf8')
  }
  return files
}

/** What must hold after input or a server that is at fault: exit 1, a diagnostic with its code, and nothing done to anything. */
export async function expectNothingDone(scene: Scene, code: string, ...args: string[]): Promise<CliResult> {
  const { expect } = scene
  const before = scene.files()
  const begin = performance.now()
  const result = await scene.run(...args)
  expect.soft(`${result.stdout}${result.stderr}`).toMatch(new RegExp(`error\\[${code}\\] \\S`))
  expect.soft(result.status).toBe(1)
  expect.soft(scene.proxy.mutations()).toEqual([])
  expect.soft(scene.files()).toEqual(before)
  expect.soft(performance.now() - begin).toBeLessThan(45_000)
  return result
}
