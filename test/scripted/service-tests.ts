/** What the tests of the scripted services share: requests without a connection, and tables of what a service refuses. */
import { expect, test } from 'vitest'
import { ask } from './replay.ts'
import { xmlToJson } from './route53/xml.ts'
import { CLOUD, type CloudOptions, type CloudService, type CloudType, type ScriptedCloud } from './services.ts'

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any form.
  readonly body: any
}

/** A request; its path follows that of the API. A body that is no text is sent as JSON. */
export type Asked = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>]
const parsed = (text: string): unknown =>
  text === '' ? undefined : text.startsWith('<?xml') ? xmlToJson(text) : text.startsWith('<') ? text : JSON.parse(text)

/** A scripted service, and requests to it with its token. */
export function openService<Type extends CloudType>(type: Type, options?: CloudOptions<Type>) {
  const { create, path: base, headers: signIn, lines } = CLOUD[type] as unknown as CloudService
  const scripted = create(options)
  const call = (...[method, path, body, headers = {}]: Asked): Answered => {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const answer = ask(scripted.service, method, base + path, text, { ...signIn, ...headers })
    return { ...answer, body: parsed(answer.body) }
  }
  return { scripted: scripted as ScriptedCloud<Type>, call, held: () => lines(scripted) }
}

export interface ServiceCase<Type extends CloudType> {
  readonly options?: CloudOptions<Type>
  /** A request that stores a record. */
  readonly write: (record: unknown) => Asked
  /** The answer to a record that is refused for this reason. */
  readonly refused: (why: string | number) => object
  /** Records that the zone has, and one that is refused then. */
  readonly refusals: readonly (readonly [name: string, before: readonly unknown[], record: unknown, why?: string | number])[]
  /** Requests that change nothing. */
  readonly requests: readonly (readonly [name: string, request: Asked, answer: object])[]
  /** The answer to the second of two reads if every second request is refused. */
  readonly throttled: readonly [read: Asked, answer: object]
}

/** The tables of a service. */
export function serviceTests<Type extends CloudType>(type: Type, { options, write, refused, ...tables }: ServiceCase<Type>): void {
  test.each(tables.refusals.map((one) => [one[0], one] as const))('refused records: %s', (_, [, before, record, why = '']) => {
    const { call, held } = openService(type, options)
    for (const one of before) expect(call(...write(one)).status).toBeLessThan(300)
    const lines = held()
    expect(call(...write(record))).toMatchObject(refused(why))
    expect(held()).toEqual(lines)
  })

  test.each(tables.requests)('%s', (_, request, answer) => {
    const { call, held } = openService(type, options)
    const lines = held()
    expect(call(...request)).toMatchObject(answer)
    expect(held()).toEqual(lines)
  })

  test('too many requests', () => {
    const [read, answer] = tables.throttled
    const { call } = openService(type, { ...options, requestsPerPause: 1 } as CloudOptions<Type>)
    expect([call(...read).status, call(...read), call(...read).status]).toMatchObject([200, answer, 200])
  })
}

export const repeat = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
