import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { createSecrets, keysFromText } from '../../../../src/service/secrets/secrets.ts'
import { contextOfPhoneCode } from '../../../../src/service/store/user-secret-store.ts'
import { type Client, connect, freshStore, openStore, TEST_KEY } from '../../harness.ts'
import { serviceProcesses } from '../../service-process.ts'

const start = serviceProcesses()

/** Sends a code to both processes several times concurrently; returns the successful responses. */
async function race(clients: readonly Client[], path: string, body: object) {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => (clients[index % 2] as Client).call('POST', path, body)))
  return answers.filter(({ status }) => status === 200)
}

test('only one of two processes accepts a code, once', async () => {
  const store = await freshStore()
  const processes = [await start(store), await start(store)]
  const clients = processes.map(({ baseUrl }) => connect(baseUrl, 'bootstrap').client)
  const [client] = clients as [Client]
  const security_questions = [1, 2, 3].map((question_id) => ({ question_id, response: 'answer' }))
  await client.ok('POST', '/profile/security-questions', { security_questions })
  const { secret } = await client.ok('POST', '/profile/tfa-enable')
  const tfa_code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  const taken = await race(clients, '/profile/tfa-enable-confirm', { tfa_code })
  expect(taken).toHaveLength(1)
  // Wrong codes are counted and would also block the scratch code.
  const database = await openStore(store)
  await database.write((connection) => connection.updateTable('second_factors').set({ failures: 0 }).execute())
  expect(await race(clients, '/profile/tfa-enable-confirm', { tfa_code: taken[0]?.body.scratch })).toHaveLength(1)

  await client.ok('POST', '/profile/phone-number', { iso_code: 'US', phone_number: '201-555-0123' })
  const { code } = await database.read((connection) => connection.selectFrom('phone_codes').select('code').executeTakeFirstOrThrow())
  await database.close()
  expect(
    await race(clients, '/profile/phone-number/verify', {
      otp_code: createSecrets(keysFromText(TEST_KEY)).open(code, contextOfPhoneCode(1)),
    }),
  ).toHaveLength(1)
  for (const each of clients)
    expect(await each.ok('GET', '/profile')).toMatchObject({ two_factor_auth: true, verified_phone_number: '+12015550123' })
  // All requests of a day are one login, in any process.
  expect((await client.ok('GET', '/profile/logins')).results).toBe(1)
})
