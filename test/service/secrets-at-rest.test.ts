/** Secrets that the service must read back are in no file of its database, and in no backup. */
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { describe, expect, test } from 'vitest'
import { backUpService, restoreService } from '../../src/service/backup.ts'
import { startService } from '../../src/service/index.ts'
import { during, filledStores, freshDatabase, freshStore, LOOPBACK, ON_POSTGRES, placeOf, TEST_KEY, temporaryDirectory } from './harness.ts'
import { filesWith, runSql } from './raw-files.ts'
import { answered, keyFile, responsesOf } from './security-answers.ts'

const OTHER_KEY = 'another key of the secrets of enough characters'

/** A unique text of the allowed length. */
const needle = (): string => `x${randomBytes(8).toString('hex')}`
const PHONE = { iso_code: 'US', phone_number: '201-555-0123' }

test('no file contains answers, second-factor secrets or the key, while the service runs and afterwards', async () => {
  const store = await freshStore()
  const sms = join(temporaryDirectory(), 'sms.jsonl')
  const answers = [needle(), needle(), needle()]
  const oldKeyId = [needle(), needle(), needle()]
  const backup = join(temporaryDirectory(), 'all.backup')
  const label = needle()
  const secrets = await during({ ...store, smsSink: { kind: 'file', path: sms } }, async (client) => {
    await client.ok('POST', '/profile/security-questions', answered(...oldKeyId))
    await client.ok('POST', '/profile/security-questions', answered(...answers))
    const { secret: confirmed } = await client.ok('POST', '/profile/tfa-enable')
    await client.ok('POST', '/profile/tfa-enable-confirm', { tfa_code: new TOTP({ secret: Secret.fromBase32(confirmed) }).generate() })
    const { secret: pending } = await client.ok('POST', '/profile/tfa-enable')
    await client.ok('POST', '/profile/phone-number', PHONE)
    // Public data is found: the search works.
    await client.ok('POST', '/domains', {
      domain: 'strings.example',
      type: 'master',
      soa_email: 'hostmaster@example.com',
      description: label,
    })
    const hidden = [...answers, ...oldKeyId, confirmed, pending, store.secretsKey ?? readFileSync(keyFile(store), 'utf8').trim()]
    await backUpService(placeOf(store), backup)
    expect(await filesWith(store, label)).not.toEqual([])
    expect(await filesWith(store, ...hidden)).toEqual([])
    expect(await responsesOf(client)).toEqual(answers)
    return hidden
  })
  const code = /\d{6}/.exec(JSON.parse(readFileSync(sms, 'utf8')).text)?.[0] as string
  const saved = readFileSync(backup, 'utf8')
  expect(saved).toContain(label)
  expect(await filesWith(store, ...secrets)).toEqual([])
  for (const text of secrets) expect(saved).not.toContain(text)
  // Six digits occur by chance in any file; a code would be in a line of the backup.
  const [phone = ''] = saved.split('\n').filter((line) => line.includes('+12015550123'))
  expect(phone).toContain('"aes:')
  expect(phone).not.toContain(code)
})

describe('a start', () => {
  const usedStore = filledStores(async () => {
    const store = await freshStore()
    await during(store, (client) => client.ok('POST', '/profile/security-questions', answered('one', 'two', 'three')))
    return store
  })

  test.skipIf(ON_POSTGRES)('never creates a new key for a database with secrets', async () => {
    const store = await usedStore()
    const key = readFileSync(keyFile(store), 'utf8')
    expect(key).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
    rmSync(keyFile(store))
    await expect(during(store, responsesOf)).rejects.toThrow(/their key is missing: restore the key file \S+secrets\.key, or set /)
    expect(existsSync(keyFile(store))).toBe(false)
    // The same key from the environment works, too.
    expect(await during({ ...store, secretsKey: key.trim() }, responsesOf)).toEqual(['one', 'two', 'three'])
  })

  test.skipIf(ON_POSTGRES)('creates a new key if nothing is encrypted with the missing one', async () => {
    const store = await usedStore()
    await runSql(store, ['delete from security_answers'])
    rmSync(keyFile(store))
    const answers = ['four', 'five', 'six']
    await during(store, (client) => client.ok('POST', '/profile/security-questions', answered(...answers)))
    expect(await during(store, responsesOf)).toEqual(answers)
  })

  test.skipIf(!ON_POSTGRES)('on PostgreSQL requires the key, unless it serves no HTTP', async () => {
    const database = await freshDatabase()
    await expect(during({ database }, responsesOf)).rejects.toThrow(
      'PostgreSQL requires ZONEWRIGHT_SECRETS_KEY, the same key for all processes',
    )
    await (await startService({ dataFolder: null, database, listen: null, dns: LOOPBACK })).stop()
  })

  test('with another key is refused, and succeeds with the right key afterwards', async () => {
    const store = await usedStore()
    await expect(during({ ...store, secretsKey: OTHER_KEY }, responsesOf)).rejects.toThrow(
      /is encrypted with another key \([0-9a-f]{16}\); during a key rotation/,
    )
    const right = store.secretsKey ?? readFileSync(keyFile(store), 'utf8').trim()
    expect(await during({ ...store, secretsKey: `${OTHER_KEY},${right}` }, responsesOf)).toEqual(['one', 'two', 'three'])
  })

  test.skipIf(!ON_POSTGRES)('is refused for one of two processes with different keys', async () => {
    const store = await freshStore()
    const both = await Promise.allSettled(
      [TEST_KEY, OTHER_KEY].map((secretsKey) => startService({ ...store, secretsKey, listen: LOOPBACK, dns: null })),
    )
    for (const start of both) if (start.status === 'fulfilled') await start.value.stop()
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('on restored data requires the key', async () => {
    const store = await usedStore()
    const backup = join(temporaryDirectory(), 'all.backup')
    await backUpService(placeOf(store), backup)
    const dataFolder = temporaryDirectory()
    await restoreService({ dataFolder }, backup)
    await expect(during({ dataFolder }, responsesOf)).rejects.toThrow('their key is missing')
    if (store.secretsKey) expect(await during({ dataFolder, secretsKey: store.secretsKey }, responsesOf)).toEqual(['one', 'two', 'three'])
    else {
      copyFileSync(keyFile(store), join(dataFolder, 'secrets.key'))
      expect(await during({ dataFolder }, responsesOf)).toEqual(['one', 'two', 'three'])
    }
    expect(readdirSync(dataFolder).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})
