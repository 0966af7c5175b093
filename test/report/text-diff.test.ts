import { expect, test } from 'vitest'
import { textDiff } from '../../src/report/text-diff.ts'

const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`)
const text = (all: readonly string[]): string => `${all.join('\n')}\n`

test('two places far apart are two hunks', () => {
  const before = lines(40)
  const after = before.with(4, 'five').toSpliced(30, 1)
  expect(textDiff('a.yml', text(before), text(after))).toBe(`--- a.yml
+++ a.yml
@@ -2,7 +2,7 @@
 line 2
 line 3
 line 4
-line 5
+five
 line 6
 line 7
 line 8
@@ -28,7 +28,6 @@
 line 28
 line 29
 line 30
-line 31
 line 32
 line 33
 line 34
`)
})

test('texts without a common line are shown one after the other, in a moment', () => {
  const diff = textDiff('a', text(lines(12_000)), text(lines(12_000).map((line) => `${line}!`)))
  expect(diff.slice(0, 60)).toMatch(/^--- a\n\+\+\+ a\n@@ -1,12000 \+1,12000 @@\n-line 1\n/)
  expect(diff.split('\n')).toHaveLength(24_004)
})

test('control characters are escaped, a line end of Windows is not shown', () => {
  expect(textDiff('a', 'x\r\n', 'x\x1b[31m\n')).toBe('--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+x\\u001b[31m\n')
})
