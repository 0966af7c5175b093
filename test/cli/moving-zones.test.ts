/** What other runs do with a zone that a cutover is moving, and how a cutover ends whose steps fail. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Message, RCODE } from '../../src/dns/wire/message.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { CLOUD } from '../../src/providers/cloud/cloud-config.ts'
import { createMemory, type Memory } from '../../src/providers/memory/memory-provider.ts'
import { type Cutover, cutoverFile } from '../../src/run/load/cutover-state.ts'
import { expectEnd } from '../support/cli.ts'
import { response, startScriptedDns } from '../support/scripted-dns.ts'
import { openLiveScene, openScene, type Scene, zoneOf } from './scene.ts'

const MOVING = 'a cutover is moving example.com. from cloud to own since 2026-11-23'
const provider = (name: string): string =>
  `  ${name}: {type: cloud, base_url: 'http://127.0.0.1:9/${name}/v4', token: 'env:ZONEWRIGHT_TOKEN'}\n`
const RULES = 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n'

interface Moving extends Scene {
  readonly own: Memory
  readonly state: ReturnType<typeof cutoverFile>
}

/** Two live zones; a cutover of the first is at this step, and its default TTL was lowered from one day. */
async function openMoving(step: Cutover['step'] = 'copy'): Promise<Moving> {
  const own = createMemory({ capabilities: CLOUD_CAPABILITIES, settings: { soa_email: 'hostmaster@example.com' } })
  const files = Object.fromEntries(['example.com', 'example.net'].map((name) => [`zones/${name}.yaml`, zoneOf(name)]))
  const scene = await openLiveScene({
    files: { ...files, 'zonewright.yaml': `providers:\n${provider('cloud')}${provider('own')}${RULES}` },
    types: { own: own.as(CLOUD) },
  })
  scene.memory.changeSettings('example.com', { soa_email: 'hostmaster@example.com', ttl_sec: 300 })
  const state = cutoverFile(join(scene.folder, '.zonewright'), 'example.com.')
  await state.write({
    format: 'zonewright-cutover',
    version: 1,
    zone: 'example.com.',
    from: 'cloud',
    to: 'own',
    started: '2026-11-23T00:00:00.000Z',
    step,
    lowTtl: 300,
    formerTtl: 86_400,
    formerZoneTtl: 86_400,
    lowered: true,
    notBefore: null,
    apexNs: [],
    nameservers: [],
    parentTtl: 0,
  })
  return { ...scene, own, state }
}

const edit = ({ write }: Scene, address: string): void =>
  write(
    Object.fromEntries(['example.com', 'example.net'].map((name) => [`zones/${name}.yaml`, zoneOf(name).replace('192.0.2.1', address)])),
  )

/** The last digit of the address of both zones. */
const addresses = ({ memory }: Scene): string[] =>
  ['example.com', 'example.net'].map((name) => /^\S+\. - A 192\.0\.2\.(\d)$/m.exec(memory.zone(name)?.join('\n') ?? '')?.[1] ?? '')

test('plan and apply leave out the zone alone, and name the cutover', async () => {
  const scene = await openMoving()
  edit(scene, '192.0.2.7')
  const plan = await scene.run('plan', '--detailed-exitcode', '--format', 'json')
  const { zones, diagnostics } = JSON.parse(plan.stdout)
  expect([plan.status, zones.map(({ zone }: { zone: string }) => zone)]).toEqual([2, ['example.net.']])
  expect(diagnostics).toContainEqual(expect.objectContaining({ severity: 'warning', message: expect.stringContaining(MOVING) }))
  const applied = await scene.run('apply', '--yes')
  expectEnd(applied, 1, { err: `error[zone-locked] ${MOVING}` })
  expect(addresses(scene)).toEqual(['1', '7'])
  for (const command of ['plan', 'apply']) {
    expectEnd(await scene.run(command, 'example.com'), 1, { err: MOVING, out: '' })
  }
  expectEnd(await scene.run('apply', '--choreograph', '--yes'), 1, { err: 'example.net. at cloud: nothing to do' })
})

test('verify names the cutover as the reason of differences', async () => {
  const scene = await openMoving()
  edit(scene, '192.0.2.7')
  const { status, stdout } = await scene.run('verify', 'example.com', '--no-dns', '--format', 'json')
  expect([status, JSON.parse(stdout).diagnostics]).toEqual([
    2,
    [expect.objectContaining({ severity: 'warning', code: 'zone-locked', message: expect.stringContaining(MOVING) })],
  ])
})

test('a saved plan with the zone is refused, or applied in its other zones with --partial', async () => {
  const scene = await openMoving()
  const state = (await scene.state.read()) as Cutover
  await scene.state.remove()
  edit(scene, '192.0.2.7')
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  await scene.state.write(state)
  const refused = await scene.run('apply', 'plan.json', '--yes')
  expect([refused.status, refused.stderr, addresses(scene)]).toEqual([1, expect.stringContaining(MOVING), ['1', '1']])
  const partial = await scene.run('apply', 'plan.json', '--yes', '--partial')
  expect([partial.status, addresses(scene)]).toEqual([4, ['1', '7']])
})

test('rollback and copy leave out the zone alone', async () => {
  const scene = await openMoving()
  const state = (await scene.state.read()) as Cutover
  await scene.state.remove()
  edit(scene, '192.0.2.7')
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  await scene.state.write(state)
  const back = await scene.run('rollback', '--last', '--yes')
  expect([back.status, back.stderr, addresses(scene)]).toEqual([1, expect.stringContaining(MOVING), ['7', '1']])
  expectEnd(await scene.run('copy', 'example.com', 'example.net', '--from', 'cloud', '--to', 'own', '--yes'), 1, { err: MOVING })
  expect([scene.own.zone('example.com'), scene.own.zone('example.net')?.length]).toEqual([null, 3])
})

test('unlock shows the cutover, and forgets nothing', async () => {
  const scene = await openMoving()
  expectEnd(await scene.run('unlock', 'example.com', '--yes'), 0, { err: [MOVING, '--abort'] })
  expect(await scene.state.read()).not.toBeNull()
})

const abort = (scene: Scene, ...args: string[]) => scene.run('cutover', 'example.com', '--abort', ...args)

test.each(['lower', 'copy', 'unsign', 'delegate', 'drain', 'restore'] as const)('--abort ends a cutover at step %s', async (step) => {
  const scene = await openMoving(step)
  // The new provider is not needed.
  writeFileSync(join(scene.folder, 'zonewright.yaml'), `providers:\n${provider('cloud')}${RULES}`)
  const { status, stderr } = await abort(scene, '--yes')
  const isMoved = step === 'drain' || step === 'restore'
  expect(stderr).not.toContain('policy-kept')
  expect([status, stderr]).toEqual([0, expect.stringContaining(isMoved ? 'delegates it to own' : 'are as before')])
  expect(scene.memory.settingsOf('example.com')?.ttl_sec).toBe(isMoved ? 300 : 86_400)
  expect((await scene.run('apply', '--yes')).status).toBe(0)
})

/** The name server of the parent gives every query this answer. */
const parentWith = async (answer: Partial<Message>): Promise<string[]> => {
  const { host, port } = await startScriptedDns((query) => [response(query, [], answer)])
  return ['--parent-server', `${host}:${port}`]
}

test.each(['unsign', 'delegate'] as const)('at step %s, nothing goes on after an answer of the parent that says nothing', async (step) => {
  const scene = await openMoving(step)
  for (const rcode of [RCODE.SERVFAIL, RCODE.REFUSED, RCODE.NOERROR]) {
    const args = ['cutover', 'example.com', '--yes', ...(await parentWith({ rcode }))]
    expectEnd(await scene.run(...args), 1, { err: 'error[nameserver-failed] example.com.: the delegation in the parent zone is unknown' })
    expect((await scene.state.read())?.step).toBe(step)
  }
})

test('nothing is lowered if the parent may delegate to the new provider already', async () => {
  const scene = await openMoving()
  await scene.state.remove()
  scene.own.set('example.com', '@ 300 NS ns7.example.net.\n')
  scene.memory.changeSettings('example.com', { soa_email: 'hostmaster@example.com', ttl_sec: 3600 })
  const parent = await parentWith({ rcode: RCODE.REFUSED })
  const args = ['cutover', 'example.com', '--from', 'cloud', '--to', 'own', '--yes', ...parent, '--from-server', parent[1] as string]
  expectEnd(await scene.run(...args), 1, { err: 'the parent zone is unknown' })
  expect([await scene.state.read(), scene.memory.settingsOf('example.com')?.ttl_sec]).toEqual([null, 3600])
})

test('--abort warns if it does not know whether the parent has changed', async () => {
  const scene = await openMoving('delegate')
  await scene.state.write({ ...((await scene.state.read()) as Cutover), nameservers: ['ns7.example.net.'] })
  const aborted = await abort(scene, '--yes', ...(await parentWith({ rcode: RCODE.REFUSED })))
  expectEnd(aborted, 0, { err: ['warning[nameserver-failed] example.com.: the delegation in the parent zone is unknown', 'are as before'] })
})

test('a cutover whose state cannot be read says which file it is', async () => {
  const scene = openScene()
  writeFileSync(join(scene.folder, '.zonewright'), '')
  expectEnd(await scene.run('cutover', 'example.com', '--abort'), 1, {
    err: /error\[journal-failed\] \S+\.json cannot be read: a file is in the place of a folder/,
  })
})

test('--abort ends a cutover whose TTLs cannot be restored, after consent', async () => {
  const scene = await openMoving()
  scene.memory.use(({ kind }) => (kind === 'write' ? { kind: 'refused', code: 'provider-forbidden', message: '403', status: '403' } : null))
  const asked = await abort(scene)
  expect([asked.status, asked.stderr]).toEqual([1, expect.stringContaining('may still be 5 min; it was 1 d')])
  expect(await scene.state.read()).not.toBeNull()
  const ended = await abort(scene, '--yes')
  expect([ended.status, ended.stderr]).toEqual([
    1,
    expect.stringContaining('The cutover of example.com. is ended; own keeps what was copied to it'),
  ])
  expect(await scene.state.read()).toBeNull()
})

test('--abort before the copy says that nothing was copied', async () => {
  const { status, stderr } = await abort(await openMoving('lower'), '--yes')
  expect([status, stderr]).toEqual([0, expect.stringContaining('the TTLs at cloud are as before, and nothing was copied to own.')])
})

test('--abort says that the previous provider does not have the zone any more', async () => {
  const scene = await openMoving()
  scene.memory.removeZone('example.com')
  const { status, stderr } = await abort(scene, '--yes')
  expect([status, stderr]).toEqual([
    0,
    expect.stringContaining('cloud does not have the zone any more, and own keeps what was copied to it'),
  ])
  expect(stderr).not.toContain('are as before')
})

test('--abort ends a cutover whose previous provider is not in the config any more', async () => {
  const scene = await openMoving()
  writeFileSync(join(scene.folder, 'zonewright.yaml'), `providers:\n${provider('own')}`)
  const ended = await abort(scene, '--yes')
  expect([ended.status, ended.stderr]).toEqual([1, expect.stringContaining('provider-unknown')])
  expect(await scene.state.read()).toBeNull()
})
