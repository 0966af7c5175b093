import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { parsePhoneNumber } from '../../../src/service/api/profile/phone-routes.ts'
import { parseSmsDestination } from '../../../src/service/index.ts'
import { type Client, temporaryDirectory } from '../harness.ts'
import { DAY, MINUTE, startClocked } from './clocked-service.ts'

const US = { iso_code: 'US', phone_number: '(201) 555-0123' }
const GB = { iso_code: 'GB', phone_number: '07400 123456' }
const send = (client: Client, number: object = US) => client.call('POST', '/profile/phone-number', number)
const verify = (client: Client, code: string) => client.call('POST', '/profile/phone-number/verify', { otp_code: code })
const verifiedNumber = async (client: Client): Promise<string | null> => (await client.ok('GET', '/profile')).verified_phone_number
const wrongFor = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

/** A webhook server, and the messages it has received. */
async function webhook() {
  const requests: { readonly path: string; readonly type: string; readonly message: { readonly to: string; readonly text: string } }[] = []
  const state = { status: 200 as number | 'silent' }
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push({
        path: `${request.method} ${request.url}`,
        type: String(request.headers['content-type']),
        message: JSON.parse(Buffer.concat(chunks).toString()),
      })
      if (state.status === 'silent') response.destroy()
      else response.writeHead(state.status, { location: '/elsewhere' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/sms?key=hidden`, requests, state }
}

const { url, requests, state } = await webhook()
const log: string[] = []
const { newUser, pass } = await startClocked({
  smsSink: parseSmsDestination(url),
  secretsKey: 'a key of thirty-two characters..',
  log: { level: 'debug', write: (line) => log.push(line) },
})
beforeEach(() => {
  log.length = 0
  requests.length = 0
  state.status = 200
})

const lastCode = (): string => /\b(\d{6})\b/.exec(requests.at(-1)?.message.text ?? '')?.[1] ?? ''

describe('a phone number', () => {
  test('is verified with its code', async () => {
    const client = newUser()
    expect((await send(client)).body).toEqual({})
    const code = lastCode()
    expect(requests).toEqual([
      {
        path: 'POST /sms?key=hidden',
        type: 'application/json',
        message: { to: '+12015550123', text: `Your Zonewright verification code is ${code}. It is valid for 10 minutes.` },
      },
    ])
    expect(await verifiedNumber(client)).toBeNull()
    expect((await verify(client, wrongFor(code))).body).toEqual({ errors: [{ field: 'otp_code', reason: 'otp_code is not valid' }] })
    expect(await verify(client, ` ${code} `)).toMatchObject({ status: 200, body: {} })
    expect(await verifiedNumber(client)).toBe('+12015550123')
    // The code has been used.
    expect((await verify(client, code)).body.errors[0]).toEqual({ field: 'otp_code', reason: 'There is no valid code. Request a new one.' })
    expect(log.join('')).not.toContain(code)
    expect(log.join('')).not.toContain('2015550123')
  })

  test('must be deleted before another is verified', async () => {
    const client = newUser()
    await send(client)
    await verify(client, lastCode())
    expect((await send(client, GB)).body.errors).toEqual([
      { field: 'phone_number', reason: 'A phone number is already verified. Delete it before you verify another.' },
    ])
    expect(requests).toHaveLength(1)
    expect(await client.ok('DELETE', '/profile/phone-number')).toEqual({})
    expect(await verifiedNumber(client)).toBeNull()
    expect(await client.ok('DELETE', '/profile/phone-number')).toEqual({})
    await send(client, GB)
    await verify(client, lastCode())
    expect(await verifiedNumber(client)).toBe('+447400123456')
  })

  test('gets the same code while it is valid, for ten minutes in total', async () => {
    const client = newUser()
    await send(client)
    const first = lastCode()
    pass(9 * MINUTE)
    await send(client, { iso_code: 'us', phone_number: '+1 201 555 0123' })
    expect(requests.map(({ message }) => message.text)).toEqual([
      expect.stringContaining(`${first}. It is valid for 10 minutes.`),
      expect.stringContaining(`${first}. It is valid for 1 minute.`),
    ])
    pass(MINUTE)
    expect((await verify(client, first)).status).toBe(400)
    await send(client)
    const second = lastCode()
    expect((await verify(client, second)).status).toBe(200)
  })

  test('cannot be verified with the code of another user or number, or of a deleted one', async () => {
    const client = newUser()
    await send(client)
    const first = lastCode()
    expect((await verify(newUser(), first)).status).toBe(400)
    await send(client, GB)
    const second = lastCode()
    if (first !== second) expect((await verify(client, first)).status).toBe(400)
    await client.ok('DELETE', '/profile/phone-number')
    expect((await verify(client, second)).status).toBe(400)
    expect(await verifiedNumber(client)).toBeNull()
  })

  test('after five wrong guesses, the code is invalid', async () => {
    const client = newUser()
    await send(client)
    const code = lastCode()
    for (let guess = 0; guess < 5; guess += 1) expect((await verify(client, wrongFor(code))).status).toBe(400)
    expect((await verify(client, code)).status).toBe(400)
    await send(client)
    expect((await verify(client, lastCode())).status).toBe(200)
  })

  test('receives at most ten messages per hour', async () => {
    const client = newUser()
    for (let message = 0; message < 10; message += 1) {
      expect((await send(client, message % 2 === 0 ? US : GB)).status).toBe(200)
      pass(MINUTE)
    }
    await client.ok('DELETE', '/profile/phone-number')
    const refused = await send(client)
    expect([refused.status, refused.headers['retry-after'], refused.headers['x-ratelimit-limit']]).toEqual([429, String(50 * 60), '10'])
    expect(requests).toHaveLength(10)
    pass(50 * MINUTE)
    expect((await send(client)).status).toBe(200)
  })

  test('deletes codes on time if the clock is set back, and receives messages again', async () => {
    const client = newUser()
    pass(DAY)
    for (let message = 0; message < 10; message += 1) expect((await send(client)).status).toBe(200)
    const code = lastCode()
    pass(-DAY)
    expect((await verify(client, code)).status).toBe(400)
    expect((await send(client)).status).toBe(200)
    expect((await verify(client, lastCode())).status).toBe(200)
  })

  test.each([500, 302, 'silent'] as const)('keeps its code if the message cannot be delivered: %s', async (status) => {
    const client = newUser()
    state.status = status
    const failed = await send(client)
    expect([failed.status, failed.body]).toEqual([
      502,
      { errors: [{ field: null, reason: 'The message could not be sent. Repeat the request to send it again.' }] },
    ])
    const code = lastCode()
    expect(requests).toHaveLength(1)
    expect(log.filter((line) => line.includes('SMS not sent'))).toHaveLength(1)
    expect(log.join('')).not.toMatch(new RegExp(`hidden|${code}`))
    state.status = 200
    expect((await send(client)).status).toBe(200)
    expect(lastCode()).toBe(code)
    expect((await verify(client, code)).status).toBe(200)
  })

  test('gets one code for concurrent requests, which verifies it once', async () => {
    const client = newUser()
    await Promise.all(Array.from({ length: 4 }, () => send(client)))
    expect(requests).toHaveLength(4)
    expect(new Set(requests.map(({ message }) => message.text)).size).toBe(1)
    const answers = await Promise.all(Array.from({ length: 4 }, () => verify(client, lastCode())))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
  })
})

describe('messages', () => {
  test('are appended to a file that only its owner can read', async () => {
    const path = join(temporaryDirectory(), 'sms')
    const { client } = await startClocked({ smsSink: { kind: 'file', path } })
    for (const number of [US, GB]) await send(client, number)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { to: '+12015550123', text: expect.any(String) },
      { to: '+447400123456', text: expect.any(String) },
    ])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('are logged by default', async () => {
    const lines: string[] = []
    const { client } = await startClocked({ log: { level: 'info', write: (line) => lines.push(line) } })
    await send(client)
    const [line] = lines.filter((each) => each.includes('"SMS"'))
    const { text, to } = JSON.parse(line as string)
    expect([to, (await verify(client, /\d{6}/.exec(text)?.[0] as string)).status]).toEqual(['+12015550123', 200])
  })

  test.each([
    'a file without a name: file:',
    'an unknown sink: stdout',
    'another protocol: ftp://example.com/',
    'another machine without TLS: http://sms.example.com/',
    'a URL with a password: https://user:secret@sms.example.com/',
  ])('cannot be sent to %s', (_name, text) => {
    expect(() => parseSmsDestination(text)).toThrow(RangeError)
    expect(() => parseSmsDestination(text)).not.toThrow(/secret/)
  })

  test.each([
    ['log', { kind: 'log' }],
    ['file:/var/lib/sms', { kind: 'file', path: '/var/lib/sms' }],
    ['https://sms.example.com/x', { kind: 'webhook', url: new URL('https://sms.example.com/x') }],
    ['http://[::1]:80/', { kind: 'webhook', url: new URL('http://[::1]/') }],
  ])('can be sent to %s', (text, place) => expect(parseSmsDestination(text)).toEqual(place))
})

describe('a number', () => {
  test.each([
    ['US', '201-555-0123', '+12015550123'],
    ['us', '+12015550123', '+12015550123'],
    ['CA', '201 555 0123', '+12015550123'],
    ['GB', '07400 123456', '+447400123456'],
    ['DE', '01512 3456789', '+4915123456789'],
    ['IT', '312 345 6789', '+393123456789'],
  ])('%s %s is %s', async (iso_code, phone_number, e164) => expect(await parsePhoneNumber({ iso_code, phone_number })).toBe(e164))

  test.each([
    ['US', '201-555-012', 'phone_number'],
    ['US', '+44 7400 123456', 'phone_number'],
    ['US', 'call 201-555-0123', 'phone_number'],
    ['US', '201-555-0123 ext. 5', 'phone_number'],
    ['US', '911', 'phone_number'],
    ['US', '', 'phone_number'],
    ['US', '900-555-0123', 'phone_number'],
    ['US', '800-234-5678', 'phone_number'],
    ['GB', '0909 879 0000', 'phone_number'],
    ['XX', '201-555-0123', 'iso_code'],
    ['AQ', '201-555-0123', 'iso_code'],
  ])('%s %s is not valid', async (iso_code, phone_number, field) => {
    await expect(parsePhoneNumber({ iso_code, phone_number })).rejects.toMatchObject({ problems: [{ field }] })
  })
})
