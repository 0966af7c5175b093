import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createTimers } from '../../src/service/time.ts'

test('run the work once, on time and in order', async () => {
  const timers = createTimers()
  const ran: string[] = []
  timers.schedule(40, () => ran.push('later'))
  timers.schedule(10, () => ran.push('sooner'))
  timers.schedule(-5, () => ran.push('at once'))
  timers.schedule(5, () => ran.push('never')).cancel()
  expect(ran).toEqual([])
  await sleep(80)
  expect(ran).toEqual(['at once', 'sooner', 'later'])
})

test('run faster with a speed, and so does the clock', async () => {
  let real = 1_000_000
  const timers = createTimers({ clock: () => real, speed: 3600 })
  expect(timers.now()).toBe(1_000_000)
  real += 1000
  expect(timers.now()).toBe(1_000_000 + 3_600_000)
  const ran = vi.fn()
  timers.schedule(36_000, ran)
  await sleep(60)
  expect(ran).toHaveBeenCalledOnce()
})

test('can wait longer than a system timer', async () => {
  vi.useFakeTimers()
  try {
    const timers = createTimers()
    const ran = vi.fn()
    timers.schedule(2 ** 31 + 1000, ran)
    vi.advanceTimersByTime(2 ** 31 + 999)
    expect(ran).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(ran).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})

test('run no work after they are closed', async () => {
  const timers = createTimers()
  const ran = vi.fn()
  timers.schedule(5, ran)
  timers.close()
  timers.schedule(5, ran)
  await sleep(30)
  expect(ran).not.toHaveBeenCalled()
})

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuse the speed %s', (speed) => {
  expect(() => createTimers({ speed })).toThrow(RangeError)
})
