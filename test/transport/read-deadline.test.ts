import { describe, expect, test } from 'vitest'
import { createReadDeadline, createResponseWatch } from '../../src/transport/retry.ts'

/** A deadline of 100 ms by a clock that is set by hand. */
function scene() {
  let time = 1000
  const answers = createResponseWatch(() => time)
  const pass = (milliseconds: number): void => {
    time += milliseconds
  }
  return { answers, deadline: createReadDeadline(100, answers), pass }
}

describe('what is left', () => {
  test('to a read nobody answers, while it waits for its turn', () => {
    const { deadline, pass } = scene()
    pass(60)
    expect(deadline.left()).toBe(40)
    pass(60)
    expect(deadline.left()).toBe(0)
  })

  test('all, while others are answered', () => {
    const { deadline, answers, pass } = scene()
    for (let turn = 0; turn < 5; turn += 1) {
      pass(60)
      answers.note(0)
    }
    expect(deadline.left()).toBe(100)
  })

  test('less with each try of its own, whoever else is answered', () => {
    const { deadline, answers, pass } = scene()
    pass(30)
    deadline.spend(30)
    answers.note(0)
    expect(deadline.left()).toBe(70)
    deadline.spend(80)
    expect(deadline.left()).toBe(0)
  })

  test('as much as before a pause the server asked for', () => {
    const { deadline, answers, pass } = scene()
    answers.note(500)
    pass(550)
    expect(deadline.left()).toBe(50)
  })

  test('an answer to what was asked before counts for nothing more than the beginning', () => {
    const { answers, pass } = scene()
    answers.note(0)
    pass(1000)
    expect(createReadDeadline(100, answers).left()).toBe(100)
  })
})

test('the watch ends when the time does, and later by what was answered meanwhile', async () => {
  const answers = createResponseWatch()
  const deadline = createReadDeadline(100, answers)
  const begun = performance.now()
  const { signal, end } = deadline.watch()
  setTimeout(() => answers.note(0), 60)
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  end()
  expect(performance.now() - begun).toBeGreaterThanOrEqual(155)
})
