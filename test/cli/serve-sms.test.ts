import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const TOKEN = 'token-of-the-administrator'
const SERVE = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none']

test('serve --sms-sink file:PATH writes messages to the file, and codes only there', async () => {
  const folder = temporaryDirectory()
  const env = { ZONEWRIGHT_BOOTSTRAP_TOKEN: TOKEN, ZONEWRIGHT_SECRETS_KEY: 'k'.repeat(44) }
  const run = await startProgram([...SERVE, '--sms-sink', 'file:sms.jsonl', '--log-level', 'debug'], { cwd: folder, env })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http } = JSON.parse(run.stdout())
  const call = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, ...(body ? { 'content-type': 'application/json' } : {}) }
    const answer = await fetch(`${http}${path}`, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers })
    return { status: answer.status, body: await answer.json() }
  }
  expect(await call('/profile/phone-number', { iso_code: 'US', phone_number: '201-555-0123' })).toEqual({ status: 200, body: {} })
  const { to, text } = JSON.parse(readFileSync(join(folder, 'sms.jsonl'), 'utf8'))
  const code = /\d{6}/.exec(text)?.[0] as string
  expect((await call('/profile/phone-number/verify', { otp_code: code })).status).toBe(200)
  expect((await call('/profile')).body).toMatchObject({ verified_phone_number: to })
  expect(run.stdout() + run.stderr()).not.toContain(code)
})

test.each<[string, string[], Record<string, string>, RegExp]>([
  ['an invalid sink', ['--sms-sink', 'stdout'], {}, /destination of messages must be "log", "file:PATH" or a URL/],
  ['a sink without TLS', ['--sms-sink', 'http://sms.example.com/'], {}, /a webhook without TLS must be on this machine/],
  ['too short a key', [], { ZONEWRIGHT_SECRETS_KEY: 'hidden' }, /needs at least 32 characters/],
])('serve does not start with %s', async (_name, more, env, message) => {
  const { status, stderr } = await cli([...SERVE, ...more], { cwd: temporaryDirectory(), env })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^error\[service-start\] the service cannot start: /)
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('hidden')
})
