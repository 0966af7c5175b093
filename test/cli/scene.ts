import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { type RunningService, readSeed, type Seed, startService, UNLIMITED } from '../../src/service/index.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type RecordingProxy, type Script, startRecordingProxy } from './recording-proxy.ts'

/** The token of every scene. No output may ever contain it. */
export const TOKEN = 'zw-test-token-5b0c94e1d7a2'

/** A folder with definitions, a service behind a recording proxy, and functions that run the program. */
export interface Scene {
  readonly folder: string
  readonly proxy: RecordingProxy
  readonly expect: TestContext['expect']
  readonly service: RunningService
  /** Runs the program in this process, without a terminal. */
  run(...args: string[]): Promise<CliResult>
  /** The same with additional environment variables. */
  runWith(env: Readonly<Record<string, string | undefined>>, ...args: string[]): Promise<CliResult>
  write(files: Readonly<Record<string, string>>): void
  /** The text of every file, by path. */
  files(): Record<string, string>
}

export interface SceneOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly script?: Script
  /** More settings of the provider, in flow style. */
  readonly provider?: string
  /** Lines for the end of the config. */
  readonly config?: string
  /** A seed file of the service. */
  readonly seed?: string
  /** The port of the primaries. */
  readonly peerPort?: number
  /** Real time for the service, in milliseconds since 1970. */
  readonly clock?: () => number
  /** Addresses from which the service may transfer zones. */
  readonly transferAddresses?: readonly string[]
}

/** A zone with three records, in the canonical layout. */
export const ZONE = `domain: example.com
soa_email: hostmaster@example.com
records:
  '': {type: A, value: 192.0.2.1}
  mail: {type: A, ttl: 1h, value: 192.0.2.2}
  www: {type: CNAME, value: '@'}
`

/** Starts a scene and stops it at the end of the test. Concurrent tests must pass their context. */
export async function openScene(
  options: SceneOptions = {},
  context: Pick<TestContext, 'expect' | 'onTestFinished'> = { expect, onTestFinished },
): Promise<Scene> {
  const { files = { 'zones/example.com.yaml': ZONE }, script = () => null, peerPort = 53, transferAddresses = [] } = options
  const loopback = { host: '127.0.0.1', port: 0 }
  const seed = options.seed === undefined ? null : seedFrom(options.seed)
  const service = await startService({
    ...UNLIMITED,
    dataFolder: null,
    listen: loopback,
    dns: loopback,
    bootstrapToken: TOKEN,
    peerPort,
    transferAddresses,
    seed,
    observability: loopback,
    ...(options.clock && { clock: options.clock }),
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
    // The journal's own file exists from the first run that may change zones on.
    files: () => Object.fromEntries(Object.entries(filesBelow(folder)).filter(([path]) => path !== '.zonewright/.gitignore')),
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

/** Expects no token in the output. */
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

/** Expects exit 1, a diagnostic with the code, no mutation and no changed file. */
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
