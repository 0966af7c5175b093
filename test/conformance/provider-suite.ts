/** The conformance suite as tests: one per group, against a real server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConformanceTarget, runConformance, type StepResult } from '../../src/conformance/run-conformance.ts'
import { CONFORMANCE_SUITE, type ConformanceGroup } from '../../src/conformance/suite.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { rounds } from '../support/random.ts'
import { name } from '../support/records.ts'
import { describeWithTools } from '../support/skip.ts'
import { judge } from './judge.ts'
import { openProvider, type RunningTarget, type TargetKind, ZONE } from './targets.ts'

/** Steps with more records are for the long tests. */
const MAX_SIZE = rounds(1) > 1 ? Number.POSITIVE_INFINITY : 513

/** The groups with steps that the provider cannot hold, and how many they are. Groups about a vendor's features are not listed. */
export type ExpectedSkips = Readonly<Record<string, number>>

const titleOf = ({ number, name: group }: ConformanceGroup): string => (number === null ? group : `${number}. ${group}`)

/** Runs the suite against one kind of target. */
export function conformanceTests(kind: TargetKind, skips: ExpectedSkips): void {
  describeWithTools([...kind.tools, 'dig', 'named-checkzone'], kind.name, () => {
    const results: StepResult[] = []
    let running: RunningTarget
    let provider: Provider
    beforeAll(async () => {
      running = await kind.start()
      provider = await openProvider(running.entry, running.env)
    })
    afterAll(async () => {
      await provider?.close()
      await running?.stop()
    })

    test.each(CONFORMANCE_SUITE.map((group) => [titleOf(group), group] as const))('%s', { timeout: 300_000 }, async (_, group) => {
      const own: StepResult[] = []
      for await (const result of runConformance(targetOf(group), { only: (one) => one === group, maxSize: MAX_SIZE })) own.push(result)
      results.push(...own)
      expect(own.length).toBeGreaterThan(0)
      expect(own.filter(({ state }) => state === 'failed').map(({ step, reason }) => `${step}: ${reason}`)).toEqual([])
    })

    test('skips only what the provider cannot hold', () => {
      const skipped = results.filter(({ state, group, reason }) => state === 'skipped' && !isVendorGroup(group) && !reason?.startsWith('more than'))
      const counts: Record<string, number> = {}
      for (const { group } of skipped) counts[titleOf(group)] = (counts[titleOf(group)] ?? 0) + 1
      const count = (state: StepResult['state']): number => results.filter((one) => one.state === state).length
      process.stderr.write(`${kind.name}: ${count('passed')} steps passed, ${count('failed')} failed, ${count('skipped')} skipped\n`)
      if (process.env['XLOG']) process.stderr.write(results.filter(r=>r.state!=='passed'&&!isVendorGroup(r.group)).map(r=>`${r.state} ${titleOf(r.group)}: ${r.step}: ${r.reason}`).join('\n')+'\n')
      expect(counts).toEqual(skips)
    })

    const targetOf = (group: ConformanceGroup): ConformanceTarget => {
      const { transfer, settings } = running
      const { capabilities } = provider
      const options = {
        rejoinsTexts: kind.rejoinsTexts ?? false,
        comparesTtls: capabilities.calls.unit === 'rrset',
        hasApexNs: group.managesApexNs === true && !capabilities.servesApexNs,
      }
      const read: ConformanceTarget['judge'] =
        transfer === null ? undefined : async (expected) => judge(expected, await transfer(), options)
      return { provider, zone: name(`${ZONE}.`), settings, judge: read }
    }
  })
}

/** Whether no provider can run the group. */
const isVendorGroup = ({ steps }: ConformanceGroup): boolean => steps.every(({ records }) => records === '')
