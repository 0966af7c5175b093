import { describe, expect, test } from 'vitest'
import { chosenDay, chosenWindow, DAYS, nextBackup, WINDOWS } from '../../../src/service/jobs/jobs.ts'
import { EMPTY, IMAGE, START, startClocked } from './fixture.ts'

const { client, pass, made } = await startClocked()
const DAY = 86_400
const WEEK = 7 * DAY
const BUSY = ['Linode busy.']
const backupsOf = (path: string) => client.ok('GET', `${path}/backups`)
const scheduleOf = async (path: string) => (await client.ok('GET', path)).backups.schedule

describe('a snapshot', () => {
  test('passes through its states, and replaces the previous one when it is complete', async () => {
    const { path } = await made({ ...IMAGE, backups_enabled: true })
    const first = await client.ok('POST', `${path}/backups`, { label: 'first' })
    expect(first).toEqual({
      ...{ id: first.id, label: 'first', type: 'snapshot', status: 'pending', available: true },
      configs: ['My Debian 11 Disk Profile'],
      disks: [
        { label: 'Debian 11 Disk', size: 50_688, filesystem: 'ext4' },
        { label: '512 MB Swap Image', size: 512, filesystem: 'swap' },
      ],
      ...{ created: first.created, updated: first.created, finished: null },
    })
    expect(await backupsOf(path)).toEqual({ automatic: [], snapshot: { current: null, in_progress: first } })
    expect(await client.problems('POST', `${path}/backups`, { label: 'too soon' })).toEqual(BUSY)
    for (const [seconds, status] of [
      [3, 'running'],
      [20, 'needsPostProcessing'],
      [4, 'needsPostProcessing'],
      [1, 'successful'],
    ] as const) {
      await pass(seconds)
      expect((await client.ok('GET', `${path}/backups/${first.id}`)).status).toBe(status)
    }
    const done = await client.ok('GET', `${path}/backups/${first.id}`)
    expect(Date.parse(done.finished) - Date.parse(done.created)).toBe(28_000)
    expect(await backupsOf(path)).toEqual({ automatic: [], snapshot: { current: done, in_progress: null } })
    expect((await client.ok('GET', path)).backups).toMatchObject({ available: true, enabled: true, last_successful: done.finished })

    const second = await client.ok('POST', `${path}/backups`, { label: 'second' })
    expect(await backupsOf(path)).toMatchObject({ snapshot: { current: { id: first.id }, in_progress: { id: second.id } } })
    await pass(60)
    expect(await backupsOf(path)).toMatchObject({ snapshot: { current: { id: second.id, status: 'successful' }, in_progress: null } })
    expect((await client.call('GET', `${path}/backups/${first.id}`)).status).toBe(404)
  })

  test('needs enabled backups and an idle instance', async () => {
    const { path } = await made(IMAGE)
    expect(await client.problems('POST', `${path}/backups`, { label: 'x' })).toEqual(['Backups are not enabled for this Linode.'])
    const fresh = await made({ ...IMAGE, backups_enabled: true }, 0)
    expect(await client.problems('POST', `${fresh.path}/backups`, { label: 'x' })).toEqual(BUSY)
  })
})

describe('the schedule', () => {
  test('is chosen some time after backups are enabled', async () => {
    const { id, path } = await made(EMPTY)
    expect(await scheduleOf(path)).toEqual({ day: null, window: null })
    expect(await client.ok('POST', `${path}/backups/enable`)).toEqual({})
    expect(await scheduleOf(path)).toEqual({ day: 'Scheduling', window: 'Scheduling' })
    await pass(30)
    expect(await scheduleOf(path)).toEqual({ day: chosenDay(id), window: chosenWindow(id) })
    // Enabling them again changes nothing.
    await client.ok('POST', `${path}/backups/enable`)
    expect(await scheduleOf(path)).toEqual({ day: chosenDay(id), window: chosenWindow(id) })
  })

  test('is the given one, before or after enabling', async () => {
    const { id, path } = await made(EMPTY)
    const schedule = { day: 'Tuesday', window: 'W22' }
    expect((await client.ok('PUT', path, { backups: { schedule } })).backups).toMatchObject({ enabled: false, schedule })
    await client.ok('POST', `${path}/backups/enable`)
    expect(await scheduleOf(path)).toEqual(schedule)
    await client.ok('PUT', path, { backups: { schedule: { day: null } } })
    expect(await scheduleOf(path)).toEqual({ day: 'Scheduling', window: 'W22' })
    await pass(30)
    expect(await scheduleOf(path)).toEqual({ day: chosenDay(id), window: 'W22' })
  })

  test('creates a backup each week, in its window, and keeps the last three', async () => {
    const { path } = await made(IMAGE)
    await client.ok('PUT', path, { backups: { schedule: { day: 'Sunday', window: 'W4' } } })
    await client.ok('POST', `${path}/backups/enable`)
    const seen: string[] = []
    for (let week = 0; week < 5; week += 1) {
      await pass(WEEK)
      await pass(60)
      const { automatic } = await backupsOf(path)
      expect(automatic).toHaveLength(Math.min(week + 1, 3))
      expect(automatic.at(-1)).toMatchObject({ type: 'auto', label: null, status: 'successful' })
      seen.push(automatic.at(-1).id)
    }
    expect(new Set(seen).size).toBe(5)
  })

  test.each([
    ['later today', { day: 'Saturday', window: 'W10' }, '2026-01-31T10'],
    ['tomorrow', { day: 'Sunday', window: 'W0' }, '2026-02-01T00'],
    ['in six days', { day: 'Friday', window: 'W22' }, '2026-02-06T22'],
    ['in a week, since today’s is over', { day: 'Saturday', window: 'W6' }, '2026-02-07T06'],
  ])('next backup: %s', (_name, schedule, hour) => {
    expect(new Date(nextBackup(schedule, 1, START)).toISOString().slice(0, 13)).toBe(hour)
    for (let id = 1; id < 200; id += 1) {
      const moment = nextBackup(schedule, id, START)
      const into = ((moment / 3_600_000) % 24) - Number(schedule.window.slice(1))
      expect(moment).toBeGreaterThan(START)
      expect(moment).toBeLessThanOrEqual(START + WEEK * 1000)
      expect(into >= 0 && into < 2).toBe(true)
      expect(nextBackup(schedule, id, moment)).toBe(moment + WEEK * 1000)
    }
  })

  test('is spread over all days and windows', () => {
    const chosen = new Set(Array.from({ length: 84 }, (_, id) => `${chosenDay(id)} ${chosenWindow(id)}`))
    expect(chosen.size).toBe(DAYS.length * WINDOWS.length)
  })
})

test('cancelling deletes all backups and stops new ones', async () => {
  const { path } = await made({ ...IMAGE, backups_enabled: true })
  await pass(8 * DAY)
  await client.ok('POST', `${path}/backups`, { label: 'kept no longer' })
  await pass(60)
  await client.ok('POST', `${path}/backups`, { label: 'being made' })
  expect(await client.ok('POST', `${path}/backups/cancel`)).toEqual({})
  const none = { automatic: [], snapshot: { current: null, in_progress: null } }
  expect(await backupsOf(path)).toEqual(none)
  expect((await client.ok('GET', path)).backups).toEqual({
    ...{ available: false, enabled: false, last_successful: null, schedule: { day: null, window: null } },
  })
  await pass(2 * WEEK)
  expect(await backupsOf(path)).toEqual(none)
})

describe('a restore', async () => {
  const source = await made({ ...IMAGE, type: 'g6-nanode-1', backups_enabled: true })
  const pending = await client.ok('POST', `${source.path}/backups`, { label: 'kept' })
  const restore = `${source.path}/backups/${pending.id}/restore`
  await pass(60)

  test('of an unfinished backup is refused, also to a new instance', async () => {
    const { id, path } = await made({ ...EMPTY, backups_enabled: true })
    const fresh = await client.ok('POST', `${path}/backups`, { label: 'fresh' })
    const body = { instance_id: id }
    expect(await client.problems('POST', `${path}/backups/${fresh.id}/restore`, body)).toEqual(['Unable to restore pending backups.'])
    const created = await client.problems('POST', '/compute/instances', { ...EMPTY, backup_id: fresh.id })
    expect(created).toEqual(['backup_id: Unable to restore pending backups.'])
    // Backups of one instance are not found at another.
    expect((await client.call('GET', `${source.path}/backups/${fresh.id}`)).status).toBe(404)
  })

  test('adds disks and profiles to those of the instance', async () => {
    const target = await made({ ...IMAGE, type: 'g6-standard-1', swap_size: 0 })
    const roomy = await made({ ...EMPTY, type: 'g6-standard-1' })
    expect(await client.problems('POST', restore, { instance_id: target.id, overwrite: false })).toEqual([
      'instance_id: There is insufficient space: the disks need 25600 MB, and 0 MB are free.',
    ])
    await client.ok('POST', `${roomy.path}/configs`, { label: 'own', devices: {} })
    expect(await client.ok('POST', restore, { instance_id: roomy.id })).toEqual({})
    expect((await client.ok('GET', roomy.path)).status).toBe('restoring')
    expect(await client.problems('DELETE', roomy.path)).toEqual([
      'Linode is restoring a backup. Please wait for restore to finish before deleting.',
    ])
    for (const [path, body] of [
      ['boot', { config_id: null }],
      ['clone', {}],
    ] as const)
      expect((await client.call('POST', `${roomy.path}/${path}`, body)).status).toBe(400)
    expect(await client.problems('POST', restore, { instance_id: roomy.id, overwrite: true })).toEqual(BUSY)
    await pass(15)
    expect((await client.ok('GET', roomy.path)).status).toBe('offline')
    const configs = (await client.ok('GET', `${roomy.path}/configs`)).data
    expect(configs.map(({ label }: { label: string }) => label)).toEqual(['own', 'My Debian 11 Disk Profile'])
    expect(configs[1].devices.sda.disk_id).toBeGreaterThan(0)
    await client.ok('DELETE', roomy.path)
  })

  test('with overwrite replaces the content of the instance, and leaves it offline', async () => {
    const target = await made({ ...IMAGE, image: 'public/arch' })
    const [before] = (await client.ok('GET', `${target.path}/configs`)).data
    await client.ok('POST', restore, { instance_id: target.id, overwrite: true })
    await pass(15)
    expect(await client.ok('GET', target.path)).toMatchObject({ status: 'offline', image: 'public/debian11' })
    const [after, ...more] = (await client.ok('GET', `${target.path}/configs`)).data
    expect(more).toEqual([])
    expect(after.label).toBe('My Debian 11 Disk Profile')
    expect(after.id).not.toBe(before.id)
    await client.ok('POST', `${target.path}/boot`)
  })

  test('to a running instance keeps it running', async () => {
    const target = await made({ ...IMAGE, type: 'g6-standard-1' })
    const small = await made({ ...EMPTY, backups_enabled: true })
    const empty = await client.ok('POST', `${small.path}/backups`, { label: 'nothing' })
    await pass(60)
    await client.ok('POST', `${small.path}/backups/${empty.id}/restore`, { instance_id: target.id })
    await pass(15)
    expect((await client.ok('GET', target.path)).status).toBe('running')
  })

  test('is refused if the target does not exist, is in another region or too small', async () => {
    const elsewhere = await made({ ...EMPTY, region: 'eu-west' })
    expect(await client.problems('POST', restore, { instance_id: 99_999 })).toEqual(['instance_id: instance_id is not valid'])
    expect(await client.problems('POST', restore, { instance_id: elsewhere.id })).toEqual([
      'instance_id: The backup can be restored in us-east only.',
    ])
    const big = await made({ ...IMAGE, backups_enabled: true })
    const large = await client.ok('POST', `${big.path}/backups`, { label: 'large' })
    await pass(60)
    const small = await made(EMPTY)
    expect(await client.problems('POST', `${big.path}/backups/${large.id}/restore`, { instance_id: small.id, overwrite: true })).toEqual([
      'instance_id: There is insufficient space: the disks need 51200 MB, and 25600 MB are free.',
    ])
    expect(await client.problems('POST', '/compute/instances', { ...EMPTY, backup_id: large.id })).toEqual([
      'type: The backup needs 51200 MB, and the type has 25600 MB.',
    ])
    expect(await client.problems('POST', '/compute/instances', { ...EMPTY, region: 'eu-west', backup_id: pending.id })).toEqual([
      'region: The backup can be restored in us-east only.',
    ])
  })

  test('can create a new instance, which then runs with the profile of the backup', async () => {
    const created = await client.ok('POST', '/compute/instances', { ...EMPTY, backup_id: pending.id })
    expect(created).toMatchObject({ status: 'provisioning', image: 'public/debian11', type: 'g6-nanode-1' })
    const path = `/compute/instances/${created.id}`
    expect(await client.problems('DELETE', path)).toEqual([
      'Linode is restoring a backup. Please wait for restore to finish before deleting.',
    ])
    await pass(15)
    expect((await client.ok('GET', path)).status).toBe('running')
    expect((await client.ok('GET', `${path}/configs`)).data).toMatchObject([{ label: 'My Debian 11 Disk Profile' }])
    const still = await made({ ...EMPTY, backup_id: pending.id, booted: false })
    expect((await client.ok('GET', still.path)).status).toBe('offline')
    await client.ok('DELETE', still.path)
  })
})
