/** A scripted Cloudflare with the zone example.com, and a folder with a config and a definition for it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CloudflareRecord } from '../../scripted/cloudflare/records.ts'
import { type CloudflareOptions, createCloudflare } from '../../scripted/cloudflare/service.ts'
import { send } from '../../scripted/replay.ts'
import { type ScriptedRequest, type ScriptedServer, startScriptedServer } from '../../scripted/scripted-server.ts'
import { cli } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

export const TOKEN = 'secret-cloudflare-token'
const ZONE = '1'.repeat(32)
const BATCH = 200

interface SceneOptions extends Partial<CloudflareOptions> {
  /** The lines under `records` of the definition. */
  readonly definition: string
  /** The records that exist at the start, as requests to create them. */
  readonly posts?: readonly object[]
  /** More settings of the provider, such as `, plan: pro`. */
  readonly settings?: string
  /** A body instead of the answer to a request; undefined for the answer. */
  readonly answer?: (request: ScriptedRequest) => unknown
}

export interface CloudflareScene {
  readonly folder: string
  readonly server: ScriptedServer
  /** Those of the zone that exists at the start, or of the one that was created. */
  records(): readonly CloudflareRecord[]
  /** The names of the zones. */
  zones(): readonly string[]
  define(records: string): void
  /** The text of the definition. */
  definition(): string
  /** Writes a definition that deletes the zone. */
  defineAbsent(): void
  /** Removes the definition. */
  undefine(): void
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof cli>
}

export async function startCloudflareScene({
  definition,
  posts = [],
  settings = '',
  answer,
  ...options
}: SceneOptions): Promise<CloudflareScene> {
  const cloudflare = createCloudflare({ token: TOKEN, zones: [{ id: ZONE, name: 'example.com', type: 'full' }], ...options })
  const server = await startScriptedServer((request) => {
    const body = answer?.(request)
    if (body === undefined) return cloudflare.service(request)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  })
  for (let at = 0; at < posts.length; at += BATCH) {
    const body = JSON.stringify({ posts: posts.slice(at, at + BATCH) })
    const created = await send(`${server.origin}/client/v4/zones/${ZONE}/dns_records/batch`, 'POST', body, {
      authorization: `Bearer ${TOKEN}`,
    })
    if (created.status !== 200) throw new Error(created.body)
  }
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const entry = `{type: cloudflare, base_url: '${server.origin}/client/v4', token: env:TOKEN${settings}}`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  cf: ${entry}\n`)
  const define = (records: string): void =>
    writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\ndefault_ttl: 1h\nrecords:\n${records}`)
  define(definition)
  return {
    folder,
    server,
    records: () => cloudflare.records(cloudflare.zones()[0]?.id ?? ''),
    zones: () => cloudflare.zones().map(({ name }) => name),
    define,
    definition: () => readFileSync(join(folder, 'zones/example.com.yaml'), 'utf8'),
    defineAbsent: () => writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nabsent: true\n'),
    undefine: () => rmSync(join(folder, 'zones/example.com.yaml')),
    run: (args, env = {}) => cli(args, { cwd: folder, env: { TOKEN, ...env } }),
  }
}
