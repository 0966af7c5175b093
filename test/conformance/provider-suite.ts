/** The conformance suite as tests: one per group, against a real server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONFORMANCE_SUITE, type ConformanceTarget, runConformance, type StepResult } from '../../src/conformance/run-conformance.ts'
import type { ConformanceGroup } from '../../src/conformance/step.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { rounds } from '../support/random.ts'
import { name } from '../support/records.ts'
import { describeWithTools, type SuiteOptions } from '../support/skip.ts'
import { judge } from './judge.ts'
import { openProvider, type RunningTarget, type TargetKind, ZONE } from './targets.ts'

/** Steps with more records are for the long tests. */
const MAX_SIZE = rounds(1) > 1 ? Number.POSITIVE_INFINITY : 120

/** The groups with steps that the provider does not support, and how many they are. Groups about a vendor's features are not listed. */
export type ExpectedSkips = Readonly<Record<string, number>>

/** The steps that a provider skips without a type, by group. */
const STEPS_OF_TYPE: Readonly<Record<string, ExpectedSkips>> = {
  RP: { '8. RP': 3, '9. RP': 3 },
  HTTPS: { '18. HTTPS': 6, '19. Ech': 5 },
  SVCB: { '20. SVCB': 6 },
  LOC: { '39. LOC': 3 },
  NAPTR: { '40. NAPTR': 10 },
  SSHFP: { '45. SSHFP': 3 },
  TLSA: { '46. TLSA': 5 },
  DS: { '47. DS': 13, '48. DS (children only)': 7, '49. DS (children only) CLOUDNS': 7 },
  DHCID: { '50. DHCID': 2 },
  DNAME: { '51. DNAME': 3 },
  DNSKEY: { '52. DNSKEY': 4 },
  ALIAS: { '53. ALIAS on apex': 2, '54. ALIAS to nonfqdn': 1, '55. ALIAS on subdomain': 2 },
  OPENPGPKEY: { '102. OPENPGPKEY': 3 },
  SMIMEA: { '103. SMIMEA': 5 },
}

/** The skips of a provider that lacks these types. */
export const withoutTypes = (types: string): ExpectedSkips =>
  Object.fromEntries(types.split(' ').flatMap((type) => Object.entries(STEPS_OF_TYPE[type] ?? {})))

/** What the cloud does not support: it has the types A, AAAA, NS, MX, CNAME, TXT, SRV, PTR and CAA, with the limits of `src/providers/cloud/record-rules.ts`. */
export const CLOUD_SKIPS: ExpectedSkips = {
  ...withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  '27. complex TXT': 1,
  '38. CAA': 2,
  '42. SOA': 7,
  'octets in TXT': 1,
  'unusual names': 2,
  'types without a form of their own': 3,
}

/** What no name server with dynamic update can hold: its own SOA record, ALIAS, and records without a TTL. */
export const UPDATE_SKIPS: ExpectedSkips = { ...withoutTypes('ALIAS'), '42. SOA': 7, 'TTL of the zone': 3 }
const titleOf = ({ number, name: group }: ConformanceGroup): string => (number === null ? group : `${number}. ${group}`)

/** Runs the suite against one kind of target. */
export function conformanceTests(kind: TargetKind, skips: ExpectedSkips, options?: SuiteOptions): void {
  const suite = (): void => {
    const results: StepResult[] = []
    let running: RunningTarget
    let provider: Provider
    beforeAll(async () => {
      running = await kind.start()
      provider = await openProvider(running)
    })
    afterAll(async () => {
      await provider?.close()
      await running?.stop()
    })

    test.each(CONFORMANCE_SUITE.map((group) => [titleOf(group), group] as const))('%s', async (_, group) => {
      const own: StepResult[] = []
      for await (const result of runConformance(targetOf(group), {
        only: (one) => one === group,
        maxSize: Math.min(MAX_SIZE, kind.maxSize ?? MAX_SIZE),
      }))
        own.push(result)
      results.push(...own)
      const failed = own.filter(({ state }) => state === 'failed').map(({ step, reason }) => `${step}: ${reason}`)
      const defect = kind.defects?.[titleOf(group)]
      expect(own.length).toBeGreaterThan(0)
      if (defect === undefined) expect(failed).toEqual([])
      else expect(failed).toEqual([expect.stringMatching(defect)])
    })

    test('skips only what the provider does not support', () => {
      const count = (state: StepResult['state']): number => results.filter((one) => one.state === state).length
      process.stderr.write(`${kind.name}: ${count('passed')} steps passed, ${count('failed')} failed, ${count('skipped')} skipped\n`)
      const counts: Record<string, number> = {}
      for (const { group, state, reason } of results) {
        if (state !== 'skipped' || isVendorGroup(group) || /^(?:more than|".*" failed)/.test(reason ?? '')) continue
        counts[titleOf(group)] = (counts[titleOf(group)] ?? 0) + 1
      }
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
        transfer === null || kind.isInMemory ? undefined : async (expected) => judge(expected, await transfer(), options)
      return { provider, zone: name(`${ZONE}.`), settings, judge: read }
    }
  }
  describeWithTools([...kind.tools, ...(kind.isInMemory ? [] : ['dig', 'named-checkzone'])], kind.name, suite, options)
}

/** Whether no provider can run the group. */
const isVendorGroup = ({ steps }: ConformanceGroup): boolean => steps.every(({ records }) => records === '')
