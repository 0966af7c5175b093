import { describe, expect, test } from 'vitest'
import { labelsOf, parseDomainName } from '../../src/dns/domain-name.ts'
import { emailToName, nameToEmail, restoreMailboxCase } from '../../src/dns/mailbox.ts'
import { anyCharacter, fc, forAll } from '../support/fast-check.ts'

describe('a mail address as a name', () => {
  test.each([
    ['hostmaster@example.com', 'hostmaster.example.com.'],
    ['First.Last@Example.COM', 'First\\.Last.example.com.'],
    ['a@example.com.', 'a.example.com.'],
    ['A$b@bücher.example', 'A\\$b.xn--bcher-kva.example.'],
    ['é@example.com', '\\195\\169.example.com.'],
    ['@example.com', null],
    ['example.com', null],
    ['a@.', null],
    ['a@', null],
    [`${'a'.repeat(63)}@example.com`, `${'a'.repeat(63)}.example.com.`],
    [`${'a'.repeat(64)}@example.com`, null],
    [`${'é'.repeat(32)}@example.com`, null],
    [`a@${'b'.repeat(60)}.${'b'.repeat(60)}.${'b'.repeat(60)}.${'b'.repeat(60)}.example`, `a.${`${'b'.repeat(60)}.`.repeat(4)}example.`],
    [`aa@${'b'.repeat(60)}.${'b'.repeat(60)}.${'b'.repeat(60)}.${'b'.repeat(60)}.example`, null],
  ])('%s is %s', (email, name) => expect(emailToName(email)).toBe(name))

  test('keeps any local part', () => {
    const local = fc.string({ minLength: 1, maxLength: 15, unit: anyCharacter })
    forAll(100, local, (text) => {
      const name = emailToName(`${text}@example.com`)
      if (name === null) expect(Buffer.byteLength(text)).toBeGreaterThan(63)
      else {
        expect(nameToEmail(name)).toBe(`${text}@example.com`)
        const parsed = parseDomainName(name)
        expect(parsed.ok && labelsOf(parsed.value)).toHaveLength(3)
      }
    })
  })
})

test.each(['\\255abc.example.com.', 'a\\195.example.com.', 'example.', '.'])('the name %s is no mail address', (name) =>
  expect(nameToEmail(name)).toBeNull(),
)

test.each([
  ['ns. a.example. 1 2', 'A.example.', 'ns. A.example. 1 2'],
  ['ns. a.example. 1 2', 'A', 'ns. A.example. 1 2'],
  ['ns. first\\.last.example. 1 2', 'First\\.Last', 'ns. First\\.Last.example. 1 2'],
  ['ns. first\\.last.example. 1 2', '\\070irst\\046Last.example.', 'ns. First\\.Last.example. 1 2'],
  ['ns. a.example. 1 2', 'b.example.', 'ns. a.example. 1 2'],
  ['ns. a. 1 2', 'A.', 'ns. a. 1 2'],
  ['ns. . 1 2', '.', 'ns. . 1 2'],
])('the mailbox of %s as %s is %s', (soa, written, expected) => expect(restoreMailboxCase(soa, written)).toBe(expected))
