/** Changes of other clients at deSEC between a plan and its calls, and zones that are copied from and to it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Ttl } from '../../../src/dns/ttl.ts'
import type { ProviderError } from '../../../src/providers/provider.ts'
import { openProvider } from '../../conformance/targets.ts'
import { createDesec } from '../../scripted/desec/service.ts'
import { createScaleway } from '../../scripted/scaleway/service.ts'
import { startScriptedServer } from '../../scripted/scripted-server.ts'
import { cli } from '../../support/cli.ts'
import { name } from '../../support/records.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { startDesecScene, TOKEN } from './scene.ts'

const A = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
const LIST = '/api/v1/domains/example.com/rrsets/'

describe('another client writes between a plan and its call', () => {
  const ZONE = name('example.com.')
  const image = (address: string) => ({ ttl: 3600 as Ttl, hasOtherTtls: false, data: [address] })
  const CALL = {
    changes: [],
    rrsets: [{ name: name('www.example.com.'), type: 'A', existing: image('192.0.2.1'), desired: image('192.0.2.9') }],
  }
  const DOMAIN = 'GET /api/v1/domains/example.com/'

  /** Looks a domain up, reads it, and makes a call. Returns the requests of the call. */
  async function callAfter(theirs: object | null, when: 'before the read' | 'after the read'): Promise<readonly string[]> {
    const scene = await startDesecScene({ definition: '', rrsets: [A, { ...A, subname: 'other' }] })
    const entry = `{type: desec, base_url: '${scene.server.origin}/api/v1', token: env:TOKEN}`
    const provider = await openProvider(entry, { TOKEN })
    try {
      const zone = (await provider.findZones([ZONE])).get(ZONE) ?? null
      if (theirs !== null && when === 'before the read') await scene.patch([theirs])
      if (zone !== null) await provider.readZone(zone)
      if (theirs !== null && when === 'after the read') await scene.patch([theirs])
      const before = scene.server.requests.length
      const failure = await provider.apply(zone, CALL).then(
        () => [],
        (error: ProviderError) => [error.code],
      )
      return [...scene.server.requests.slice(before).map(({ method, path }) => `${method} ${path}`), ...failure]
    } finally {
      await provider.close()
    }
  }

  test.each<readonly [string, object | null, 'before the read' | 'after the read', readonly string[]]>([
    ['nothing: the zone is not read again', null, 'after the read', [DOMAIN, `PATCH ${LIST}`]],
    ['another record set', { ...A, subname: 'other', ttl: 7200 }, 'after the read', [DOMAIN, `GET ${LIST}`, `PATCH ${LIST}`]],
    ['the same values again', A, 'after the read', [DOMAIN, `GET ${LIST}`, `PATCH ${LIST}`]],
    ['the same record set', { ...A, records: ['203.0.113.7'] }, 'after the read', [DOMAIN, `GET ${LIST}`, 'provider-conflict']],
    ['its deletion', { ...A, records: [] }, 'after the read', [DOMAIN, `GET ${LIST}`, 'provider-conflict']],
    [
      'another record set, before the read',
      { ...A, subname: 'other', ttl: 7200 },
      'before the read',
      [DOMAIN, `GET ${LIST}`, `PATCH ${LIST}`],
    ],
  ])('%s', async (_, theirs, when, expected) => expect(await callAfter(theirs, when)).toEqual(expected))
})

test('a saved plan does not overwrite a change of the same record set', async () => {
  const scene = await startDesecScene({ definition: '  www: {type: A, value: 192.0.2.9}\n', rrsets: [A] })
  expect(await scene.run(['plan', '-o', 'saved.plan', '--allow', 'updates'])).toMatchObject({ status: 0 })
  await scene.patch([{ ...A, records: ['203.0.113.7'] }])
  const refused = await scene.run(['apply', 'saved.plan', '--yes', '--no-color'])
  expect(refused.status).not.toBe(0)
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
