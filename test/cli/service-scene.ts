import { expect, onTestFinished, type TestContext } from 'vitest'
import { type RunningService, readSeed, type Seed, startService, UNLIMITED } from '../../src/service/index.ts'
import { afterThisFile } from '../support/after-file.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type RecordingProxy, type Script, startRecordingProxy } from './recording-proxy.ts'
import { type FolderScene, folderScene, TOKEN, ZONE } from './scene.ts'

/** A scene with a service behind a recording proxy, for tests of the wire. */
export interface ServiceScene extends FolderScene {
  readonly proxy: RecordingProxy
  readonly service: RunningService
}

export type WireScene = Omit<ServiceScene, 'service'>

export interface ServiceSceneOptions {
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

/** Starts a scene and stops it at the end of the test. Concurrent tests must pass their context. */
export async function openServiceScene(
  options: ServiceSceneOptions = {},
  context: Pick<TestContext, 'expect' | 'onTestFinished'> = { expect, onTestFinished },
): Promise<ServiceScene> {
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
  const scene = folderScene(folder, context.expect, async (args, env) => {
    await service.flush()
    return cli(args, { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } })
  })
  scene.write({ 'zonewright.yaml': configOf(proxy.origin, `${service.dnsAddress?.host}:${service.dnsAddress?.port}`, options), ...files })
  return { ...scene, proxy, service }
}

/** A scene whose provider `cloud` is a scripted server, for replies that the service never gives. A request without a scripted reply gets 404. */
export async function openWireScene(
  script: Script,
  options: Pick<ServiceSceneOptions, 'files' | 'provider' | 'config'> = {},
  context: Pick<TestContext, 'expect' | 'onTestFinished'> = { expect, onTestFinished },
): Promise<WireScene> {
  const missing = { status: 404, body: '{"errors":[{"reason":"Not found"}]}' }
  const proxy = await startRecordingProxy(async (request) => (await script(request)) ?? missing, null)
  context.onTestFinished(() => proxy.close())
  const folder = temporaryDirectory()
  const scene = folderScene(folder, context.expect, (args, env) => cli(args, { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } }))
  const { files = { 'zones/example.com.yaml': ZONE } } = options
  scene.write({ 'zonewright.yaml': configOf(proxy.origin, '127.0.0.1:9', options), ...files })
  return { ...scene, proxy }
}

/** A scene that all tests of a file share. */
export const openFileScene = (options: ServiceSceneOptions): Promise<ServiceScene> =>
  openServiceScene(options, { expect, onTestFinished: (stop) => afterThisFile(async () => void (await stop({} as never))) })

/** Sends a request to the API of the service as another client. Throws `METHOD PATH: STATUS BODY` unless it succeeds. */
export async function callService<T>(
  { service }: Pick<ServiceScene, 'service'>,
  method: string,
  path: string,
  body?: object,
  token = TOKEN,
): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(service.baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as T
}

function seedFrom(text: string): Seed {
  const { seed, diagnostics } = readSeed(text, 'seed.yaml')
  if (seed === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return seed
}

function configOf(origin: string, nameserver: string, { provider = '', config = '' }: ServiceSceneOptions): string {
  const extra = provider === '' ? '' : `, ${provider}`
  return `providers:
  cloud: {type: cloud, base_url: '${origin}/v4', token: 'env:ZONEWRIGHT_TOKEN'${extra}}
nameservers: ['${nameserver}']
${config}`
}
