import { describe, expect, test } from 'vitest'
import { createReadDeadline, createResponseWatch } from '../../src/transport/retry.ts'

/** A deadline of 100 ms with a manual clock. */
function scene() {
  let time = 1000
  const answers = createResponseWatch(() => time)
  const pass = (milliseconds: number): void => {
    time += milliseconds
  }
  return { answers, deadline: createReadDeadline(100, answers), pass }
}

describe('remaining time', () => {
  test('decreases for a read without a response, also in the queue', () => {
    const { deadline, pass } = scene()
    pass(60)
    expect(deadline.left()).toBe(40)
    pass(60)
    expect(deadline.left()).toBe(0)
  })

  test('does not decrease while others get responses', () => {
    const { deadline, answers, pass } = scene()
    for (let turn = 0; turn < 5; turn += 1) {
      pass(60)
      answers.note(0)
    }
    expect(deadline.left()).toBe(100)
  })

  test('decreases with each try of the read, even if others get responses', () => {
    const { deadline, answers, pass } = scene()
    pass(30)
    deadline.spend(30)
    answers.note(0)
    expect(deadline.left()).toBe(70)
    deadline.spend(80)
    expect(deadline.left()).toBe(0)
  })

  test('does not decrease during a pause that the server requests', () => {
    const { deadline, answers, pass } = scene()
    answers.note(500)
    pass(550)
    expect(deadline.left()).toBe(50)
  })

  test('a response to an earlier request resets the time only to the start of the read', () => {
    const { answers, pass } = scene()
    answers.note(0)
    pass(1000)
    expect(createReadDeadline(100, answers).left()).toBe(100)
  })
})

test('the watch ends at the deadline, or later after other responses', async () => {
  const answers = createResponseWatch()
  const deadline = createReadDeadline(100, answers)
  const begun = performance.now()
  const { signal, end } = deadline.watch()
  setTimeout(() => answers.note(0), 60)
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  end()
  expect(performance.now() - begun).toBeGreaterThanOrEqual(155)
})
