/** A scripted Cloud DNS with the zone example.com, and a folder with a config and a definition for it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GoogleRrset } from '../../scripted/google/rrsets.ts'
import { createGoogle, type GoogleOptions, type GoogleZone, newRrsets } from '../../scripted/google/service.ts'
import { type ScriptedRequest, type ScriptedServer, startScriptedServer } from '../../scripted/scripted-server.ts'
import { cli } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

export const TOKEN = 'secret-google-token'
export const PROJECT = 'test-project'
export const PUBLIC_ZONE: GoogleZone = { id: '699036609868956548', name: 'example-com', dnsName: 'example.com.', visibility: 'public' }

interface SceneOptions extends Partial<Omit<GoogleOptions, 'rrsets'>> {
  /** The lines under `records` of the definition. */
  readonly definition: string
  /** RRsets at the start beside those of a new zone: `NAME TTL TYPE DATA`, several data separated by `|`. */
  readonly rrsets?: readonly (string | GoogleRrset)[]
  /** The settings of the provider beside type, base_url and token_url; a token if absent. */
  readonly settings?: string
  /** A body instead of the answer to a request; undefined for the answer. */
  readonly answer?: (request: ScriptedRequest) => unknown
}

export interface GoogleScene {
  readonly server: ScriptedServer
  readonly folder: string
  /** The RRsets beside SOA and NS of the apex, as `NAME TTL TYPE DATA`. */
  lines(): readonly string[]
  rrsets(zone?: string): readonly GoogleRrset[]
  zones(): readonly GoogleZone[]
  define(records: string, settings?: string): void
  /** Removes the definition. */
  undefine(): void
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof cli>
}

export const rrset = (line: string): GoogleRrset => {
  const [, name = '', ttl, type = '', data = ''] = /^(\S+) (\d+) (\S+) (.*)$/.exec(line) ?? []
  const absolute = name === '@' ? 'example.com.' : `${name}.example.com.`
  return { kind: 'dns#resourceRecordSet', name: absolute, type, ttl: Number(ttl), rrdatas: data.split('|') }
}

export async function startGoogleScene({ definition, rrsets = [], settings, answer, ...options }: SceneOptions): Promise<GoogleScene> {
  const own = rrsets.map((one) => (typeof one === 'string' ? rrset(one) : one))
  const google = createGoogle({
    project: PROJECT,
    token: TOKEN,
    zones: [PUBLIC_ZONE],
    rrsets: new Map([[PUBLIC_ZONE.id, [...newRrsets(PUBLIC_ZONE), ...own]]]),
    ...options,
  })
  const server = await startScriptedServer((request) => {
    const body = answer?.(request)
    if (body === undefined) return google.service(request)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  })
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const given = (settings ?? `project: ${PROJECT}, token: env:TOKEN`).replaceAll('ORIGIN', server.origin)
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  gcp: {type: google, base_url: '${server.origin}', ${given}}\n`)
  const define = (records: string, more = ''): void =>
    writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\ndefault_ttl: 1h\n${more}records:\n${records}`)
  define(definition)
  const isApex = ({ name, type }: GoogleRrset): boolean => name === 'example.com.' && (type === 'SOA' || type === 'NS')
  return {
    server,
    folder,
    lines: () =>
      google
        .rrsets(PUBLIC_ZONE.id)
        .filter((one) => !isApex(one))
        .map(({ name, ttl, type, rrdatas }) => `${name.replace(/\.?example\.com\.$/, '') || '@'} ${ttl} ${type} ${rrdatas.join('|')}`),
    rrsets: (zone = PUBLIC_ZONE.id) => google.rrsets(zone),
    zones: () => google.zones(),
    define,
    undefine: () => rmSync(join(folder, 'zones/example.com.yaml')),
    run: (args, env = {}) => cli(args, { cwd: folder, env: { TOKEN, ...env } }),
  }
}
