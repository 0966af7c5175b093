/**
 * Real processes killed (SIGKILL) at random points over real sockets (ZONEWRIGHT_TEST_ROUNDS=10: hundreds of them): the reconciler, and in every third round the service too, which comes back on
 * the same data. Once no call of the dead run is under way, one apply makes the zone exactly the definition, and the next has nothing to do.
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { rounds, seededRandom } from '../support/random.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type ServiceProcess, startServiceProcess, TOKEN } from './service-process.ts'

const NAMES = 120
/** Processes killed side by side, each on a zone of its own: most of a process's life is its start. */
const ZONES = 4

let service: ServiceProcess
let proxy: FaultProxy
const folder = temporaryDirectory()

beforeAll(async () => {
  service = await startServiceProcess()
  proxy = await startFaultProxy(service.origin)
  mkdirSync(join(folder, 'zones'))
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:\n  cloud: {type: cloud, base_url: '${proxy.origin}/v4', token: env:ZONEWRIGHT_TOKEN}\n`,
  )
})

afterAll(async () => {
  await proxy?.close()
  await service?.stop()
})

/** Alternating kinds of record at most names, so that every round creates, updates and deletes, in an order. */
function records(round: number): { name: string; type: string; target: string }[] {
  return Array.from({ length: NAMES }, (_, index) => {
    const turn = (index + round) % 5
    const name = `n${index}`
    if (turn === 0) return []
    if (turn === 1) return [{ name, type: 'CNAME', target: `r${round}.example.net` }]
    return [
      { name, type: 'A', target: `192.0.2.${1 + (round % 250)}` },
      ...(turn === 2 ? [{ name, type: 'TXT', target: `round ${round}` }] : []),
    ]
  }).flat()
}

function define(zone: string, round: number): void {
  const byName = new Map<string, { type: string; target: string }[]>()
  for (const { name, ...rest } of records(round)) byName.set(name, [...(byName.get(name) ?? []), rest])
  const lines = [...byName].map(([name, values]) => {
    const flow = values.map(({ type, target }) => `{type: ${type}, value: "${type === 'CNAME' ? `${target}.` : target}"}`)
    return `  ${name}: [${flow.join(', ')}]`
  })
  writeFileSync(join(folder, `zones/${zone}.yaml`), `domain: ${zone}\nsoa_email: hostmaster@example.com\nrecords:\n${lines.join('\n')}\n`)
}

const apply = (zone: string) =>
  startProgram(['apply', '--yes', '--quiet', '--allow', 'updates', '--allow', 'deletes', zone], {
    cwd: folder,
    env: { ZONEWRIGHT_TOKEN: TOKEN },
  })

const expected = (round: number): string[] =>
  records(round)
    .map(({ name, type, target }) => `${name} ${type} ${target}`)
    .sort()

const held = async (zone: string): Promise<string[]> =>
  ((await service.held(zone)) ?? []).map(({ name, type, target }) => `${name} ${type} ${target}`).sort()

/** Where the processes were killed: calls that had gone out since they were started, by all that run side by side. */
const killedAfter: number[] = []

test.each(Array.from({ length: rounds(3) }, (_, index) => index + 1))(
  'killed, then applied again, round %i',
  async (round) => {
    const random = seededRandom(round)
    const zones = Array.from({ length: ZONES }, (_, index) => `zone${index}.example`)
    for (const zone of zones) define(zone, round)
    proxy.use(() => (random.chance(0.3) ? { kind: 'delay', before: random.below(8), after: random.below(8) } : { kind: 'none' }))
    // Several deaths before anybody lives through: what one leaves behind the next one finds.
    await Promise.all(
      zones.map(async (zone) => {
        for (let death = 0; death < 3; death += 1) {
          const run = await apply(zone)
          const start = proxy.count()
          const calls = random.below(400)
          let ended = false
          void run.ended.then(() => {
            ended = true
          })
          while (!ended && proxy.count() - start < calls) await wait(1)
          if (!ended) killedAfter.push(proxy.count() - start)
          run.kill('SIGKILL')
          await run.ended
        }
      }),
    )
    if (round % 3 === 0) await service.killAndRestart()
    await proxy.quiet()

    for (const zone of zones) {
      const run = await apply(zone)
      const { status } = await run.ended
      expect({ status, said: run.stderr() }).toEqual({ status: 0, said: '' })
      expect(await held(zone)).toEqual(expected(round))
    }
    const again = await startProgram(['plan', '--detailed-exitcode'], { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
    expect((await again.ended).status).toBe(0)
  },
  120_000,
)

test('the service is killed while an apply is under way, which says what it knows and goes on', async () => {
  const random = seededRandom(77)
  for (let round = 0; round < rounds(2); round += 1) {
    define('zone0.example', 1000 + round)
    const run = await apply('zone0.example')
    const start = proxy.count()
    const calls = 5 + random.below(100)
    while (proxy.count() - start < calls) await wait(1)
    await service.killAndRestart()
    const { status } = await run.ended
    await proxy.quiet()
    // The service was away for less time than calls are tried again: only creations in doubt may be left.
    expect([0, 1, 4]).toContain(status)
    if (status === 0) expect(await held('zone0.example')).toEqual(expected(1000 + round))
    const next = await apply('zone0.example')
    expect((await next.ended).status).toBe(0)
    expect(await held('zone0.example')).toEqual(expected(1000 + round))
  }
}, 120_000)

test('the processes died at many points', () => {
  const log = process.env['ZONEWRIGHT_KILL_LOG']
  if (log !== undefined) appendFileSync(log, `${killedAfter.join(' ')}\n`)
  expect(new Set(killedAfter).size).toBeGreaterThan(rounds(3) * 4)
})
