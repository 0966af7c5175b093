import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { makeKeyFile, readKeyFile } from '../../../src/service/secrets/key-file.ts'
import { createSecretKeyRow, createSecrets, keysFromText, setKeyId } from '../../../src/service/secrets/secrets.ts'
import { openSqlite } from '../../../src/service/store/sqlite/open-sqlite.ts'
import { afterThisFile } from '../../support/after-file.ts'
import { temporaryDirectory } from '../harness.ts'

const KEY = '0123456789abcdef0123456789abcdef'
const NEW = 'fedcba9876543210fedcba9876543210'
const keys = keysFromText(KEY)
const secrets = createSecrets(keys)
const database = await openSqlite(temporaryDirectory())
afterThisFile(() => database.close())

const seal = (text: string, context: string, ring = keys): Promise<string> =>
  database.write(async (connection) => {
    await createSecretKeyRow(connection)
    await setKeyId(connection, ring.newest().id)
    return createSecrets(ring).seal(connection, text, context)
  })

test('a sealed secret opens only with the same key and context', async () => {
  const sealed = await seal('Gotham City ü', 'answer 1 2')
  expect(sealed).toMatch(/^aes:[0-9a-f]{16}:[A-Za-z0-9+/]+=*$/)
  expect(sealed).not.toContain('Gotham')
  expect(await seal('Gotham City ü', 'answer 1 2')).not.toBe(sealed)
  expect(secrets.open(sealed, 'answer 1 2')).toBe('Gotham City ü')
  expect(() => secrets.open(sealed, 'answer 2 2')).toThrow('cannot be decrypted')
  expect(() => createSecrets(keysFromText(NEW)).open(sealed, 'answer 1 2')).toThrow('add that key and restart it')
  const damaged = `${sealed.slice(0, -6)}${sealed.at(-6) === 'A' ? 'B' : 'A'}${sealed.slice(-5)}`
  expect(() => secrets.open(damaged, 'answer 1 2')).toThrow('cannot be decrypted')
  expect(() => secrets.open(sealed.slice(0, 30), 'answer 1 2')).toThrow('cannot be decrypted')
})

test('of two keys, the current one seals and both open', async () => {
  const both = keysFromText(`${NEW}, ${KEY}`)
  const former = await seal('former', 'phone 1')
  const present = await seal('present', 'phone 1', both)
  expect([former, present].map((sealed) => createSecrets(both).open(sealed, 'phone 1'))).toEqual(['former', 'present'])
  expect(() => secrets.open(present, 'phone 1')).toThrow('which this process does not have')
})

test('a key file is created once, also concurrently', async () => {
  const path = join(temporaryDirectory(), 'secrets.key')
  const program = `${await bundled('src/service/secrets/key-file.ts')}\nmakeKeyFile(${JSON.stringify(path)})\nprocess.stdout.write(readKeyFile(${JSON.stringify(path)}).join())`
  const run = promisify(execFile)
  const read = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, ['--input-type=module', '--eval', program]).then(({ stdout }) => stdout)),
  )
  expect(new Set(read).size).toBe(1)
  expect(read[0]).toMatch(/^[A-Za-z0-9+/]{43}=$/)
  expect(readdirSync(dirname(path))).toEqual(['secrets.key'])
  makeKeyFile(path)
  expect(readKeyFile(path)).toEqual([read[0]])
})

/** A module as text, with its exports as names. */
async function bundled(file: string): Promise<string> {
  const entryPoints = [fileURLToPath(new URL(`../../../${file}`, import.meta.url))]
  const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: 'esm', platform: 'node' })
  return outputFiles[0]?.text as string
}

test('a key that is not current seals nothing', async () => {
  await seal('x', 'phone 1')
  await expect(database.write((connection) => createSecrets(keysFromText(NEW)).seal(connection, 'x', 'phone 1'))).rejects.toThrow(
    'which this process does not have',
  )
})

test.each([
  ['that are too short', 'short', 'needs at least 32 characters'],
  ['with a short one', `${KEY},short`, 'needs at least 32 characters'],
  ['that are equal', `${KEY},${KEY}`, 'the same key twice'],
  ['with one empty', `${KEY},`, 'needs at least 32 characters'],
  ['of which there are three', `${KEY},${NEW},${KEY}x`, 'more than 2 keys'],
])('keys %s are refused', (_name, text, message) => {
  expect(() => keysFromText(text)).toThrow(RangeError)
  expect(() => keysFromText(text)).toThrow(message)
  expect(() => keysFromText(text)).not.toThrow(KEY)
})
