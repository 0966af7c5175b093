import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serialNumber } from '../../../src/dns/serial-number.ts'
import { NO_SOURCE_STATE, type SourceState } from '../../../src/plan/source-state.ts'
import { readState, stateName, updateState } from '../../../src/run/read/fill-job.ts'
import { folderStore } from '../../../src/stored/store/folder-store.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const ZONE = 'example.com.'
const TIME = Date.UTC(2026, 0, 1)
const STATE: SourceState = {
  sources: new Map([
    ['the zone example.com. at hidden (192.0.2.1)', { version: { serial: serialNumber(7), updated: null }, unreadSince: TIME }],
    ['the zone example.com. at cloud (https://api.example.net)', { version: { serial: null, updated: TIME }, unreadSince: null }],
  ]),
  absent: new Map([['www.example.com. A 0123456789abcdef', { since: TIME, counted: TIME + 60_000, reads: 2 }]]),
}

const open = () => folderStore(join(temporaryDirectory(), 'journal'), false)
const write = (store: ReturnType<typeof open>, state: SourceState) =>
  updateState(store, ZONE, 'cloud', () => ({ result: { state }, isChanged: true }))

test('is read as it was written, for its zone and target only, and is removed when it is empty', async () => {
  const store = open()
  await write(store, STATE)
  expect(await readState(store, ZONE, 'cloud')).toMatchObject({ state: STATE, isDamaged: false })
  expect((await readState(store, ZONE, 'other')).state).toEqual(NO_SOURCE_STATE)
  await write(store, NO_SOURCE_STATE)
  expect(await store.list('quarantine/')).toEqual([])
})

const document = async (): Promise<Record<string, unknown>> => {
  const store = open()
  await write(store, STATE)
  return JSON.parse((await store.read(stateName(ZONE, 'cloud')))?.text ?? '') as Record<string, unknown>
}
const absent = (...entry: unknown[]) => ({ absent: [['www.example.com. A 0123456789abcdef', ...entry]] })

test.each([
  ['another zone', { zone: 'example.net.' }],
  ['another target', { target: 'other' }],
  ['another version', { version: 2 }],
  ['no list of values', { absent: {} }],
  ['more values than are counted', { absent: Array(10_001).fill(['x', 1, 1, 1]) }],
  ['a value that is no list', { absent: ['x'] }],
  ['a negative time', absent(-1, TIME, 3)],
  ['a time that no date has', absent(8.65e15, TIME, 3)],
  ['a time of which the end of the quarantine is no date', absent(8.64e15, TIME, 3)],
  ['a count that is no number', absent(TIME, TIME, '3')],
  ['a serial that is none', { sources: [['a', 2 ** 32, null, null]] }],
  ['a source without a name', { sources: [[null, 1, null, null]] }],
])('with %s is damaged: nothing is known', async (_, part) => {
  const store = open()
  await store.write(stateName(ZONE, 'cloud'), JSON.stringify({ ...(await document()), ...part }), null)
  expect(await readState(store, ZONE, 'cloud')).toMatchObject({ state: NO_SOURCE_STATE, isDamaged: true })
  // The next read replaces it.
  await updateState(store, ZONE, 'cloud', () => ({ result: { state: STATE }, isChanged: false }))
  expect(await readState(store, ZONE, 'cloud')).toMatchObject({ state: STATE, isDamaged: false })
})
