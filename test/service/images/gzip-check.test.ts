import { deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { checkGzip, GzipProblem } from '../../../src/service/images/gzip-check.ts'
import { fc } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'

const DATA = Buffer.from('a raw disk image '.repeat(20_000))
const WHOLE = gzipSync(DATA)

/** The result of checking a file in chunks of a size: its inflated size, or the problem. */
async function check(file: Buffer, { piece = 1000, most = 1e9 } = {}): Promise<number | string> {
  const gzip = checkGzip(most)
  try {
    for (let at = 0; at < file.length; at += piece) await gzip.write(file.subarray(at, at + piece))
    return await gzip.end()
  } catch (error) {
    if (!(error instanceof GzipProblem)) throw error
    return error.message
  } finally {
    gzip.close()
  }
}

const changed = (at: number): Buffer => {
  const file = Buffer.from(WHOLE)
  const index = at < 0 ? file.length + at : at
  file[index] = (file[index] as number) ^ 0xff
  return file
}

test.each<[string, Buffer, number]>([
  ['of one member', WHOLE, DATA.length],
  ['of nothing', gzipSync(Buffer.alloc(0)), 0],
  ['with padding', Buffer.concat([WHOLE, Buffer.alloc(512)]), DATA.length],
  ['of several members', Buffer.concat([WHOLE, gzipSync('end'), WHOLE]), 2 * DATA.length + 3],
])('%s is complete in chunks of any size', async (_name, file, octets) => {
  for (const piece of [1, 7, 1000, 1_000_000]) {
    if (piece > 1 || file.length < 2000) expect(await check(file, { piece })).toBe(octets)
  }
})

test.each<[string, Buffer, RegExp]>([
  ['nothing at all', Buffer.alloc(0), /unexpected end of file/],
  ['another format', Buffer.from('not gzip at all'), /incorrect header check/],
  ['zlib data', deflateSync(DATA), /incorrect header check/],
  ['another method', changed(2), /unknown compression method/],
  ['damaged data', changed(500), /./],
  ['a wrong CRC', changed(-8), /incorrect data check/],
  ['a wrong ISIZE', changed(-1), /incorrect length check/],
  ['a part', WHOLE.subarray(0, -1), /unexpected end of file/],
  ['half of it', WHOLE.subarray(0, WHOLE.length / 2), /unexpected end of file/],
  ['a header alone', WHOLE.subarray(0, 10), /unexpected end of file/],
  ['text after it', Buffer.concat([WHOLE, Buffer.from('text')]), /incorrect header check|unexpected end|more after/],
  ['text after zeros after it', Buffer.concat([WHOLE, Buffer.alloc(512), Buffer.from('text')]), /there is data after its end/],
  ['half a member after it', Buffer.concat([WHOLE, WHOLE.subarray(0, 20)]), /unexpected end of file/],
])('%s is refused', async (_name, file, problem) => {
  for (const piece of [3, WHOLE.length, 1_000_000]) expect(String(await check(file, { piece }))).toMatch(problem)
})

test('is refused for its inflated size, early', async () => {
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024), { level: 9 })
  expect(await check(bomb, { piece: bomb.length, most: 1024 * 1024 })).toBe('it inflates to more than 1048576 octets')
  expect(await check(bomb, { piece: bomb.length, most: 8 * 1024 * 1024 })).toBe(8 * 1024 * 1024)
})

test('any other data gets a result', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(WHOLE.length), fc.nat(99), async (junk, at, drop) => {
      const file = Buffer.concat([WHOLE.subarray(0, at), junk, WHOLE.subarray(at + drop)])
      const result = await check(file, { piece: 977 })
      if (!file.equals(WHOLE) && typeof result === 'number') expect(result).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: rounds(200) },
  )
})
