/** A scripted Azure DNS with the zone example.com, and a folder with a config and a definition for it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { propertyOf, type RecordSet, sentSet } from '../../scripted/azure/record-sets.ts'
import type { Fields } from '../../scripted/base.ts'
import { type AzureOptions, createAzure, newSets } from '../../scripted/azure/service.ts'
import { zoneFileLines } from '../../scripted/azure/zone-file-lines.ts'
import { type ScriptedRequest, type ScriptedServer, startScriptedServer } from '../../scripted/scripted-server.ts'
import { cli } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

export const TOKEN = 'secret-azure-token'
export const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'
const ETAG = '99999999-0000-4000-8000-'

interface SceneOptions extends Partial<AzureOptions> {
  /** The lines under `records` of the definition. */
  readonly definition: string
  /** Record sets at the start beside those of a new zone. */
  readonly sets?: readonly RecordSet[]
  readonly isPrivate?: boolean
  /** The settings of the provider beside type, subscription, resource_group and base_url; a token if absent. */
  readonly settings?: string
  /** A body instead of the answer to a request; undefined for the answer. */
  readonly answer?: (request: ScriptedRequest) => unknown
  /** A refusal instead of the answer to a request, which is not carried out; undefined for the answer. */
  readonly refuse?: (request: ScriptedRequest) => { readonly status: number; readonly code: string; readonly message: string } | undefined
}

export interface AzureScene {
  readonly server: ScriptedServer
  readonly folder: string
  /** The records beside SOA and NS of the apex, as lines of a zone file. */
  lines(): readonly string[]
  sets(): readonly RecordSet[]
  zones(): readonly string[]
  define(records: string, settings?: string): void
  /** Removes the definition. */
  undefine(): void
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof cli>
}

let etags = 0

/** A record set from the records of a request. */
export function recordSet(name: string, type: string, records: readonly Fields[], more: Fields = {}, ttl = 3600): RecordSet {
  const [property, isSingle] = propertyOf(type, false)
  const sent = sentSet(type, name, { properties: { TTL: ttl, [property]: isSingle ? records[0] : records, ...more } }, false)
  etags += 1
  return { name, type, etag: `${ETAG}${String(etags).padStart(12, '0')}`, ...sent }
}

export const hostSet = (name: string, ...addresses: readonly string[]): RecordSet =>
  recordSet(
    name,
    'A',
    addresses.map((ipv4Address) => ({ ipv4Address })),
  )

export async function startAzureScene({
  definition,
  sets = [],
  isPrivate = false,
  settings,
  answer,
  refuse,
  ...options
}: SceneOptions): Promise<AzureScene> {
  const azure = createAzure({
    subscription: SUBSCRIPTION,
    resourceGroup: 'dns',
    token: TOKEN,
    zones: [{ name: 'example.com', isPrivate, sets: [...newSets(isPrivate), ...sets] }],
    ...options,
  })
  const server = await startScriptedServer((request) => {
    const refusal = refuse?.(request)
    if (refusal !== undefined) {
      const { status, ...error } = refusal
      return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error }) }
    }
    const body = answer?.(request)
    if (body === undefined) return azure.service(request)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  })
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const given = (settings ?? 'token: env:TOKEN').replaceAll('ORIGIN', server.origin)
  const entry = `{type: azure, subscription: ${SUBSCRIPTION}, resource_group: dns, base_url: '${server.origin}', ${given}}`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  az: ${entry}\n`)
  const define = (records: string, more = ''): void =>
    writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\ndefault_ttl: 1h\n${more}records:\n${records}`)
  define(definition)
  return {
    server,
    folder,
    lines: () =>
      azure
        .sets('example.com')
        .flatMap((set) => (set.name === '@' && set.type === 'NS' ? [] : zoneFileLines(set, 'example.com')))
        .map((line) => line.replace('.example.com. ', ' ')),
    sets: () => azure.sets('example.com'),
    zones: () => azure.zones(),
    define,
    undefine: () => rmSync(join(folder, 'zones/example.com.yaml')),
    run: (args, env = {}) => cli(args, { cwd: folder, env: { TOKEN, ...env } }),
  }
}
