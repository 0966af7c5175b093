import { expect, test } from 'vitest'
import { estimateOfRest } from '../../src/cli/output.ts'

test.each([
  [1_999, 10, 100, ''],
  [2_000, 0, 100, ''],
  [2_000, 100, 100, ''],
  [3_000, 50, 100, ', about 3 s left'],
  [8_276, 120, 3600, ', about 4 min left'],
  [100_000, 10, 1000, ', about 2 h 50 min left'],
])('the rest after %i ms with %i of %i done', (elapsed, done, total, text) => {
  expect(estimateOfRest(elapsed, done, total)).toBe(text)
})
