import { describe, expect, test } from 'vitest'
import { createReadDeadline, createSilenceClock } from '../../src/transport/read-deadline.ts'

/** A deadline of 100 ms with a manual clock. */
function scene() {
  let time = 1000
  const silence = createSilenceClock(() => time)
  const pass = (milliseconds: number): void => {
    time += milliseconds
  }
  return { silence, deadline: createReadDeadline(100, silence), pass }
}

describe('remaining time', () => {
  test('decreases for a read without a response, also in the queue', () => {
    const { deadline, pass } = scene()
    pass(60)
    expect(deadline.remaining()).toBe(40)
    pass(60)
    expect(deadline.remaining()).toBe(0)
  })

  test('does not decrease while others get responses', () => {
    const { deadline, silence, pass } = scene()
    for (let turn = 0; turn < 5; turn += 1) {
      pass(60)
      silence.recordResponse(0)
    }
    expect(deadline.remaining()).toBe(100)
  })

  test('decreases with each try of the read, even if others get responses', () => {
    const { deadline, silence, pass } = scene()
    pass(30)
    deadline.spend(30)
    silence.recordResponse(0)
    expect(deadline.remaining()).toBe(70)
    deadline.spend(80)
    expect(deadline.remaining()).toBe(0)
  })

  test('does not decrease during a pause that the server requests', () => {
    const { deadline, silence, pass } = scene()
    silence.recordResponse(500)
    pass(550)
    expect(deadline.remaining()).toBe(50)
  })

  test('a response to an earlier request resets the time only to the start of the read', () => {
    const { silence, pass } = scene()
    silence.recordResponse(0)
    pass(1000)
    expect(createReadDeadline(100, silence).remaining()).toBe(100)
  })
})

test('the watch ends at the deadline, or later after other responses', async () => {
  const silence = createSilenceClock()
  const deadline = createReadDeadline(100, silence)
  const begun = performance.now()
  const { signal, end } = deadline.watch()
  setTimeout(() => silence.recordResponse(0), 60)
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  end()
  expect(performance.now() - begun).toBeGreaterThanOrEqual(155)
})
