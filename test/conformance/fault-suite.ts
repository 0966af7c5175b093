/**
 * The faults that every provider runs: lost answers before and after a call is carried out, resets, truncated answers, refusals (429 and 503 of HTTP,
 * SERVFAIL of the DNS), another client meanwhile, and SIGKILL between and during calls. After every run its report is compared with the zone as `dig`
 * transfers it; in the end one undisturbed run makes the zone equal to the definition. ZONEWRIGHT_TEST_ROUNDS multiplies the random rounds.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { REFUSAL_NAMES } from '../../src/dns/zone.ts'
import type { Change, Outcome, ZoneOutcome } from '../../src/plan/plan.ts'
import type { ZoneJob } from '../../src/plan/planned-zone.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { applyZones } from '../../src/run/apply/apply-zones.ts'
import { planZones } from '../../src/run/plan/plan-zones.ts'
import { randomFaults } from '../faults/schedules.ts'
import { isRead } from '../scripted/scripted-server.ts'
import { startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { type Fault, NONE } from '../support/fault-proxy.ts'
import { rounds, seededRandom } from '../support/random.ts'
import { desiredZone, name } from '../support/records.ts'
import { describeWithTools, type SuiteOptions } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { openProvider, type ProxiedTarget, type RunningTarget, type TargetKind, ZONE } from './targets.ts'

const ORIGIN = name(`${ZONE}.`)
const FOREIGN = '_acme-challenge.example.com. TXT "of another client"'
const HOSTS = 24

/** The records of a state as lines: between two states some names are created, deleted and changed, also in their types. */
function recordsOf(state: number): string[] {
  return Array.from({ length: HOSTS }, (_, host) => {
    const owner = `h${host}`
    const forms = [
      [],
      [`${owner} 300 A 192.0.2.${1 + (state % 200)}`, `${owner} 300 TXT "state ${state}"`],
      [`${owner} 300 CNAME r${state}.example.net.`],
      [`${owner} 300 A 192.0.2.1`, `${owner} 300 A 192.0.2.2`],
    ]
    return forms[(host + state) % forms.length] ?? []
  }).flat()
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  ...(['reset', 'half-close', 'silence'] as const).flatMap((kind) =>
    (['before', 'during', 'after'] as const).map((when) => [`${kind} ${when} the call`, { kind, when }] as const),
  ),
  ['a truncated answer', { kind: 'truncate', hang: false }],
  ['an answer that never ends', { kind: 'truncate', hang: true }],
  ['a call that arrives late', { kind: 'late', by: 700 }],
  ['a refusal for load (429, SERVFAIL)', { kind: 'answer', when: 'before', status: 429, html: false, retryAfter: 'seconds' }],
  ['an error of a gateway before the call (503, SERVFAIL)', { kind: 'answer', when: 'before', status: 503, html: true }],
  ['an error of a gateway after the call (503, SERVFAIL)', { kind: 'answer', when: 'after', status: 503, html: true }],
]

export function faultTests(kind: TargetKind, options?: SuiteOptions): void {
  const suite = (): void => {
    let running: RunningTarget
    /** The folder of the config. */
    let folder: string
    let proxied: ProxiedTarget | null
    /** Through the proxy, and without it. */
    let [disturbed, direct]: Provider[] = []
    let state = 0
    beforeAll(async () => {
      running = await kind.start()
      folder = temporaryDirectory()
      proxied = (await running.startProxy?.()) ?? null
      direct = await openProvider(running, folder)
      disturbed =
        proxied === null
          ? direct
          : await openProvider({ ...running, entry: proxied.entry, env: { ...running.env, ...proxied.env } }, folder)
      await applyTo(direct, desired(state, { withForeign: true }))
    })
    afterAll(async () => {
      await Promise.all([disturbed?.close(), direct?.close(), proxied?.proxy.close()])
      await running?.stop()
    })

    /** The zone as `owner type data`, without what the server adds. */
    async function held(): Promise<string[]> {
      await proxied?.proxy.untilIdle()
      const lines = (await running.transfer?.()) ?? []
      return lines.flatMap((line) => {
        const [, owner = '', type = '', data = ''] = /^(\S+)\s+\d+\s+IN\s+(\S+)\s+(.*)$/.exec(line) ?? []
        return type === 'SOA' || type === 'NS' ? [] : [`${owner.toLowerCase()} ${type} ${data}`]
      })
    }

    function desired(of: number, { withForeign = false } = {}): ZoneJob {
      const lines = [...recordsOf(of), ...(withForeign ? ['_acme-challenge 300 TXT "of another client"'] : [])]
      const zone = desiredZone(ORIGIN, lines.join('\n'), { unmanaged: withForeign ? [] : [{ name: '_acme-challenge' }] })
      return {
        desired: { ...zone, settings: running.settings ?? {} },
        target: 'target',
        policy: 'sync',
        thresholds: DEFAULT_THRESHOLDS,
        allow: new Set(REFUSAL_NAMES),
      }
    }
    const expected = (of: number): string[] =>
      [...desired(of).desired.records.map(({ name: owner, type, data }) => `${owner} ${type} ${data}`), FOREIGN].sort()

    /** Runs once, compares the report with the zone, and returns the outcome; null if the plan was empty, or the zone could not be read. */
    async function applyTo(provider: Provider, job: ZoneJob, meanwhile?: () => Promise<void>): Promise<ZoneOutcome | null> {
      const providers = new Map([['target', provider]])
      const { zones } = await planZones([job], { providers, now: new Date(0), tool: 'test' })
      const [planned] = zones
      if (planned === undefined || planned.plan.changes.length === 0) return null
      await meanwhile?.()
      const [outcome] = await applyZones([planned], { providers, recoveryPause: kind.isInMemory ? 5 : 100, freshFor: 0 })
      const after = await held()
      if (meanwhile === undefined) expect(falseClaims(outcome as ZoneOutcome, after)).toEqual([])
      expect(after.filter((line, index) => after.indexOf(line) !== index)).toEqual([])
      return outcome as ZoneOutcome
    }

    /** An undisturbed run makes the zone equal to the definition, and the next plan is empty. */
    async function completes(of: number): Promise<void> {
      proxied?.proxy.use(() => NONE)
      await applyTo(direct as Provider, desired(of))
      expect((await held()).sort()).toEqual(expected(of))
      expect(await applyTo(direct as Provider, desired(of))).toBeNull()
    }

    test.each(kind.usesNoNetwork ? [] : FAULTS)('%s: the report is true', async (_, fault) => {
      if (proxied === null) throw new Error('no proxy')
      state += 1
      let left = 1
      proxied.proxy.use((request) => {
        if (isRead(request) || left === 0) return NONE
        left -= 1
        return fault.kind === 'late' && kind.isInMemory ? { ...fault, by: 50 } : fault
      })
      // On a busy machine a read may take longer than the timeout: then nothing is sent.
      for (let tries = 0; left > 0 && tries < 3; tries += 1) await applyTo(disturbed as Provider, desired(state))
      expect(left).toBe(0)
      await completes(state)
    })

    test('faults in any request', async () => {
      for (let round = 1; round <= rounds(3); round += 1) {
        state += 1
        proxied?.proxy.use(randomFaults(seededRandom(round), 0.2))
        for (let passes = 0; passes < 3; passes += 1) await applyTo(disturbed as Provider, desired(state))
        await completes(state)
      }
    })

    test('a record that another client changes meanwhile is not overwritten, and the next plan shows it', async () => {
      state = 2000
      await completes(state)
      const owner = 'h1.example.com.'
      const other = desired(state)
      const text = recordsOf(state).filter((line) => !line.startsWith('h1 '))
      const theirs = {
        ...other,
        desired: { ...other.desired, records: desiredZone(ORIGIN, [...text, 'h1 300 A 203.0.113.77'].join('\n')).records },
      }
      const ours = await openProvider(running, folder)
      const outcome = await applyTo(ours, desired(state + 1), async () => void (await applyTo(direct as Provider, theirs)))
      await ours.close()
      const touched = outcome?.plan.changes.flatMap((change, index) => (change.name === owner ? [outcome.outcomes[index]?.state] : []))
      expect(touched?.length).toBeGreaterThan(0)
      expect(touched).not.toContain('unknown')
      expect(await held()).toContain(`${owner} A 203.0.113.77`)
      await completes(state + 1)
    })

    test.skipIf(kind.isInMemory)('killed between and during calls: nothing is doubled or lost, and one apply completes', async () => {
      mkdirSync(join(folder, 'zones'))
      // No request fails here, so a busy machine may take its time.
      const entry = proxied?.entry.replace(/timeout: [\d.]+}$/, 'timeout: 60}') ?? running.entry
      writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  target: ${entry}\n`)
      const random = seededRandom(1)
      const define = (of: number): void => {
        const settings = Object.entries(running.settings ?? {}).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
        const owners = new Map<string, string[]>()
        for (const line of recordsOf(of)) {
          const [owner = ''] = line.split(' ', 1)
          owners.set(owner, [...(owners.get(owner) ?? []), line])
        }
        const records = [...owners].map(([owner, lines]) => `  ${owner}: [${lines.map(flowValue).join(', ')}]\n`)
        writeFileSync(
          join(folder, `zones/${ZONE}.yaml`),
          `domain: ${ZONE}\n${settings.join('')}unmanaged: [{name: _acme-challenge}]\nrecords:\n${records.join('')}`,
        )
      }
      const flags = ['apply', '--yes', '--quiet', '--allow', 'updates', '--allow', 'deletes']
      state += 1
      define(state)
      proxied?.proxy.use(() => NONE)
      const begin = proxied?.proxy.count() ?? 0
      expect(await cli(flags, { cwd: folder, env: { ...running.env, ...proxied?.env } })).toMatchObject({ status: 0, stderr: '' })
      /** The requests of a run. */
      const requests = (proxied?.proxy.count() ?? 0) - begin
      for (let round = 0; round < rounds(4); round += 1) {
        state += 1
        const before = await held()
        define(state)
        const last = random.below(requests + 1)
        const start = proxied?.proxy.count() ?? 0
        proxied?.proxy.use(() => ({ kind: 'delay', before: random.below(30), after: random.below(30) }))
        const run = await startProgram(flags, { cwd: folder, env: { ...running.env, ...proxied?.env } })
        let ended = false
        void run.ended.then(() => {
          ended = true
        })
        while (!ended && (proxied?.proxy.count() ?? last) - start < last) await new Promise((resolve) => setTimeout(resolve, 2))
        await new Promise((resolve) => setTimeout(resolve, random.below(proxied === null ? 600 : 30)))
        run.kill('SIGKILL')
        await run.ended
        const after = await held()
        const wanted = expected(state)
        expect(after.filter((line) => !before.includes(line) && !wanted.includes(line))).toEqual([])
        expect(before.filter((line) => wanted.includes(line) && !after.includes(line))).toEqual([])
        expect(after.filter((line, index) => after.indexOf(line) !== index)).toEqual([])
      }
      proxied?.proxy.use(() => NONE)
      expect(await cli(flags, { cwd: folder, env: { ...running.env, ...proxied?.env } })).toMatchObject({ status: 0, stderr: '' })
      expect((await held()).sort()).toEqual(expected(state))
      expect(await cli(['plan', '--detailed-exitcode'], { cwd: folder, env: { ...running.env, ...proxied?.env } })).toMatchObject({
        status: 0,
      })
    })
  }
  describeWithTools([...kind.tools, ...(kind.isInMemory ? [] : ['dig'])], `faults: ${kind.name}`, suite, options)
}

/** A value in flow style of a line `OWNER TTL TYPE DATA`. */
function flowValue(line: string): string {
  const [, ttl, type, data = ''] = /^\S+ (\d+) (\S+) (.*)$/.exec(line) ?? []
  return `{type: ${type}, ttl: ${ttl}, value: ${data.startsWith('"') ? data : JSON.stringify(data)}}`
}

/** The outcomes that the zone contradicts. No other client writes to it. */
function falseClaims({ plan, outcomes }: ZoneOutcome, after: readonly string[]): string[] {
  const text = (record: { readonly name: string; readonly type: string; readonly data: string }): string =>
    `${record.name} ${record.type} ${record.data}`
  const isTrue = ({ existing, desired }: Change, { state }: Outcome): boolean => {
    const [from, to] = [existing, desired].map((one) => (one !== null && 'data' in one ? text(one) : null))
    if (state === 'unknown' || from === to) return true
    const [should, shouldNot] = state === 'applied' ? [to, from] : [from, to]
    return (should == null || after.includes(should)) && (shouldNot == null || !after.includes(shouldNot))
  }
  return outcomes.flatMap((outcome, index) => {
    const change = plan.changes[index] as Change
    return isTrue(change, outcome) ? [] : [`${change.action} ${change.name} ${change.type} ${JSON.stringify(outcome)}`]
  })
}
