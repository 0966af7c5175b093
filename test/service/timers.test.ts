import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTimers } from '../../src/service/time.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('run the work once, on time and in order', () => {
  const timers = createTimers()
  const ran: string[] = []
  timers.schedule(40, () => ran.push('later'))
  timers.schedule(10, () => ran.push('sooner'))
  timers.schedule(-5, () => ran.push('at once'))
  timers.schedule(5, () => ran.push('never')).cancel()
  expect(ran).toEqual([])
  vi.advanceTimersByTime(39)
  expect(ran).toEqual(['at once', 'sooner'])
  vi.advanceTimersByTime(80)
  expect(ran).toEqual(['at once', 'sooner', 'later'])
})

test('run faster with a speed, and so does the clock', () => {
  let real = 1_000_000
  const timers = createTimers({ clock: () => real, speed: 3600 })
  expect(timers.now()).toBe(1_000_000)
  real += 1000
  expect(timers.now()).toBe(1_000_000 + 3_600_000)
  const ran = vi.fn()
  timers.schedule(36_000, ran)
  vi.advanceTimersByTime(10)
  expect(ran).toHaveBeenCalledOnce()
})

test('can wait longer than a system timer', () => {
  const timers = createTimers()
  const ran = vi.fn()
  timers.schedule(2 ** 31 + 1000, ran)
  vi.advanceTimersByTime(2 ** 31 + 999)
  expect(ran).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(ran).toHaveBeenCalledOnce()
})

test('run no work after they are closed', () => {
  const timers = createTimers()
  const ran = vi.fn()
  timers.schedule(5, ran)
  timers.close()
  timers.schedule(5, ran)
  vi.advanceTimersByTime(30)
  expect(ran).not.toHaveBeenCalled()
})

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuse the speed %s', (speed) => {
  expect(() => createTimers({ speed })).toThrow(RangeError)
})
