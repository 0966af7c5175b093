/** A scripted service of a cloud, and a folder with a config and definitions for it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask } from '../scripted/replay.ts'
import { type ScriptedRequest, type ScriptedResponse, type ScriptedServer, startScriptedServer } from '../scripted/scripted-server.ts'
import { CLOUD, type CloudOptions, type CloudService, type CloudType, type ScriptedCloud, TOKEN } from '../scripted/services.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

export { TOKEN } from '../scripted/services.ts'

export const APPLY = ['apply', '--yes', '--allow', 'updates', '--allow', 'deletes', '--no-color']
export const PLAN = ['plan', '--detailed-exitcode', '--no-color']
export const UNCHANGED = { status: 0, stdout: 'No changes. 1 zone matches.\n' }
export const WWW = '  www: {type: A, value: 192.0.2.1}\n'

/** The lines of a definition with a record at each of many hosts. */
export const hostLines = (count: number, address = '192.0.2.1'): string =>
  Array.from({ length: count }, (_, host) => `  h${host}: {type: A, value: ${address}}\n`).join('')

export interface SceneOptions {
  /** The lines under `records` of the definition. */
  readonly definition?: string
  /** The name of the provider in the config. */
  readonly provider?: string
  /** More settings of the provider, such as `, plan: pro`. */
  readonly settings?: string
  /** The settings beside `type` and the address, if a token is not enough. `ORIGIN` is that of the service. */
  readonly signIn?: string
  /** A body instead of the answer to a request; undefined for the answer. */
  readonly answer?: ((request: ScriptedRequest) => unknown) | undefined
  /** A response instead of that of the service; undefined for the latter. */
  readonly respond?: ((request: ScriptedRequest) => ScriptedResponse | undefined) | undefined
}

export interface ScriptedScene<Type extends CloudType = CloudType> {
  readonly scripted: ScriptedCloud<Type>
  readonly server: ScriptedServer
  readonly folder: string
  /** Writes the definition of example.com, or of another zone: the lines under `records`, and settings before them. */
  define(records: string, settings?: string, zone?: string): void
  undefine(zone?: string): void
  /** Writes a definition that deletes the zone. */
  defineAbsent(zone?: string): void
  /** The text of the definition. */
  definition(): string
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof cli>
  /** Runs, and returns the requests as `METHOD path`. */
  requestsOf(args: readonly string[]): Promise<{ readonly status: number; readonly stdout: string; readonly requests: readonly string[] }>
  /** Sends a request as another client does. */
  send(method: string, path: string, body?: object): void
}

export async function startCloudScene<Type extends CloudType>(
  type: Type,
  { definition, provider = 'live', settings = '', signIn, answer, respond, ...options }: SceneOptions & CloudOptions<Type>,
): Promise<ScriptedScene<Type>> {
  const { create, path, headers, variable, settings: settingsOf, env: more } = CLOUD[type] as unknown as CloudService
  const scripted = create(options)
  const server = await startScriptedServer((request) => {
    const body = answer?.(request)
    if (body === undefined) return respond?.(request) ?? scripted.service(request)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  })
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const own = settingsOf(server.origin).replace(`env:${variable}`, 'env:TOKEN')
  const given = signIn === undefined ? own : `base_url: '${server.origin}', ${signIn.replaceAll('ORIGIN', server.origin)}`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  ${provider}: {type: ${type}, ${given}${settings}}\n`)
  const fileOf = (zone: string): string => join(folder, `zones/${zone}.yaml`)
  const run: ScriptedScene['run'] = (args, env = {}) => cli(args, { cwd: folder, env: { TOKEN, [variable]: TOKEN, ...more, ...env } })
  const define: ScriptedScene['define'] = (records, lines = '', zone = 'example.com') =>
    writeFileSync(fileOf(zone), `domain: ${zone}\ndefault_ttl: 1h\n${lines}records:\n${records}`)
  if (definition !== undefined) define(definition)
  return {
    scripted: scripted as unknown as ScriptedCloud<Type>,
    server,
    folder,
    define,
    undefine: (zone = 'example.com') => rmSync(fileOf(zone)),
    defineAbsent: (zone = 'example.com') => writeFileSync(fileOf(zone), `domain: ${zone}\nabsent: true\n`),
    definition: () => readFileSync(fileOf('example.com'), 'utf8'),
    run,
    async requestsOf(args) {
      const before = server.requests.length
      const { status, stdout } = await run(args)
      return { status, stdout, requests: server.requests.slice(before).map((one) => `${one.method} ${one.path}`) }
    },
    send(method, own, body) {
      const { status, body: text } = ask(scripted.service, method, path + own, body === undefined ? '' : JSON.stringify(body), headers)
      if (status >= 300) throw new Error(text)
    },
  }
}
