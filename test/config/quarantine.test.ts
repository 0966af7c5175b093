import { expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'

const read = (text: string) => readConfig(`${text}\n`, { file: 'zonewright.yaml', folder: '/srv/dns', cwd: '/srv' })

test.each([
  ['', { reads: 3, seconds: 1800 }],
  ['quarantine: {reads: 1, for: 0}', { reads: 1, seconds: 0 }],
  ['quarantine: {reads: 1000}', { reads: 1000, seconds: 1800 }],
  ['quarantine: {for: 30d}', { reads: 3, seconds: 2_592_000 }],
])('a config with %j', (text, rule) => expect(read(text).config?.quarantine).toEqual(rule))

test.each([
  ['{reads: 0}', '1:21 "quarantine.reads" must be >= 1'],
  ['{reads: 1001}', '1:21 "quarantine.reads" must be <= 1000'],
  ['{reads: 2.5}', '1:21 "quarantine.reads" must be a whole number'],
  ['{for: -1}', '1:19 "quarantine.for" must be >= 0'],
  ['{for: 31d}', '1:19 "quarantine.for": it is more than 30 days'],
  ['{for: soon}', '1:19 "quarantine.for" must match pattern'],
  ['{for: ~}', '1:14 "quarantine.for" must be a whole number or text'],
  ['[3]', '1:13 "quarantine" must be keys with values'],
])('quarantine: %s is an error with its place', (text, message) => {
  const [found = '', ...others] = read(`quarantine: ${text}`).diagnostics.map((one) => `${one.at?.line}:${one.at?.column} ${one.message}`)
  expect(found).toContain(message)
  expect(others).toEqual([])
})
