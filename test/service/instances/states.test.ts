import { describe, expect, test } from 'vitest'
import { freshStore } from '../harness.ts'
import { EMPTY, IMAGE, startClocked } from './fixture.ts'

const { client, pass, made } = await startClocked()
const statusOf = async (path: string): Promise<string> => (await client.ok('GET', path)).status
const BUSY = ['Linode busy.']

describe('boot', () => {
  test('needs a configuration profile', async () => {
    const { path } = await made(EMPTY)
    expect(await client.problems('POST', `${path}/boot`)).toEqual(['The instance has no configuration profile to boot with.'])
  })

  test('uses the only profile, and the instance boots, then runs', async () => {
    const { path } = await made(EMPTY)
    await client.ok('POST', `${path}/configs`, { label: 'only', devices: {} })
    expect(await client.ok('POST', `${path}/boot`)).toEqual({})
    expect(await statusOf(path)).toBe('booting')
    expect(await client.problems('POST', `${path}/boot`, {})).toEqual(BUSY)
    await pass(5)
    expect(await statusOf(path)).toBe('running')
  })

  test('uses the last booted of several profiles, and requires a choice if there is none', async () => {
    const { path } = await made(EMPTY)
    const first = await client.ok('POST', `${path}/configs`, { label: 'first', devices: {} })
    await client.ok('POST', `${path}/configs`, { label: 'second', devices: {} })
    const several = 'config_id is required: the instance has several configuration profiles and was last booted with none of them.'
    expect(await client.problems('POST', `${path}/boot`, {})).toEqual([`config_id: ${several}`])
    expect(await statusOf(path)).toBe('offline')
    await client.ok('POST', `${path}/boot`, { config_id: first.id })
    await pass(5)
    expect(await client.ok('POST', `${path}/boot`, { config_id: null })).toEqual({})
    expect(await statusOf(path)).toBe('rebooting')
    await pass(8)
    expect(await statusOf(path)).toBe('running')
  })

  test('refuses the profile of another instance', async () => {
    const other = await made(IMAGE)
    const { path } = await made(IMAGE)
    const [{ id }] = (await client.ok('GET', `${other.path}/configs`)).data
    expect(await client.problems('POST', `${path}/boot`, { config_id: id })).toEqual(['config_id: config_id is not valid'])
    expect(await client.problems('POST', `${path}/boot`, { config_id: 'x' })).toEqual(['config_id: config_id is not valid'])
  })

  test('is refused while another action is running', async () => {
    const { path } = await made(IMAGE, 0)
    expect(await client.problems('POST', `${path}/boot`)).toEqual(BUSY)
    await pass(10)
    await client.ok('POST', `${path}/boot`)
  })
})

describe('an update', () => {
  test('changes only the given fields', async () => {
    const { path } = await made({ ...IMAGE, tags: ['kept'] })
    const before = await client.ok('GET', path)
    const changes = { label: 'renamed-1', group: 'new', watchdog_enabled: false, tags: ['b-tag', 'A-tag'] }
    const changed = await client.ok('PUT', path, { ...changes, alerts: { cpu: 0, io: 5 } })
    const alerts = { ...before.alerts, cpu: 0, io: 5 }
    expect(changed).toEqual({ ...before, ...changes, tags: ['A-tag', 'b-tag'], alerts, updated: changed.updated })
    expect(await client.ok('PUT', path, { tags: null })).toEqual(changed)
    expect(await client.ok('PUT', path, { group: '', tags: [] })).toEqual({ ...changed, group: '', tags: [] })
  })

  test('accepts a returned instance', async () => {
    const { path } = await made({ ...IMAGE, backups_enabled: true, tags: ['kept'] })
    await pass(60)
    const read = await client.ok('GET', path)
    expect(await client.ok('PUT', path, read)).toEqual({ ...read, updated: expect.any(String) })
  })

  test.each<[string, object, string[]]>([
    ['a label that is taken', { label: 'theirs' }, ['label: Label must be unique among your linodes']],
    ['an invalid label', { label: 'a..b' }, ['label: A label cannot have two hyphens, underscores or dots in a row.']],
    ['negative alerts', { alerts: { cpu: -1 } }, ['alerts.cpu: alerts.cpu must be between 0 and 2147483647']],
  ])('of %s is refused', async (_name, body, problems) => {
    await client.call('POST', '/compute/instances', { ...EMPTY, label: 'theirs' })
    const { path } = await made(EMPTY)
    const before = await client.ok('GET', path)
    expect(await client.problems('PUT', path, body)).toEqual(problems)
    expect(await client.ok('GET', path)).toEqual(before)
  })
})

test('delete deletes the instance and everything it has, in any state', async () => {
  for (const seconds of [0, 20]) {
    const { id, path } = await made({ ...IMAGE, tags: ['only-here'], backups_enabled: true }, seconds)
    expect(await client.ok('DELETE', path)).toEqual({})
    for (const below of ['', '/configs', '/backups']) expect((await client.call('GET', `${path}${below}`)).status).toBe(404)
    expect((await client.call('DELETE', path)).status).toBe(404)
    expect((await client.ok('GET', '/tags')).data).not.toContainEqual({ label: 'only-here' })
    // Its running jobs have no effect.
    await pass(7 * 86_400)
    expect((await client.ok('POST', '/compute/instances', EMPTY)).id).toBeGreaterThan(id)
  }
})

test('jobs that were running when the service ended are finished once by the next one', async () => {
  const store = await freshStore()
  const first = await startClocked({ ...store, bootstrapToken: 'bootstrap' })
  const source = await first.made(IMAGE)
  const made = await Promise.all([0, 1].map(() => first.made({ ...IMAGE, backups_enabled: true }, 0)))
  const clone = await first.client.ok('POST', `${source.path}/clone`, {})
  await first.service.stop()
  const next = await startClocked({ ...store, bootstrapToken: 'bootstrap' })
  const list = async () => (await next.client.ok('GET', '/compute/instances')).data
  // Its clock starts where that of the first one did, twenty seconds earlier.
  await next.pass(20)
  expect((await list()).map(({ status }: { status: string }) => status)).toEqual(['cloning', 'provisioning', 'provisioning', 'offline'])
  await next.pass(60)
  expect((await list()).map(({ status }: { status: string }) => status)).toEqual(['running', 'running', 'running', 'offline'])
  for (const { id } of [source, ...made, clone]) expect((await next.client.ok('GET', `/compute/instances/${id}/configs`)).results).toBe(1)
})
