import { expect, test } from 'vitest'
import type { RecordRow } from '../../src/report/change-rows.ts'
import { paletteOf } from '../../src/report/palette.ts'
import { layoutRows } from '../../src/report/row-layout.ts'

const rowOf = (name: string, type: string, data: string, ...places: readonly string[]): RecordRow => ({
  ...{ subject: 'record', marker: '+', change: 0, id: null, state: null, notes: [], sameCall: null },
  ...{ name, ttl: '86400 (default)', type, data, places },
})

const ROWS = [
  rowOf('@', 'A', '192.0.2.1'),
  rowOf('mail', 'CNAME', 'mail-hosts.eu.example.net.'),
  rowOf('selector1._domainkey', 'TXT', `"v=DKIM1; p=${'k'.repeat(200)}"`),
  rowOf('web', 'A', '192.0.2.2', 'zones/web.ts:12:3', 'zones/web.ts:40:1'),
]

const layout = (width: number | null): string =>
  `\n${layoutRows(ROWS, { palette: paletteOf(false), width, longestValue: 100, calls: false, prefix: (marker) => `${marker} ` })
    .flat()
    .join('\n')}\n`

test('on a narrow terminal, names leave room for data, and data without room is on its own line', () => {
  expect(layout(60)).toBe(`
+ @     86400 (default)  A      192.0.2.1
+ mail  86400 (default)  CNAME  mail-hosts.eu.example.net.
+ selector1._domainkey  86400 (default)  TXT
    "v=DKIM1; p=kkkkkkkkkkkkkkkkkkkkkkkkkk… (213 characters)
+ web   86400 (default)  A      192.0.2.2  zones/web.ts:12:3
`)
  expect(layout(50)).toContain(`
+ mail  86400 (default)  CNAME
    mail-hosts.eu.example.net.
`)
  expect(layout(50)).toMatch(/\+ web .* 192\.0\.2\.2\n {4}zones\/web\.ts:12:3\n$/)
})

test.each([80, 200, null])('%j columns: aligned, one line for each record', (width) => {
  const lines = layout(width).trim().split('\n')
  expect(lines).toHaveLength(4)
  expect(new Set(lines.map((line) => line.search(/ {2}(?:A|CNAME|TXT) {2}/)))).toEqual(new Set([39]))
  expect(lines[3]).toMatch(/ A {6}192\.0\.2\.2 {2}zones\/web\.ts:12:3$/)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(width ?? 150)
})
