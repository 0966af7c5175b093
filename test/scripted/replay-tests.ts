/** Replays the recording of one service. */
import { describe, expect, test } from 'vitest'
import { createReplay, type Exchange, type GeneratedValues, type RecordedCase, readRecording } from './replay.ts'
import type { ScriptedService } from './scripted-server.ts'

export interface Recorded {
  /** Cases and exchanges in the recording. */
  readonly size: readonly [cases: number, exchanges: number]
  readonly generated: GeneratedValues
  /** How to sign in, if not with the token `test-token`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Cases that were recorded after all others. */
  readonly last?: readonly string[]
  /** Whether the body of a response was removed from the recording; of none if absent. */
  isRemoved?(exchange: Exchange): boolean
  /** The place at which a case was recorded, if the order is not that of the file. */
  orderOf?(one: RecordedCase): readonly [number, number]
  /** A service in the state at the start of the recording, and the generated values of that state. */
  seed(recording: { readonly cases: readonly RecordedCase[]; readonly exchanges: readonly Exchange[] }): {
    readonly service: ScriptedService
    readonly shared: readonly (string | number)[]
  }
}

export function replayTests(name: string, { size, generated, headers, last = [], isRemoved, orderOf, seed }: Recorded): void {
  describe(name, () => {
    const isLast = (one: RecordedCase): number => Number(last.includes(one.case))
    const placed = readRecording(name).map((one) => [one, [isLast(one), ...(orderOf?.(one) ?? [0, 0])]] as const)
    placed.sort(([, [a = 0, b = 0, c = 0]], [, [x = 0, y = 0, z = 0]]) => a - x || b - y || c - z)
    const cases = placed.map(([one]) => one)
    const exchanges = cases.flatMap((one) => one.exchanges)
    const { service, shared } = seed({ cases, exchanges })
    const replay = createReplay(service, headers ?? { authorization: 'Bearer test-token' }, generated)
    replay.share(shared)

    test('the recording is complete', () => expect([cases.length, exchanges.length]).toEqual(size))

    test.each(cases.map((one) => [one.case, one] as const))('%s', (_, one) => {
      for (const exchange of one.exchanges) {
        const { answer, expected } = replay.run(exchange, isRemoved?.(exchange))
        expect(answer, `${exchange.method} ${exchange.uri}`).toEqual(expected)
      }
    })
  })
}
