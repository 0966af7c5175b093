import { expect, test } from 'vitest'
import { createSecrets } from '../../../src/service/secrets.ts'

const secrets = createSecrets('0123456789abcdef0123456789abcdef')

test('what is sealed is opened, by the same key for the same purpose only', () => {
  const sealed = secrets.seal('Gotham City ü', 'answer 1 2')
  expect(sealed).not.toContain('Gotham')
  expect(secrets.seal('Gotham City ü', 'answer 1 2')).not.toBe(sealed)
  expect(secrets.open(sealed, 'answer 1 2')).toBe('Gotham City ü')
  expect(() => secrets.open(sealed, 'answer 2 2')).toThrow()
  expect(() => createSecrets('x'.repeat(32)).open(sealed, 'answer 1 2')).toThrow()
  expect(() => createSecrets(null).open(sealed, 'answer 1 2')).toThrow('key')
  const damaged = `${sealed.slice(0, -6)}${sealed.at(-6) === 'A' ? 'B' : 'A'}${sealed.slice(-5)}`
  expect(() => secrets.open(damaged, 'answer 1 2')).toThrow()
})

test('what was kept without a key stays readable', () => {
  const kept = createSecrets(null).seal('gcm:x', 'phone 1')
  expect(kept).toBe('plain:gcm:x')
  expect(secrets.open(kept, 'phone 1')).toBe('gcm:x')
})

test('a key that could be guessed is refused', () => {
  expect(() => createSecrets('short')).toThrow(RangeError)
})
