import { describe, expect, it, test } from 'vitest'
import { createGuard } from '../../src/base/secret-guard.ts'
import { fc, forAll } from '../support/fast-check.ts'

const TOKEN = 'zW7+kQ/4"t0ken-5b0c94e1d7a2\\x'
const LONG = 'Ab3dE6gH'.repeat(40)

const guardOf = (value: string) => {
  const guard = createGuard()
  guard.add('providers.cloud.token', value)
  return guard
}

const found = (value: string, text: string): boolean => guardOf(value).find(text) === 'providers.cloud.token'

/** The text split into TXT strings of at most `size` octets. */
const strings = (text: string, size: number): string =>
  (text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []).map((one) => `"${one}"`).join(' ')

describe('finds a secret', () => {
  test.each<[how: string, text: string]>([
    ['unchanged', `x${TOKEN}y`],
    ['in lower case', TOKEN.toLowerCase()],
    ['in upper case', TOKEN.toUpperCase()],
    ['in hexadecimal', Buffer.from(TOKEN).toString('hex')],
    ['percent-encoded', encodeURIComponent(TOKEN)],
    ['as JSON', JSON.stringify({ token: TOKEN })],
    ['as a zone-file string', `"${TOKEN.replace(/[\\"]/g, '\\$&')}"`],
    ['in decimal escapes', [...Buffer.from(TOKEN)].map((octet) => `\\${String(octet).padStart(3, '0')}`).join('')],
    ['in base64url', Buffer.from(TOKEN).toString('base64url')],
  ])('%s', (_, text) => expect(found(TOKEN, text)).toBe(true))

  test.each<[how: string, text: string]>([
    ['in strings of 255 octets', strings(LONG, 255)],
    ['in strings of 255 octets, starting inside one', strings(`${'-'.repeat(200)}${LONG}`, 255)],
    ['in strings of 255 octets, in base64', strings(Buffer.from(LONG).toString('base64'), 255)],
    ['in labels', (LONG.match(/.{1,63}/g) ?? []).join('.')],
    ['in a multi-line JSON string', JSON.stringify(strings(LONG, 255))],
  ])('%s', (_, text) => expect(found(LONG, text)).toBe(true))

  it('in base64 at any offset', () => {
    forAll(100, fc.string({ minLength: 8 }), fc.uint8Array({ maxLength: 9 }), fc.uint8Array({ maxLength: 9 }), (value, before, after) => {
      const octets = Buffer.concat([before, Buffer.from(value), after])
      return found(value, octets.toString('base64')) && found(value, octets.toString('base64url'))
    })
  })

  it('split into strings at any offset', () => {
    const secret = 'short-8+'
    for (let cut = 1; cut < secret.length; cut += 1) expect(found(secret, `"${secret.slice(0, cut)}" "${secret.slice(cut)}"`)).toBe(true)
  })

  it('line by line, if it is a private key', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQ\n'.repeat(2)}Zm9vYmFyYmF6cXV4MTIzNA\n-----END PRIVATE KEY-----\n`
    expect(found(key, 'x Zm9vYmFyYmF6cXV4MTIzNA x')).toBe(true)
    expect(found(key, '-----BEGIN PRIVATE KEY-----')).toBe(false)
  })
})

describe('finds no secret', () => {
  test.each<[why: string, value: string, text: string]>([
    ['of fewer than 8 characters', 'www2026', 'www2026'],
    ['in similar digits', '19202100', '192.0.2.100'],
    ['in half of the secret', TOKEN, TOKEN.slice(0, 12)],
    ['in an empty text', TOKEN, ''],
  ])('%s', (_, value, text) => expect(found(value, text)).toBe(false))

  it('in random text', () => {
    const guard = guardOf('5b0c94e1d7a25b0c94e1d7a2')
    forAll(100, fc.base64String({ minLength: 200, maxLength: 2000 }), (text) => guard.find(text) === null)
  })
})

it('removes a secret from a text and keeps the rest', () => {
  const guard = guardOf(TOKEN)
  expect(guard.redact('nothing')).toBe('nothing')
  expect(guard.redact(`no such user: ${TOKEN}, try again`)).toBe('no such user: ***, try again')
  const odd = `a\n"${TOKEN.slice(0, 9).replace('"', '\\"')}" "${TOKEN.slice(9).replace('\\', '\\\\')}"\nb`
  expect(guard.redact(odd)).toBe('a\n[omitted: contains a secret]\nb')
})
