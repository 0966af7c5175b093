/** The account profile through the client library of the hosting service's own web front end, unchanged except for the address. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as library from '@linode/api-v4'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { readSeed } from '../../../src/service/index.ts'
import { startForTest, temporaryDirectory } from '../harness.ts'
import { SSH_KEYS } from '../profile/ssh-key-samples.ts'
import { directTo } from './direct-to.ts'

// biome-ignore lint/suspicious/noExplicitAny: the package's declarations name their files without extension, so that none is found
const client = library as any

const user = {
  username: 'alice',
  email: 'alice@example.com',
  tokens: [{ token: 'alice' }],
  apps: [{ label: 'dashboard', tokens: ['dashboard'] }],
  devices: [{ user_agent: 'Mozilla/5.0' }],
}
const { seed } = readSeed(JSON.stringify({ accounts: [{ users: [user] }] }), 'seed.json')
const messages = join(temporaryDirectory(), 'sms')
const { service } = await startForTest({ seed, smsSink: { kind: 'file', path: messages } })
directTo(service.baseUrl, () => 'alice')

test('SSH keys', async () => {
  const key = await client.createSSHKey({ label: 'laptop', ssh_key: SSH_KEYS['ecdsa-sha2-nistp256'] })
  expect(await client.getSSHKeys()).toMatchObject({ data: [key], results: 1 })
  expect(await client.updateSSHKey(key.id, { label: 'desktop' })).toEqual({ ...key, label: 'desktop' })
  expect(await client.getSSHKey(key.id)).toMatchObject({ label: 'desktop' })
  expect(await client.deleteSSHKey(key.id)).toEqual({})
})

test('apps, devices and logins', async () => {
  const [app] = (await client.getAppTokens()).data
  expect(await client.getAppToken(app.id)).toEqual(app)
  expect(await client.deleteAppToken(app.id)).toEqual({})
  const [device] = (await client.getTrustedDevices()).data
  expect(await client.deleteTrustedDevice(device.id)).toEqual({})
  expect((await client.getLogins()).data).toMatchObject([{ username: 'alice', status: 'successful', restricted: false }])
})

test('preferences', async () => {
  expect(await client.getUserPreferences()).toEqual({})
  expect(await client.updateUserPreferences({ theme: 'dark', sortKeys: { linodes: { order: 'asc' } } })).toEqual(
    await client.getUserPreferences(),
  )
})

test('security questions, then the second factor', async () => {
  const { security_questions: questions } = await client.getSecurityQuestions()
  const answers = questions.slice(0, 3).map(({ id, question }: { id: number; question: string }) => ({
    question_id: id,
    response: 'the answer',
    security_question: question,
  }))
  expect(await client.updateSecurityQuestions({ security_questions: answers })).toEqual({ security_questions: answers })
  const { secret } = await client.getTFAToken()
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  expect(await client.confirmTwoFactor(code)).toEqual({ scratch: expect.any(String) })
  expect(await client.getProfile()).toMatchObject({ two_factor_auth: true })
  expect(await client.disableTwoFactor()).toEqual({})
  expect(await client.getProfile()).toMatchObject({ two_factor_auth: false })
})

test('the phone number', async () => {
  await client.sendCodeToPhoneNumber({ iso_code: 'US', phone_number: '2015550123' })
  const [, code] = /code is (\d{6})/.exec(readFileSync(messages, 'utf8')) ?? []
  await client.verifyPhoneNumberCode({ otp_code: code })
  expect(await client.getProfile()).toMatchObject({ verified_phone_number: '+12015550123' })
  expect(await client.smsOptOut()).toEqual({})
  expect(await client.getProfile()).toMatchObject({ verified_phone_number: null })
})
