/**
 * `cutover` as a real process, killed (SIGKILL) before random file operations of each of its steps: the same command goes on, and the move ends as an undisturbed
 * one. Waiting times pass by a change of the state, since TSIG needs the right clock. ZONEWRIGHT_TEST_ROUNDS multiplies the moves.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { STEPS } from '../../src/run/load/cutover-state.ts'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { TEST_KEY } from '../support/dns-servers.ts'
import { rounds, seededRandom } from '../support/random.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig, transferZone } from '../support/tools.ts'
import { apexNs, type Move, NEW, openMove, parentZone, stateFile, stateOf } from './cutover-scene.ts'

const PRELOAD = fileURLToPath(new URL('../support/kill-at.mjs', import.meta.url))
const DS = `example 600 DS 12345 13 2 ${'ab'.repeat(32)}\n`
const DAY = 86_400

beforeAll(async () => void (await builtProgram()))

type Ended = { readonly status: number | null; readonly signal: NodeJS.Signals | null; readonly output: string }

async function runCutover({ args, env, folder }: Move, more: Readonly<Record<string, string>>): Promise<Ended> {
  const run = await startProgram([...args, ...NEW], {
    cwd: folder,
    env: { ...env, NODE_OPTIONS: `--import=${PRELOAD}`, KILL_BELOW: join(folder, '.zonewright'), ...more },
  })
  return { ...(await run.ended), output: run.stdout() + run.stderr() }
}

/** The files of the state of the cutover, without temporary ones. */
const states = ({ folder }: Move): string[] => {
  const path = join(folder, '.zonewright/cutovers')
  return existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith('.')) : []
}

/** The step to do next: without a state the first one, or none after the last one. */
const stepOf = (move: Move, before: readonly string[]): string =>
  states(move).length > 0 ? stateOf(move).step : before.some((step) => step !== 'lower') ? 'restore' : 'lower'

/** What people do before each run, and its exit status. */
const RUNS: readonly { readonly before: (move: Move) => Promise<void>; readonly ends: number }[] = [
  { before: async () => undefined, ends: 2 },
  { before: elapse, ends: 2 },
  { before: (move) => changeParent(move, 2, 'ns1.example.net', 'ns2.example.net'), ends: 2 },
  {
    async before(move) {
      await elapse(move)
      await changeParent(move, 3, 'ns7.example.net', 'ns8.example.net')
    },
    ends: 2,
  },
  { before: elapse, ends: 0 },
]

/** The time that the cutover waits for comes. */
async function elapse(move: Move): Promise<void> {
  const path = stateFile(move)
  const state = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  writeFileSync(path, JSON.stringify({ ...state, notBefore: new Date(Date.now() - 1000).toISOString() }))
}

async function changeParent({ parent }: Move, serial: number, ...servers: string[]): Promise<void> {
  parent.replaceZone('test', parentZone(...servers).replace('. 1 ', `. ${serial} `))
  const soa = { port: parent.port, name: 'test', type: 'SOA' }
  await expect.poll(async () => (await dig(soa)).join()).toContain(` ${serial} `)
}

/** The file operations of each run of an undisturbed move. */
async function countOperations(): Promise<number[]> {
  const move = await openMove('own', DS)
  const counts: number[] = []
  for (const { before, ends } of RUNS) {
    await before(move)
    const report = join(temporaryDirectory(), 'steps')
    const { status, output } = await runCutover(move, { KILL_COUNT: report })
    expect([status, output]).toEqual([ends, expect.any(String)])
    counts.push(Number(readFileSync(report, 'utf8')))
  }
  expect(states(move)).toEqual([])
  return counts
}

describeWithTools(['named', 'dig'], 'cutover, killed', () => {
  test('at every step: the same command completes it', { tags: ['long'] }, async () => {
    const operations = await countOperations()
    const killedAt = new Set<string>()
    for (let round = 0; round < rounds(1); round += 1) {
      const random = seededRandom(round)
      const move = await openMove('own', DS)
      const order: string[] = []
      /** When the former TTL was last seen. */
      let lastHigh = 0
      for (const [index, { before, ends }] of RUNS.entries()) {
        await before(move)
        const count = operations[index] as number
        for (const part of [0.1, 0.5, 0.9]) {
          const operation = Math.max(1, Math.min(count, Math.round(count * part) + random.below(5) - 2))
          if ((await apexNs(move.former)).some((line) => line.split(/\s+/)[1] === String(DAY))) lastHigh = Date.now()
          const { signal, status } = await runCutover(move, { KILL_AT: String(operation) })
          const step = stepOf(move, order)
          order.push(step)
          // A step that an earlier run had done leaves less to do.
          if (signal === 'SIGKILL') killedAt.add(step)
          else expect([0, 2]).toContain(status)
          if (states(move).length > 0 && step !== 'lower') expect(stateOf(move).formerTtl).toBe(DAY)
        }
        const completed = await runCutover(move, {})
        expect([completed.status, completed.output]).toEqual([ends, expect.any(String)])
        order.push(stepOf(move, order))
        if (index === 0) {
          expect(stateOf(move)).toMatchObject({ step: 'copy', formerTtl: DAY })
          const { notBefore } = stateOf(move)
          // Caches may hold the former TTL from the moment that it was lowered.
          expect(Date.parse(notBefore as string)).toBeGreaterThanOrEqual(lastHigh + DAY * 1000)
        }
      }
      const places = order.map((step) => STEPS.indexOf(step as (typeof STEPS)[number]))
      expect(places).toEqual([...places].sort((a, b) => a - b))
      expect(states(move)).toEqual([])
      expect(await apexNs(move.own)).toEqual(['7', '8'].map((digit) => expect.stringMatching(`\\s${DAY}\\s.*ns${digit}\\.example\\.net`)))
      const others = async (port: number): Promise<string[]> =>
        (await transferZone({ port, name: 'example.test', key: TEST_KEY })).filter((line) => !/\s(?:NS|SOA)\s/.test(line))
      expect(await others(move.own.port)).toEqual(await others(move.former.port))
      expect(await apexNs(move.former)).toEqual([expect.stringMatching(/\s300\s/), expect.stringMatching(/\s300\s/)])
    }
    expect([...killedAt].sort()).toEqual([...STEPS].sort())
  })
})
