/**
 * Real processes with real sockets, killed (SIGKILL) at many points; in one wave of most rounds the service is killed too and restarts
 * on the same data. The points are numbers of sent requests, not times, so that they are the same on fast and slow machines.
 * After the last call of a dead process: no duplicates, no missing records, and its journal contains every sent call; and
 * one apply makes the zone equal to the definition. `npm run test:long` tests more than a thousand.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { NONE, startFaultProxy } from '../support/fault-proxy.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type ServiceProcess, startServiceProcess, TOKEN } from './service-process.ts'

/** Concurrent processes, each with its own zone, folder and proxy. */
const LANES = 4
/** Killed processes of each lane before one completes: each starts with the state of the previous one. */
const WAVES = 5
const ROUNDS = 4
const NAMES = 40
/** The approximate number of requests of a full run. */
const REQUESTS = 52
const JOURNAL = '.zonewright/runs'
type Lane = { readonly zone: string; readonly scene: Awaited<ReturnType<typeof openProcessScene>>; readonly random: Random }
let service: ServiceProcess
let lanes: Lane[]
/** How many requests each killed process had sent. */
const deaths: { readonly requests: number; readonly withService: boolean }[] = []

beforeAll(async () => {
  service = await startServiceProcess()
  lanes = await Promise.all(
    Array.from({ length: LANES }, async (_, index): Promise<Lane> => {
      return { zone: `zone${index}.example`, scene: await openProcessScene(service), random: seededRandom(index) }
    }),
  )
})

afterAll(async () => {
  await Promise.all((lanes ?? []).map(({ scene }) => scene.proxy.close()))
  await service?.stop()
})

const ENV = { ZONEWRIGHT_TOKEN: TOKEN }

/** A folder with a config and a fault proxy, for real processes with real sockets. */
async function openProcessScene(service: ServiceProcess) {
  const folder = temporaryDirectory()
  const proxy = await startFaultProxy(service.origin)
  mkdirSync(join(folder, 'zones'))
  const cloud = `{type: cloud, base_url: '${proxy.origin}/v4', token: env:ZONEWRIGHT_TOKEN}`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  cloud: ${cloud}\n`)
  return {
    folder,
    proxy,
    /** Writes the definition of a zone, from the lines of its record map. */
    define(zone: string, records: readonly string[]): void {
      const lines = records.map((line) => `  ${line}\n`).join('')
      writeFileSync(join(folder, `zones/${zone}.yaml`), `domain: ${zone}\nsoa_email: hostmaster@example.com\nrecords:\n${lines}`)
    },
    start: (...args: string[]) => startProgram(args, { cwd: folder, env: ENV }),
    /** Runs the program in this process, which is never killed. */
    run: (...args: string[]) => cli(args, { cwd: folder, env: ENV }),
  }
}

type Line = { readonly name: string; readonly type: string; readonly target: string }
const text = ({ name, type, target }: Line): string => `${name} ${type} ${target}`

/** Most names have other record types in each state, so every run creates, updates and deletes with order edges. */
function records(state: number): Line[] {
  const at = (index: number): Line[] => {
    const name = `n${index}`
    const alias = { name, type: 'CNAME', target: `r${state}.example.net` }
    const address = { name, type: 'A', target: `192.0.2.${1 + (state % 250)}` }
    const note = { name, type: 'TXT', target: `state ${state}` }
    const stays = { name, type: 'AAAA', target: `2001:db8::${index + 1}` }
    return [[], [alias], [address, note], [address], [address, stays]][(index + state) % 5] as Line[]
  }
  return Array.from({ length: NAMES }, (_, index) => at(index)).flat()
}

function define({ scene, zone }: Lane, state: number): void {
  const names = new Map<string, Line[]>()
  for (const line of records(state)) names.set(line.name, [...(names.get(line.name) ?? []), line])
  const value = ({ type, target }: Line): string => `{type: ${type}, value: "${type === 'CNAME' ? `${target}.` : target}"}`
  scene.define(
    zone,
    [...names].map(([name, lines]) => `${name}: [${lines.map(value).join(', ')}]`),
  )
}

const expected = (state: number): string[] => records(state).map(text).sort()
const held = async ({ zone }: Lane): Promise<string[]> => ((await service.records(zone)) ?? []).map(text).sort()
const APPLY = ['apply', '--yes', '--quiet', '--allow', 'updates', '--allow', 'deletes'] as const

/** Kills and restarts the service once for all lanes of a wave; `over` resolves after the restart. */
function serviceEnd() {
  let restarted: Promise<void> | null = null
  const { promise: begun, resolve } = resolvable()
  const begin = (): void => {
    restarted ??= service.killAndRestart()
    resolve()
  }
  return { begun, begin, over: async () => restarted ?? undefined }
}

function resolvable(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/**
 * Starts an apply and kills it shortly after a random number of sent requests; together with the service if one of the lanes has
 * reached its point. Returns the number of sent calls.
 */
async function die({ scene, random }: Lane, end: ReturnType<typeof serviceEnd> | null): Promise<number> {
  const last = random.below(REQUESTS)
  const moment = random.chance(0.5) ? 0 : random.below(6)
  const apart = random.chance(0.5) ? 0 : random.below(40)
  let requests = 0
  let calls = 0
  const { promise: reached, resolve } = resolvable()
  scene.proxy.use(({ method }) => {
    requests += 1
    if (method !== 'GET') calls += 1
    if (requests >= last) resolve()
    return random.chance(0.3) ? { kind: 'delay', before: random.below(4), after: random.below(4) } : NONE
  })
  const run = await scene.start(...APPLY)
  let ended = false
  void run.ended.then(() => {
    ended = true
  })
  // With no request it is killed during its start.
  await Promise.race([last === 0 ? wait(random.below(200)) : reached, run.ended, ...(end ? [end.begun] : [])])
  if (moment > 0) await wait(moment)
  end?.begin()
  if (end && apart > 0) await wait(apart)
  if (!ended) deaths.push({ requests, withService: end !== null })
  run.kill('SIGKILL')
  await run.ended
  return calls
}

const runsOf = ({ scene }: Lane): string[] => {
  try {
    return readdirSync(join(scene.folder, JOURNAL)).filter((name) => !name.startsWith('.'))
  } catch {
    return []
  }
}

/** The number of calls in the journal of a run. */
const journalled = ({ scene }: Lane, run: string): number =>
  readFileSync(join(scene.folder, JOURNAL, run, 'journal.jsonl'), 'utf8').split('"event":"call"').length - 1

const twice = (lines: readonly string[]): string[] => lines.filter((line, index) => lines.indexOf(line) !== index)
const without = (lines: readonly string[], others: readonly string[]): string[] => lines.filter((line) => !others.includes(line))

/** Kills a process of each lane during its work, and checks zone and journal. */
async function deathsOf(state: number, withService: boolean): Promise<void> {
  const end = withService ? serviceEnd() : null
  const desired = expected(state)
  const before = await Promise.all(lanes.map(async (lane) => ({ held: await held(lane), runs: runsOf(lane) })))
  for (const lane of lanes) define(lane, state)
  const calls = await Promise.all(lanes.map((lane) => die(lane, end)))
  await end?.over()
  await Promise.all(lanes.map(({ scene }) => scene.proxy.untilIdle()))
  for (const [index, lane] of lanes.entries()) {
    const { held: had, runs } = before[index] as (typeof before)[number]
    const has = await held(lane)
    const [run, ...more] = without(runsOf(lane), runs)
    const sent = calls[index] as number
    expect({
      twice: twice(has),
      missing: without(
        had.filter((line) => desired.includes(line)),
        has,
      ),
      foreign: without(has, [...had, ...desired]),
      journals: more.length,
      unjournalled: Math.max(0, sent - (run === undefined ? 0 : journalled(lane, run))),
    }).toEqual({ twice: [], missing: [], foreign: [], journals: 0, unjournalled: 0 })
  }
}

async function completes(lane: Lane, state: number): Promise<void> {
  const { scene, zone } = lane
  scene.proxy.use(() => NONE)
  expect(await scene.run(...APPLY)).toMatchObject({ status: 0, stderr: '' })
  expect(await held(lane)).toEqual(expected(state))
  expect(await scene.run('plan', '--detailed-exitcode', zone)).toMatchObject({ status: 0, stderr: '' })
  const history = expectEnd(await scene.run('history', '--format', 'json'), 0, { err: '' })
  expect((JSON.parse(history.stdout) as { runs: unknown[] }).runs).toHaveLength(runsOf(lane).length)
  expect(await scene.run('history', '--prune', '1')).toMatchObject({ status: 0 })
}

const numbers = Array.from({ length: rounds(ROUNDS) }, (_, index) => index)

async function killThenApply(round: number, waves: number): Promise<void> {
  // In two of three rounds, since a restart of the service is slow.
  const serviceDiesIn = round % 3 === 2 ? null : seededRandom(1000 + round).below(waves)
  for (let wave = 0; wave < waves; wave += 1) await deathsOf(round * WAVES + wave, wave === serviceDiesIn)
  await Promise.all(lanes.map((lane) => completes(lane, round * WAVES + waves - 1)))
}

const LONG = { tags: ['long'] }

test('killed twice, then applied', LONG, () => killThenApply(0, 2))
test.each(numbers)('killed repeatedly, then applied, round %i', LONG, (round) => killThenApply(round + 1, WAVES))

test('an apply continues if the service is killed and restarted, and reports truthfully', LONG, async () => {
  const [lane] = lanes as [Lane]
  const { scene, random } = lane
  for (let state = 1000; state < 1000 + rounds(3); state += 1) {
    define(lane, state)
    const start = scene.proxy.count()
    const run = await scene.start(...APPLY)
    const requests = 5 + random.below(REQUESTS - 15)
    while (scene.proxy.count() - start < requests) await wait(1)
    await service.killAndRestart()
    const { status } = await run.ended
    await scene.proxy.untilIdle()
    // The service was down for less than the retry time: only creations may have unknown outcomes.
    expect([0, 1, 4]).toContain(status)
    if (status === 0) expect(await held(lane)).toEqual(expected(state))
    await completes(lane, state)
  }
})

test('the processes died at many points', { tags: ['long'] }, () => {
  const log = process.env['ZONEWRIGHT_KILL_LOG']
  if (log !== undefined) appendFileSync(log, `${JSON.stringify(deaths)}\n`)
  expect(deaths.length).toBeGreaterThanOrEqual(numbers.length * 18)
  expect(deaths.filter(({ withService }) => withService).length).toBeGreaterThanOrEqual(numbers.length * 2)
  // From the start of the process to the read-back; twenty a round, some of them the same.
  const points = new Set(deaths.map(({ requests }) => requests))
  expect(points.size).toBeGreaterThan(REQUESTS * Math.min(0.8, numbers.length * 0.15))
})
