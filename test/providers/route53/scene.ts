/** A scripted Route 53 with the zone example.com, and a folder with a config and a definition for it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { RecordSet } from '../../scripted/route53/record-sets.ts'
import { createRoute53, plainSet, type Route53Options, type ScriptedRoute53 } from '../../scripted/route53/service.ts'
import { type ScriptedRequest, type ScriptedResponse, type ScriptedServer, startScriptedServer } from '../../scripted/scripted-server.ts'
import { cli } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

export const KEY = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
export const ZONE_ID = 'Z0123456789'
export const APPLY = ['apply', '--yes', '--allow', 'updates', '--allow', 'deletes', '--no-color']
export const PLAN = ['plan', '--detailed-exitcode', '--no-color']

interface SceneOptions extends Partial<Route53Options> {
  /** The lines under `records` of the definition. */
  readonly definition?: string
  /** The record sets that exist at the start. */
  readonly sets?: readonly RecordSet[]
  /** More settings of the provider, such as `, zone_type: private`. */
  readonly settings?: string
  /** An answer instead of that of the service; undefined for the latter. */
  readonly answer?: (request: ScriptedRequest) => ScriptedResponse | undefined
}

export interface Route53Scene {
  readonly server: ScriptedServer
  readonly route53: ScriptedRoute53
  readonly folder: string
  /** The record sets of example.com apart from NS and SOA, as `name type ttl values`; an alias has its target and `health` instead of them. */
  held(): readonly string[]
  define(records: string, more?: string): void
  undefine(): void
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<typeof cli>
}

export async function startRoute53Scene({
  definition = '',
  sets = [],
  settings = '',
  answer,
  ...options
}: SceneOptions = {}): Promise<Route53Scene> {
  const route53 = createRoute53({ key: KEY, zones: [{ id: ZONE_ID, name: 'example.com.', sets }], ...options })
  const server = await startScriptedServer((request) => answer?.(request) ?? route53.service(request))
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  aws: {type: route53, endpoint: '${server.origin}'${settings}}\n`)
  const define = (records: string, more = ''): void =>
    writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\ndefault_ttl: 1h\n${more}records:\n${records}`)
  define(definition)
  return {
    server,
    route53,
    folder,
    held: () => route53.sets(ZONE_ID).flatMap((set) => (set.name === 'example.com.' && /^(?:NS|SOA)$/.test(set.type) ? [] : [lineOf(set)])),
    define,
    undefine: () => rmSync(join(folder, 'zones/example.com.yaml')),
    run: (args, env = {}) => cli(args, { cwd: folder, env: { AWS_ACCESS_KEY_ID: KEY.id, AWS_SECRET_ACCESS_KEY: KEY.secret, ...env } }),
  }
}

const lineOf = ({ name, type, ttl, values, alias }: RecordSet): string =>
  alias === null
    ? `${name} ${type} ${ttl} ${values.join(' | ')}`
    : `${name} ${type} ${alias.hostedZoneId} ${alias.dnsName}${alias.evaluateTargetHealth ? ' health' : ''}`

export const aliasSet = (name: string, type: string, hostedZoneId: string, dnsName: string, evaluateTargetHealth = false): RecordSet => ({
  ...plainSet(name, type, 0),
  ttl: null,
  alias: { hostedZoneId, dnsName, evaluateTargetHealth },
})

/** The requests that change something. */
export const changesIn = ({ requests }: ScriptedServer): number => requests.filter(({ method }) => method !== 'GET').length

/** Expects that a run succeeded, and shows its output otherwise. */
export const succeeded = ({ status, stdout, stderr }: Awaited<ReturnType<typeof cli>>): void => expect(status, stdout + stderr).toBe(0)
