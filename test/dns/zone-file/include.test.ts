import { expect, test } from 'vitest'
import { createZoneFileReader, type ZoneFileSummary } from '../../../src/dns/zone-file/parse-zone-file.ts'
import type { ReadZoneInclude } from '../../../src/dns/zone-file/scope.ts'
import { lines, ORIGIN, parse, problems } from './zone-text.ts'

/** A reader of files in memory. */
const filesOf =
  (files: Readonly<Record<string, string>>): ReadZoneInclude =>
  (path) => {
    const text = files[path]
    return text === undefined ? { ok: false, message: `${path} does not exist` } : { ok: true, value: { file: path, text } }
  }

/** Parses a text in pieces of `size` characters. */
function inPieces(text: string, size: number, include: ReadZoneInclude): ZoneFileSummary {
  const reader = createZoneFileReader({ origin: ORIGIN, file: 'zone', include }, () => {})
  for (let i = 0; i < text.length; i += size) reader.push(text.slice(i, i + size))
  return reader.end()
}

test('a file has its own origin, owner and TTL, initially those of the parent', () => {
  const include = filesOf({ b: ' 6 A 192.0.2.2\nb A 192.0.2.3\n$TTL 7\n$ORIGIN other.\nb A 192.0.2.4', c: 'c 8 A 192.0.2.5' })
  const parsed = parse('$TTL 5\na A 192.0.2.1\n$INCLUDE b\n A 192.0.2.6\n$INCLUDE "c" sub ; with an origin\nd A 192.0.2.7', { include })
  expect(problems(parsed)).toEqual(['3:1 warning[zonefile-ttl]'])
  expect(lines(parsed.records)).toEqual([
    'a.example.com. 5 A 192.0.2.1',
    'a.example.com. 6 A 192.0.2.2',
    'b.example.com. 5 A 192.0.2.3',
    'b.other. 7 A 192.0.2.4',
    'a.example.com. 5 A 192.0.2.6',
    'c.sub.example.com. 8 A 192.0.2.5',
    'd.example.com. 5 A 192.0.2.7',
  ])
  expect(parsed.records.map(({ at }) => `${at.file}:${at.line}`)).toEqual(['zone:2', 'b:1', 'b:2', 'b:5', 'zone:4', 'c:1', 'zone:6'])
  expect(parsed.includedFiles).toEqual(['b', 'c'])
})

test.each([
  ['a record that inherits the TTL of the file', '$TTL 5\n$INCLUDE b\n\n; x\na A 192.0.2.1\n', ['2:1 warning[zonefile-ttl]']],
  ['a parent without a TTL', '$INCLUDE b\na A 192.0.2.1\n', ['1:1 warning[zonefile-ttl]']],
  ['two such records, one warning', '$TTL 5\n$INCLUDE b\n$INCLUDE b\na A 192.0.2.1\n', ['2:1 warning[zonefile-ttl]']],
  ['the same TTL', '$TTL 7\n$INCLUDE b\na A 192.0.2.1\n', []],
  ['no record below', '$TTL 5\n$INCLUDE b\n\n; x', []],
  ['another TTL below', '$TTL 5\n$INCLUDE b\n\n; x\n$ttl 6\na A 192.0.2.1\n', []],
])('warns if other servers would inherit the TTL of the file: %s', (_, text, expected) => {
  const include = filesOf({ b: '$TTL 7\nb A 192.0.2.9\n' })
  expect(problems(parse(text, { include }))).toEqual(expected)
  for (let size = 1; size <= text.length; size += 1) expect(problems(inPieces(text, size, include)), `pieces of ${size}`).toEqual(expected)
})

test('the caller may parse another zone file meanwhile', () => {
  const others: string[] = []
  const include: ReadZoneInclude = (path) => {
    others.push(...lines(parse('$TTL 9\nother A 192.0.2.9\n MX 10 @\n').records))
    return { ok: true, value: { file: path, text: `${path} A 192.0.2.2\n TXT "${path}"` } }
  }
  const parsed = parse('$TTL 5\na A 192.0.2.1\n$INCLUDE b\n A 192.0.2.6\n$INCLUDE c\n A 192.0.2.7\n', { include })
  expect(problems(parsed)).toEqual([])
  expect(lines(parsed.records)).toEqual([
    'a.example.com. 5 A 192.0.2.1',
    'b.example.com. 5 A 192.0.2.2',
    'b.example.com. 5 TXT "b"',
    'a.example.com. 5 A 192.0.2.6',
    'c.example.com. 5 A 192.0.2.2',
    'c.example.com. 5 TXT "c"',
    'a.example.com. 5 A 192.0.2.7',
  ])
  const other = ['other.example.com. 9 A 192.0.2.9', 'other.example.com. 9 MX 10 example.com.']
  expect(others).toEqual([...other, ...other])
})

test('the caller gets the including file', () => {
  const asked: string[] = []
  const include: ReadZoneInclude = (path, from) => {
    asked.push(`${from} -> ${path}`)
    return { ok: true, value: { file: `dir/${path}`, text: path === 'a' ? '$INCLUDE b' : '' } }
  }
  parse('$INCLUDE a', { include })
  expect(asked).toEqual(['zone -> a', 'dir/a -> b'])
})

test.each([
  ['a file that is missing', '$INCLUDE x', {}, ['1:10 error[zonefile-include]']],
  ['no file name', '$INCLUDE', {}, ['1:9 error[zonefile-directive]']],
  ['too many operands', '$INCLUDE a b c', { a: '' }, ['1:14 error[zonefile-directive]']],
  ['an invalid origin', '$INCLUDE a b..', { a: '' }, ['1:12 error[name-invalid]']],
  ['an error in the file', '$INCLUDE a', { a: '\nx 1 A y' }, ['a:2:7 error[value-invalid]']],
  ['a cycle', '$INCLUDE a', { a: '$INCLUDE b', b: '$INCLUDE a' }, ['b:1:10 error[zonefile-include]']],
  ['a file that includes itself', '$INCLUDE zone', { zone: '' }, ['1:10 error[zonefile-include]']],
] as const)('%s', (_, text, files, expected) => expect(problems(parse(text, { include: filesOf(files) }))).toEqual(expected))

test('is an error without a file reader', () => expect(problems(parse('$INCLUDE a'))).toEqual(['1:10 error[zonefile-include]']))

test('a file can be included twice, but nesting is limited', () => {
  const include = filesOf({ a: 'a 1 A 192.0.2.1' })
  expect(parse('$INCLUDE a\n$INCLUDE a\n', { include }).records).toHaveLength(2)
  const bomb: ReadZoneInclude = (path) => ({ ok: true, value: { file: path, text: `$INCLUDE ${path}x\n$INCLUDE ${path}y\n` } })
  expect(parse('$INCLUDE a', { include: bomb }).diagnostics.at(-1)?.code).toBe('zonefile-too-large')
})
