/** Exchanges with the hosting service, recorded by its Go client (test/corpora/linode) and replayed in order: the responses must match. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startForTest } from '../harness.ts'

interface Exchange {
  readonly source: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly request_headers: Readonly<Record<string, string>>
  readonly request_body: object | null
  readonly status: number
  readonly response_headers: Readonly<Record<string, string>>
  readonly response_body: Readonly<Record<string, unknown>>
}

const file = new URL('../../corpora/linode/linodego.jsonl', import.meta.url)
const exchanges: Exchange[] = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))
const sources = [...new Set(exchanges.map(({ source }) => source))]
const sessions = sources.map((name) => [name, exchanges.filter(({ source }) => source === name)] as const)

/** The parts of a header, which a cache may have repeated. */
const fields = (header: unknown): Set<string> => new Set(String(header).split(', '))
const { client } = await startForTest()

/** The recorder replaced all times with one. */
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
const TIMES = { created: TIME, updated: TIME }

/** The expected object: the recorded one with our ID and times, without objects that existed before the recording. */
function here(recorded: unknown, ids: ReadonlyMap<number, number>): unknown {
  if (typeof recorded !== 'object' || recorded === null) return recorded
  const object = recorded as Readonly<Record<string, unknown>>
  if (Array.isArray(object['data'])) {
    const data = object['data'].filter(({ id }) => ids.has(id)).map((item) => here(item, ids))
    return { ...object, data, results: data.length }
  }
  // Empty in the recording: there the zone was not yet rendered.
  if ('zone_file' in object) return { zone_file: expect.any(Array) }
  return 'id' in object ? { ...object, id: ids.get(object['id'] as number), ...TIMES } : object
}

/** Differences in scopes: deleting a record was recorded with `domains:read_only`, contrary to its documentation. */
const acceptedScopes = ({ method, path, response_headers }: Exchange): string | undefined =>
  method === 'DELETE' && path.includes('/records/') ? 'domains:read_write' : response_headers['x-accepted-oauth-scopes']

test('exist', () => expect(sessions.length).toBe(11))

test.each(sessions)('%s', async (_, session) => {
  const ids = new Map<number, number>()
  for (const exchange of session) {
    const path = exchange.path.replace(/\/(\d+)/g, (_match, id) => `/${ids.get(Number(id)) ?? id}`)
    const query = new URLSearchParams(exchange.query).toString()
    const filter = exchange.request_headers['X-Filter']
    const answer = await client.call(exchange.method, query === '' ? path : `${path}?${query}`, exchange.request_body ?? undefined, {
      ...(filter === undefined ? {} : { 'x-filter': filter }),
    })
    expect(answer.status).toBe(exchange.status)
    const recordedId = exchange.response_body['id']
    if (exchange.method === 'POST' && typeof recordedId === 'number') ids.set(recordedId, answer.body.id)
    expect(answer.body).toEqual(here(exchange.response_body, ids))
    expect(answer.headers['content-type']).toMatch(/^application\/json(;|$)/)
    expect(fields(answer.headers['vary'])).toEqual(fields(exchange.response_headers['vary']))
    // The scopes of the token, which had fewer in some recordings.
    expect(answer.headers['x-oauth-scopes']).toBe('*')
    expect(answer.headers['x-accepted-oauth-scopes']).toBe(acceptedScopes(exchange))
    expect(answer.headers['content-security-policy']).toBe(exchange.response_headers['content-security-policy'])
  }
})
