/** A scripted service, and a folder with a config and definitions for it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ScriptedRequest, type ScriptedServer, type ScriptedService, startScriptedServer } from '../scripted/scripted-server.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

export interface ScriptedSceneOptions {
  readonly service: ScriptedService
  /** The entry of `providers` for a server at this origin. */
  readonly entry: (origin: string) => string
  readonly token: string
  /** A body instead of the answer to a request; undefined for the answer. */
  readonly answer?: ((request: ScriptedRequest) => unknown) | undefined
  /** Headers of such an answer. */
  readonly answerHeaders?: Readonly<Record<string, string>> | undefined
}

export interface ScriptedScene {
  readonly server: ScriptedServer
  /** Writes the definition of a zone: the lines under `records`. */
  define(records: string, zone?: string): void
  undefine(zone?: string): void
  /** Writes a definition that deletes the zone. */
  defineAbsent(zone?: string): void
  /** Writes the definition of a secondary zone with these primaries. */
  defineSecondary(primaries: readonly string[], zone?: string): void
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof cli>
  /** Runs, and returns the requests as `METHOD path`. */
  requestsOf(args: readonly string[]): Promise<{ readonly status: number; readonly stdout: string; readonly requests: readonly string[] }>
}

export async function startScriptedScene({ service, entry, token, answer, answerHeaders }: ScriptedSceneOptions): Promise<ScriptedScene> {
  const server = await startScriptedServer((request) => {
    const body = answer?.(request)
    if (body === undefined) return service(request)
    return { status: 200, headers: { 'content-type': 'application/json', ...answerHeaders }, body: JSON.stringify(body) }
  })
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: ${entry(server.origin)}\n`)
  const fileOf = (zone: string): string => join(folder, `zones/${zone}.yaml`)
  const run: ScriptedScene['run'] = (args, env = {}) => cli(args, { cwd: folder, env: { TOKEN: token, ...env } })
  return {
    server,
    define: (records, zone = 'example.com') => writeFileSync(fileOf(zone), `domain: ${zone}\ndefault_ttl: 1h\nrecords:\n${records}`),
    undefine: (zone = 'example.com') => rmSync(fileOf(zone)),
    defineAbsent: (zone = 'example.com') => writeFileSync(fileOf(zone), `domain: ${zone}\nabsent: true\n`),
    defineSecondary: (primaries, zone = 'example.com') =>
      writeFileSync(fileOf(zone), `domain: ${zone}\ntype: slave\nmaster_ips: [${primaries.join(', ')}]\n`),
    run,
    async requestsOf(args) {
      const before = server.requests.length
      const { status, stdout } = await run(args)
      return { status, stdout, requests: server.requests.slice(before).map(({ method, path }) => `${method} ${path}`) }
    },
  }
}
