import { Secret, TOTP } from 'otpauth'
import { describe, expect, test } from 'vitest'
import type { Client } from '../harness.ts'
import { DAY, MINUTE, SECOND, startClocked, textOf } from './clocked-service.ts'

const ANSWERS = {
  security_questions: [
    { question_id: 2, response: 'Ada' },
    { question_id: 11, response: 'Vienna' },
    { question_id: 19, response: 'Main Street' },
  ],
}

/** An authenticator with the user's secret. */
const authenticator = (secret: string) => {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  return (moment: number): string => totp.generate({ timestamp: moment })
}

const wrongFor = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const confirm = (client: Client, code: string) => client.call('POST', '/profile/tfa-enable-confirm', { tfa_code: code })
const hasFactor = async (client: Client): Promise<boolean> => (await client.ok('GET', '/profile')).two_factor_auth
const { newUser, now, pass } = await startClocked({ secretsKey: 'k'.repeat(32) })

/** A user with a second factor, and its codes. */
async function enabled() {
  const client = newUser()
  await client.ok('POST', '/profile/security-questions', ANSWERS)
  const { secret } = await client.ok('POST', '/profile/tfa-enable')
  const codeAt = authenticator(secret)
  const { scratch } = await client.ok('POST', '/profile/tfa-enable-confirm', { tfa_code: codeAt(now()) })
  return { client, codeAt, scratch: scratch as string }
}

describe('a second factor', () => {
  test('is enabled with answers, a secret and one of its codes', async () => {
    const client = newUser()
    expect(await client.problems('POST', '/profile/tfa-enable')).toEqual([
      'Answer three security questions before you enable two-factor authentication.',
    ])
    expect(await client.problems('POST', '/profile/tfa-enable-confirm', { tfa_code: '123456' })).toEqual([
      'There is no secret to confirm, or it has expired. Request a new one.',
    ])
    await client.ok('POST', '/profile/security-questions', ANSWERS)
    const issued = await client.ok('POST', '/profile/tfa-enable')
    expect(issued).toEqual({ secret: expect.stringMatching(/^[A-Z2-7]{32}$/), expiry: textOf(now() + 60 * MINUTE) })
    expect(await hasFactor(client)).toBe(false)
    const code = authenticator(issued.secret)(now())
    expect(await client.problems('POST', '/profile/tfa-enable-confirm', { tfa_code: wrongFor(code) })).toEqual([
      'tfa_code: tfa_code is not valid',
    ])
    expect(await hasFactor(client)).toBe(false)
    const confirmed = await client.ok('POST', '/profile/tfa-enable-confirm', { tfa_code: `${code.slice(0, 3)} ${code.slice(3)}` })
    expect(confirmed).toEqual({ scratch: expect.stringMatching(/^[A-Z2-7]{20}$/) })
    expect(await hasFactor(client)).toBe(true)
    expect(await client.ok('PUT', '/profile', { two_factor_auth: true })).toMatchObject({ two_factor_auth: true })
  })

  test.each<[string, number, boolean]>([
    ['two steps old', -60 * SECOND, false],
    ['one step old', -30 * SECOND, true],
    ['one step ahead', 30 * SECOND, true],
    ['two steps ahead', 60 * SECOND, false],
  ])('accepts a code %s: %s ms, %s', async (_name, drift, taken) => {
    const client = newUser()
    await client.ok('POST', '/profile/security-questions', ANSWERS)
    const { secret } = await client.ok('POST', '/profile/tfa-enable')
    expect((await confirm(client, authenticator(secret)(now() + drift))).status).toBe(taken ? 200 : 400)
  })

  test('refuses codes of an expired or replaced secret', async () => {
    const client = newUser()
    await client.ok('POST', '/profile/security-questions', ANSWERS)
    const first = authenticator((await client.ok('POST', '/profile/tfa-enable')).secret)
    const second = authenticator((await client.ok('POST', '/profile/tfa-enable')).secret)
    expect((await confirm(client, first(now()))).status).toBe(400)
    pass(60 * MINUTE)
    expect((await confirm(client, second(now()))).body.errors[0].reason).toBe(
      'There is no secret to confirm, or it has expired. Request a new one.',
    )
    expect(await hasFactor(client)).toBe(false)
  })

  test('accepts each code once, and no older ones', async () => {
    const { client, codeAt } = await enabled()
    expect((await confirm(client, codeAt(now()))).status).toBe(400)
    expect((await confirm(client, codeAt(now() - 30 * SECOND))).status).toBe(400)
    pass(30 * SECOND)
    const { body, status } = await confirm(client, codeAt(now()))
    expect([status, body]).toEqual([200, { scratch: expect.any(String) }])
    expect((await confirm(client, codeAt(now()))).status).toBe(400)
  })

  test('accepts the scratch code once instead', async () => {
    const { client, scratch } = await enabled()
    const renewed = await confirm(client, scratch.toLowerCase())
    expect(renewed.status).toBe(200)
    expect(renewed.body.scratch).not.toBe(scratch)
    expect((await confirm(client, scratch)).status).toBe(400)
    expect((await confirm(client, renewed.body.scratch)).status).toBe(200)
  })

  test('is replaced only by a confirmed secret', async () => {
    const { client, codeAt, scratch } = await enabled()
    const next = authenticator((await client.ok('POST', '/profile/tfa-enable')).secret)
    expect(await hasFactor(client)).toBe(true)
    pass(30 * SECOND)
    for (const code of [codeAt(now()), scratch]) expect((await confirm(client, code)).status).toBe(400)
    expect((await confirm(client, next(now()))).status).toBe(200)
    pass(30 * SECOND)
    expect((await confirm(client, codeAt(now()))).status).toBe(400)
    expect((await confirm(client, next(now()))).status).toBe(200)
  })

  test.each([
    ['/profile/tfa-disable', 'POST', undefined],
    ['/profile', 'PUT', { two_factor_auth: false }],
  ])('is disabled by %s, and its secret deleted', async (path, method, body) => {
    const { client, codeAt, scratch } = await enabled()
    await client.ok(method, path, body)
    expect(await hasFactor(client)).toBe(false)
    pass(30 * SECOND)
    for (const code of [codeAt(now()), scratch])
      expect(await client.problems('POST', '/profile/tfa-enable-confirm', { tfa_code: code })).toHaveLength(1)
    expect(await client.problems('PUT', '/profile', { two_factor_auth: true })).toHaveLength(1)
    expect(await client.ok('POST', '/profile/tfa-disable')).toEqual({})
  })

  test('allows five wrong codes in a quarter of an hour', async () => {
    const { client, codeAt } = await enabled()
    pass(30 * SECOND)
    for (let guess = 0; guess < 5; guess += 1) expect((await confirm(client, wrongFor(codeAt(now())))).status).toBe(400)
    const refused = await confirm(client, codeAt(now()))
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '900'])
    // A new secret does not reset the limit.
    const next = authenticator((await client.ok('POST', '/profile/tfa-enable')).secret)
    await client.ok('POST', '/profile/tfa-disable')
    const last = authenticator((await client.ok('POST', '/profile/tfa-enable')).secret)
    for (const code of [next(now()), last(now())]) expect((await confirm(client, code)).status).toBe(429)
    pass(15 * MINUTE)
    expect((await confirm(client, last(now()))).status).toBe(200)
  })

  test('blocks no user longer if the clock is set back, and a pending secret expires', async () => {
    const { client } = await enabled()
    pass(30 * DAY)
    for (let guess = 0; guess < 5; guess += 1) expect((await confirm(client, 'no code')).status).toBe(400)
    const codeAt = authenticator((await client.ok('POST', '/profile/tfa-enable')).secret)
    expect((await confirm(client, codeAt(now()))).status).toBe(429)
    pass(-30 * DAY)
    expect((await confirm(client, codeAt(now()))).status).toBe(400)
    const next = authenticator((await client.ok('POST', '/profile/tfa-enable')).secret)
    expect((await confirm(client, next(now()))).status).toBe(200)
  })
})

test('one of many concurrent requests with the same code succeeds', async () => {
  const client = newUser()
  await client.ok('POST', '/profile/security-questions', ANSWERS)
  const { secret } = await client.ok('POST', '/profile/tfa-enable')
  const race = async (code: string) => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => confirm(client, code)))
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken).toHaveLength(1)
    return taken[0]?.body.scratch as string
  }
  await race(await race(authenticator(secret)(now())))
})
