import { describe, expect, test } from 'vitest'
import { readSeed } from '../../../src/service/index.ts'
import { anyCharacter, fc } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { connect, freshStore, startForTest } from '../harness.ts'

const { seed, diagnostics } = readSeed(
  JSON.stringify({
    accounts: [
      {
        users: [
          {
            ...{ username: 'alice', email: 'alice@example.com', tokens: [{ token: 'alice' }, { token: 'alice-too' }] },
            apps: [
              { label: 'one', client: 'client-1', tokens: ['alice-app', 'alice-app-too'] },
              { label: 'two', client: 'client-2', tokens: ['alice-other'] },
            ],
            security_questions: [1, 2, 3].map((question_id) => ({ question_id, response: `answer ${question_id}` })),
          },
          {
            ...{ username: 'bob', email: 'bob@example.com', tokens: [{ token: 'bob' }] },
            apps: [{ label: 'one', client: 'client-1', tokens: ['bob-app'] }],
          },
        ],
      },
    ],
  }),
  'seed.json',
)
if (seed === null) throw new Error(JSON.stringify(diagnostics))
const KEY = 'a key for tests of enough characters'
const store = await freshStore()
const { service } = await startForTest({ ...store, seed, secretsKey: KEY })
const as = (token: string) => connect(service.baseUrl, token).client
const alice = as('alice')
const bob = as('bob')

const answered = (ids: readonly number[], prefix = 'answer') => ({
  security_questions: ids.map((question_id) => ({ question_id, response: `${prefix} ${question_id}` })),
})

describe('security questions', () => {
  const responses = async (client = bob): Promise<string[]> =>
    (await client.ok('GET', '/profile/security-questions')).security_questions
      .filter(({ response }: { response: string | null }) => response !== null)
      .map(({ id, response }: { id: number; response: string }) => `${id} ${response}`)

  test('there are nineteen, initially unanswered', async () => {
    const { security_questions: questions } = await bob.ok('GET', '/profile/security-questions')
    expect(questions).toHaveLength(19)
    expect(questions[0]).toEqual({ id: 1, question: 'What was the name of your first pet?', response: null })
    expect(new Set(questions.map(({ question }: { question: string }) => question)).size).toBe(19)
    expect(questions.map(({ id }: { id: number }) => id)).toEqual(Array.from({ length: 19 }, (_, index) => index + 1))
  })

  test('are answered three at a time, and omitted answers are deleted', async () => {
    expect(await bob.ok('POST', '/profile/security-questions', answered([19, 1, 7]))).toEqual({
      security_questions: [
        { question_id: 19, response: 'answer 19', security_question: 'On what street is your grocery store?' },
        { question_id: 1, response: 'answer 1', security_question: 'What was the name of your first pet?' },
        { question_id: 7, response: 'answer 7', security_question: 'Where did you go on your most memorable school field trip?' },
      ],
    })
    expect(await responses()).toEqual(['1 answer 1', '7 answer 7', '19 answer 19'])
    await bob.ok('POST', '/profile/security-questions', answered([1, 2, 3], 'other'))
    expect(await responses()).toEqual(['1 other 1', '2 other 2', '3 other 3'])
    expect(await responses(alice)).toEqual(['1 answer 1', '2 answer 2', '3 answer 3'])
  })

  test.each<[string, object, string[]]>([
    ['two', answered([1, 2]), ['security_questions: Exactly 3 different questions must be answered.']],
    ['four', answered([1, 2, 3, 4]), ['security_questions: Exactly 3 different questions must be answered.']],
    ['a duplicate question', answered([1, 2, 2]), ['security_questions: Exactly 3 different questions must be answered.']],
  ])('cannot be answered by %s', async (_name, body, problems) => {
    const before = await responses()
    expect(await bob.problems('POST', '/profile/security-questions', body)).toEqual(problems)
    expect(await responses()).toEqual(before)
  })

  test('accept answers with 3 to 17 characters of any size in octets', async () => {
    const response = '\u{1F436}'.repeat(17)
    const body = { security_questions: [1, 2, 3].map((question_id) => ({ question_id, response })) }
    expect((await bob.ok('POST', '/profile/security-questions', body)).security_questions[2].response).toBe(response)
    for (const length of [2, 18]) {
      const other = { security_questions: [1, 2, 3].map((question_id) => ({ question_id, response: '\u{1F436}'.repeat(length) })) }
      expect((await bob.call('POST', '/profile/security-questions', other)).status).toBe(400)
    }
  })

  test('answered concurrently, have the answers of one request', async () => {
    await Promise.all([1, 4, 7, 10].map((id) => bob.ok('POST', '/profile/security-questions', answered([id, id + 1, id + 2]))))
    const ids = (await responses()).map((response) => Number.parseInt(response, 10))
    expect(ids).toHaveLength(3)
    expect([(ids[1] as number) - (ids[0] as number), (ids[2] as number) - (ids[1] as number)]).toEqual([1, 1])
  })
})

describe('preferences', () => {
  test('belong to a user and a client; personal tokens are one client', async () => {
    expect(await alice.ok('GET', '/profile/preferences')).toEqual({})
    const ofAlice = { alice: { a: 1 }, 'alice-app': { b: [null, { c: '\u0000ü' }] }, 'alice-other': { d: {} } }
    const all = { ...ofAlice, bob: { e: 0.5 }, 'bob-app': { f: '' } }
    for (const [token, preferences] of Object.entries(all))
      expect(await as(token).ok('PUT', '/profile/preferences', preferences)).toEqual(preferences)
    for (const [token, preferences] of Object.entries({ ...all, 'alice-too': all.alice, 'alice-app-too': all['alice-app'] }))
      expect([token, await as(token).ok('GET', '/profile/preferences')]).toEqual([token, preferences])
  })

  test('are replaced completely', async () => {
    await bob.ok('PUT', '/profile/preferences', { kept: 1, gone: 2 })
    await bob.ok('PUT', '/profile/preferences', { kept: 3 })
    expect(await bob.ok('GET', '/profile/preferences')).toEqual({ kept: 3 })
    await bob.ok('PUT', '/profile/preferences', {})
    expect(await bob.ok('GET', '/profile/preferences')).toEqual({})
  })

  test('outlive the app of their client', async () => {
    const one = as('alice-app')
    await one.ok('PUT', '/profile/preferences', { theme: 'dark' })
    const [{ id }] = (await alice.ok('GET', '/profile/apps', undefined, { 'x-filter': '{"+order_by": "created"}' })).data
    expect(await alice.ok('GET', `/profile/apps/${id}`)).toMatchObject({ label: 'one' })
    expect(await one.ok('GET', '/profile/preferences')).toEqual({ theme: 'dark' })
  })

  const of = (length: number): object => ({ text: 'x'.repeat(length - '{"text":""}'.length) })
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

  test('have at most 65535 characters', async () => {
    expect(await bob.ok('PUT', '/profile/preferences', of(65_535))).toEqual(of(65_535))
    expect(await bob.problems('PUT', '/profile/preferences', of(65_536))).toEqual(['Preferences can have at most 65535 characters'])
    expect(await bob.ok('GET', '/profile/preferences')).toEqual(of(65_535))
    // A Unicode character with two code units is one character.
    const wide = { a: '😀'.repeat(65_527) }
    expect(await bob.ok('PUT', '/profile/preferences', wide)).toEqual(wide)
    expect((await bob.call('PUT', '/profile/preferences', { a: `${wide.a}😀` })).status).toBe(400)
    // White space is not included.
    expect((await bob.call('PUT', '/profile/preferences', `{ ${' '.repeat(70_000)}"a": 1}`)).body).toEqual({ a: 1 })
  })

  test.each([
    ['a list', '[]'],
    ['text', '"x"'],
    ['null', 'null'],
    ['no JSON', '{'],
    ['nested too deep', nested(101)],
    ['nested much too deep', nested(10_000)],
    ['lists nested too deep', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['a number out of range', '{"a": [1e999]}'],
  ])('cannot be %s', async (_name, body) => expect((await bob.call('PUT', '/profile/preferences', body)).status).toBe(400))

  test('can contain names of built-in properties', async () => {
    const text = '{"__proto__":{"x":1},"constructor":null,"toString":[]}'
    await bob.call('PUT', '/profile/preferences', text)
    expect(JSON.stringify(await bob.ok('GET', '/profile/preferences'))).toBe(text)
  })

  test('are returned unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), async (preferences) => {
        const sent = JSON.parse(JSON.stringify(preferences))
        expect(await bob.ok('PUT', '/profile/preferences', sent)).toEqual(sent)
        expect(await bob.ok('GET', '/profile/preferences')).toEqual(sent)
      }),
      { numRuns: rounds(40) },
    )
  })
})
