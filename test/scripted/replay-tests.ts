/** The scripted servers answer as the real services did: every recorded exchange is replayed, in order, and compared in status, structure and values. */
import { describe, expect, test } from 'vitest'
import { createReplay, type Exchange, type GeneratedValues, type RecordedCase, readRecording } from './replay.ts'
import { type ScriptedService, startScriptedServer } from './scripted-server.ts'

export interface Recorded {
  readonly name: string
  /** Cases and exchanges in the recording. */
  readonly size: readonly [cases: number, exchanges: number]
  readonly generated: GeneratedValues
  /** Cases that were recorded after all others. */
  readonly last?: readonly string[]
  /** Whether the body of a response was removed from the recording; of none if absent. */
  isRemoved?(exchange: Exchange): boolean
  /** The order in which the cases were recorded, if it is not that of the file. */
  sort?(a: RecordedCase, b: RecordedCase): number
  /** A service in the state at the start of the recording, how to sign in, and the generated values of that state. */
  seed(cases: readonly RecordedCase[]): {
    service: ScriptedService
    headers: Readonly<Record<string, string>>
    shared: readonly (string | number)[]
  }
}

/** Replays the recording of one service. */
export function replayTests({ name, size, generated, last = [], isRemoved, sort, seed }: Recorded): void {
  describe(name, async () => {
    const isLast = (one: RecordedCase): number => Number(last.includes(one.case))
    const cases = [...readRecording(name)].sort(sort ?? (() => 0)).toSorted((a, b) => isLast(a) - isLast(b))
    const { service, headers, shared } = seed(cases)
    const { origin } = await startScriptedServer(service)
    const replay = createReplay(origin, headers, generated)
    replay.share(shared)

    test('the recording is complete', () => expect([cases.length, cases.flatMap(({ exchanges }) => exchanges).length]).toEqual(size))

    test.each(cases.map((one) => [one.case, one] as const))('%s', async (_, { exchanges }) => {
      for (const exchange of exchanges) {
        const { answer, expected } = await replay.run(exchange, isRemoved?.(exchange))
        expect(answer, `${exchange.method} ${exchange.uri}`).toEqual(expected)
      }
    })
  })
}
