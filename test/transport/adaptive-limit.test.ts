import { expect, test } from 'vitest'
import { type AdaptiveLimit, createAdaptiveLimit, LimitClosed, type Turn } from '../../src/transport/adaptive-limit.ts'

const GOOD = { congested: false }
const BAD = { congested: true }
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Requests `count` turns; returns the list of granted ones. */
async function enter(limit: AdaptiveLimit, count: number, given: Turn[] = []): Promise<Turn[]> {
  for (let i = 0; i < count; i += 1) void limit.enter().then((turn) => given.push(turn))
  await tick()
  return given
}

test('limits concurrent requests', async () => {
  const limit = createAdaptiveLimit(3)
  const turns = await enter(limit, 5)
  expect(turns).toHaveLength(3)
  turns[0]?.end(GOOD)
  await tick()
  expect(turns).toHaveLength(4)
})

test('congestion halves the limit once for all requests in progress', async () => {
  const limit = createAdaptiveLimit(8)
  const turns = await enter(limit, 8)
  for (const turn of turns) turn.end(BAD)
  expect(limit.capacity()).toBe(4)
  const later = await enter(limit, 8)
  expect(later).toHaveLength(4)
  for (const turn of [...later]) turn.end(BAD)
  expect(limit.capacity()).toBe(2)
})

test('the limit stays between one and the maximum', async () => {
  const limit = createAdaptiveLimit(4)
  for (let i = 0; i < 10; i += 1) (await enter(limit, 1))[0]?.end(BAD)
  expect(limit.capacity()).toBe(1)
  for (let i = 0; i < 200; i += 1) (await enter(limit, 1))[0]?.end(GOOD)
  expect(limit.capacity()).toBe(4)
})

test('a window of successful responses raises the limit by one', async () => {
  const limit = createAdaptiveLimit(8)
  for (const turn of await enter(limit, 1)) turn.end(BAD)
  expect(limit.capacity()).toBe(4)
  for (let i = 0; i < 4; i += 1) (await enter(limit, 1))[0]?.end(GOOD)
  expect(limit.capacity()).toBe(4)
  for (let i = 0; i < 2; i += 1) (await enter(limit, 1))[0]?.end(GOOD)
  expect(limit.capacity()).toBe(5)
})

test('a pause applies to every request, and the longest pause wins', async () => {
  let time = 0
  const limit = createAdaptiveLimit(8, { now: () => time })
  const [first, second] = await enter(limit, 2)
  first?.end({ congested: true, pause: 60 })
  second?.end({ congested: true, pause: 5 })
  time = 59
  const later = await enter(limit, 1)
  expect(later).toHaveLength(0)
  time = 60
  while (later.length < 1) await tick()
})

test('too long a pause rejects queued and new requests until it ends', async () => {
  let time = 0
  const limit = createAdaptiveLimit(1, { longestPause: 1000, now: () => time })
  const [turn] = await enter(limit, 1)
  const waiting = limit.enter()
  const refused = expect(waiting).rejects.toMatchObject({ name: 'LimitClosed', wait: 9e12 })
  turn?.end({ congested: true, pause: 9e12 })
  await refused
  time = 4e12
  await expect(limit.enter()).rejects.toEqual(new LimitClosed(5e12))
  time = 9e12 + 1
  await limit.enter()
})

test('an abandoned wait leaves no timer that keeps the process alive', async () => {
  const limit = createAdaptiveLimit(1)
  const [turn] = await enter(limit, 1)
  turn?.end({ congested: true, pause: 250_000 })
  const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
  const before = timers()
  const controller = new AbortController()
  const waiting = limit.enter(controller.signal)
  expect(timers()).toBe(before + 1)
  controller.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  expect(timers()).toBe(before)
})

test('reports a long wait once', async () => {
  const reported: number[] = []
  const limit = createAdaptiveLimit(4, { now: () => 0, onPause: (milliseconds) => reported.push(milliseconds) })
  const turns = await enter(limit, 4)
  turns[0]?.end({ congested: true, pause: 1000 })
  turns[1]?.end({ congested: true, pause: 60_000 })
  turns[2]?.end({ congested: true, pause: 60_400 })
  const controller = new AbortController()
  const waiting = limit.enter(controller.signal)
  turns[3]?.end({ congested: false, budget: { remaining: 0, resetIn: 90_000 } })
  controller.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  expect(reported).toEqual([60_000, 90_000])
})

test('respects the remaining requests that a server announces, minus those in progress, until the reset', async () => {
  let time = 0
  const limit = createAdaptiveLimit(8, { now: () => time })
  const turns = await enter(limit, 3)
  turns[0]?.end({ congested: false, budget: { remaining: 4, resetIn: 80 } })
  const later = await enter(limit, 5)
  expect(later).toHaveLength(2)
  time = 79
  await tick()
  expect(later).toHaveLength(2)
  time = 80
  while (later.length < 5) await tick()
})

test('the signal ends a wait with its reason and removes it from the queue', async () => {
  const limit = createAdaptiveLimit(1)
  const [turn] = await enter(limit, 1)
  const controller = new AbortController()
  const waiting = limit.enter(controller.signal)
  const behind = limit.enter()
  controller.abort('enough')
  await expect(waiting).rejects.toBe('enough')
  await expect(limit.enter(controller.signal)).rejects.toBe('enough')
  turn?.end(GOOD)
  await behind
})

test('a turn can be released only once', async () => {
  const [turn] = await enter(createAdaptiveLimit(1), 1)
  turn?.end(GOOD)
  expect(() => turn?.end(GOOD)).toThrow('twice')
})
