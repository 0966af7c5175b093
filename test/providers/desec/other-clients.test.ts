/** Changes of other clients at deSEC between a plan and its calls, and zones that are copied from and to it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { REFUSAL_NAMES } from '../../../src/dns/zone.ts'
import { DEFAULT_THRESHOLDS } from '../../../src/plan/safety-limits.ts'
import { applyZones } from '../../../src/run/apply/apply-zones.ts'
import { planZones } from '../../../src/run/plan/plan-zones.ts'
import { openProvider } from '../../conformance/targets.ts'
import { createDesec } from '../../scripted/desec/service.ts'
import { createScaleway } from '../../scripted/scaleway/service.ts'
import { startScriptedServer } from '../../scripted/scripted-server.ts'
import { cli } from '../../support/cli.ts'
import { desiredZone, name } from '../../support/records.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { TOKEN } from '../scripted-scene.ts'
import { startDesecScene } from './scene.ts'

const A = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
const LIST = '/api/v1/domains/example.com/rrsets/'

describe('another client writes between a plan and its call', () => {
  /** Plans, lets another client write, and applies some seconds after the plan was read. Returns the requests of the calls, and how the change ended. */
  async function applyAfter(theirs: object | null, seconds: number): Promise<readonly string[]> {
    const scene = await startDesecScene({ definition: '', rrsets: [A, { ...A, subname: 'other' }] })
    const provider = await openProvider({
      entry: `{type: desec, base_url: '${scene.server.origin}/api/v1', token: env:TOKEN}`,
      env: { TOKEN },
    })
    const providers = new Map([['target', provider]])
    const desired = desiredZone(name('example.com.'), 'www 3600 A 192.0.2.9\nother 3600 A 192.0.2.1')
    const job = { desired, target: 'target', policy: 'sync', thresholds: DEFAULT_THRESHOLDS, allow: new Set(REFUSAL_NAMES) } as const
    try {
      const { zones } = await planZones([job], { providers, now: new Date(0), tool: 'test' })
      if (theirs !== null) scene.patch([theirs])
      const before = scene.server.requests.length
      const aged = zones.map((zone) => ({ ...zone, readAt: zone.readAt - seconds * 1000 }))
      const [outcome] = await applyZones(aged, { providers })
      const states = (outcome?.outcomes ?? []).map(({ state }) => state)
      return [...scene.server.requests.slice(before).map(({ method, path }) => `${method} ${path}`), ...states]
    } finally {
      await provider.close()
    }
  }

  test.each<readonly [string, object | null, number, readonly string[]]>([
    ['nothing, soon: the zone is not read again', null, 0, [`PATCH ${LIST}`, 'applied']],
    ['nothing, after more than ten seconds', null, 11, [`GET ${LIST}`, `PATCH ${LIST}`, 'applied']],
    ['another record set', { ...A, subname: 'other', ttl: 7200 }, 11, [`GET ${LIST}`, `PATCH ${LIST}`, 'applied']],
    ['the same values again', A, 11, [`GET ${LIST}`, `PATCH ${LIST}`, 'applied']],
    ['the same record set', { ...A, records: ['203.0.113.7'] }, 11, [`GET ${LIST}`, 'failed']],
    ['its deletion', { ...A, records: [] }, 11, [`GET ${LIST}`, 'failed']],
  ])('%s', async (_, theirs, seconds, expected) => expect(await applyAfter(theirs, seconds)).toEqual(expected))
})

test('a saved plan does not overwrite a change of the same record set', async () => {
  const scene = await startDesecScene({ definition: '  www: {type: A, value: 192.0.2.9}\n', rrsets: [A] })
  expect(await scene.run(['plan', '-o', 'saved.plan', '--allow', 'updates'])).toMatchObject({ status: 0 })
  scene.patch([{ ...A, records: ['203.0.113.7'] }])
  expect((await scene.run(['apply', 'saved.plan', '--yes', '--no-color'])).status).not.toBe(0)
  expect(scene.rrsets()?.find(({ type }) => type === 'A')?.records).toEqual(['203.0.113.7'])
})

test('a zone is copied from deSEC to Scaleway and back', async () => {
  const desec = createDesec({ token: TOKEN, domains: [{ name: 'example.com' }] })
  const scaleway = createScaleway({ token: TOKEN, zones: [{ domain: 'example.com' }] })
  const [one, other] = [await startScriptedServer(desec.service), await startScriptedServer(scaleway.service)]
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'zones'))
  writeFileSync(
    join(cwd, 'zonewright.yaml'),
    `providers:\n  desec: {type: desec, base_url: '${one.origin}/api/v1', token: env:TOKEN}\n` +
      `  scw: {type: scaleway, base_url: '${other.origin}/domain/v2beta1', secret_key: env:TOKEN}\n`,
  )
  writeFileSync(
    join(cwd, 'zones/example.com.yaml'),
    "domain: example.com\ntargets: [desec]\ndefault_ttl: 1h\nrecords:\n  '': {type: MX, value: {preference: 10, exchange: mail.example.net.}}\n  www: {type: A, value: 192.0.2.1}\n",
  )
  const run = (...args: string[]) => cli(args, { cwd, env: { TOKEN } })
  expect(await run('apply', '--yes')).toMatchObject({ stderr: '', status: 0 })
  expect(await run('copy', '--from', 'desec', '--to', 'scw', 'example.com', '--yes')).toMatchObject({ stderr: '', status: 0 })
  const plain = (scaleway.records('example.com') ?? [])
    .filter(({ type }) => type !== 'NS')
    .map(({ name, type, data, ttl }) => [name, type, data, ttl])
  expect(plain.sort()).toEqual([
    ['', 'MX', '10 mail.example.net.', 3600],
    ['www', 'A', '192.0.2.1', 3600],
  ])
  expect(await run('copy', '--from', 'scw', '--to', 'desec', 'example.com', '--yes')).toMatchObject({ status: 0 })
  expect(desec.rrsets('example.com')?.length).toBe(3)
})
