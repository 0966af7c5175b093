/**
 * Zones of real organisations, from octoDNS's definition files to the answers of a name server: loaded without conversion, applied over a socket, planned
 * again without changes, and verified. convert/octodns/corpus.test.ts compares the definitions with what octoDNS itself loads.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PlanDocument } from '../../src/report/plan-document.ts'
import { type RunningService, startService, UNLIMITED } from '../../src/service/index.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const CORPUS = fileURLToPath(new URL('../corpora/octodns', import.meta.url))

type Case = { id: string; zone: string; dir: string; files: readonly string[]; default_ttl: number; split_extension: string | null }

const lines = <T>(path: string): T[] =>
  readFileSync(join(CORPUS, path), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const CASES = lines<Case>('cases.jsonl')

/** Cases that can run together: with different zones, the same kind of split and the same TTL. */
const RUNS = [...new Set(CASES.map(runOf))]

function runOf(one: Case): string {
  return `${one.dir} ${one.split_extension ?? '-'} ${one.default_ttl}`
}

describe('the octoDNS corpus, to the service and back', () => {
  let service: RunningService
  beforeAll(async () => {
    const loopback = { host: '127.0.0.1', port: 0 }
    service = await startService({ dataFolder: null, listen: loopback, dns: loopback, ...UNLIMITED })
  })
  afterAll(() => service.stop())

  it('has 67 cases', () => expect(CASES).toHaveLength(67))

  const isSmall = (run: string): boolean => /docs|semis/.test(run)
  it.each(RUNS.filter(isSmall))('%s', (run) => expectHeld(run))
  it.each(RUNS.filter((run) => !isSmall(run)))('%s', { tags: ['long'] }, (run) => expectHeld(run))

  async function expectHeld(run: string): Promise<void> {
    const cases = CASES.filter((one) => runOf(one) === run)
    const setting = workspace(cases, service)
    const zonewright = (...args: string[]): Promise<CliResult> => cli(args, setting)
    const applied = await zonewright('apply', '--yes', '--format', 'json')
    expect([applied.status, applied.stderr.match(/^.*error\[.*$/gm) ?? []]).toEqual([0, []])
    const states = documentOf(applied).zones.flatMap((zone) => zone.changes.map((change) => change.outcome?.state))
    expect(new Set(states)).toEqual(new Set(['applied']))

    const second = documentOf(await zonewright('plan', '--format', 'json', '--detailed-exitcode'))
    expect(second.zones.map((zone) => [zone.zone, zone.changes])).toEqual(second.zones.map((zone) => [zone.zone, []]))

    await service.flush()
    const verified = await zonewright('verify', '--format', 'json', '--nameserver', `127.0.0.1:${service.dnsAddress?.port}`)
    expect([verified.status, JSON.parse(verified.stdout).summary]).toEqual([0, { zones: cases.length, verified: cases.length }])

    await removeZones(service)
  }
})

function documentOf(result: CliResult): PlanDocument {
  if (result.stdout === '') throw new Error(result.stderr)
  return JSON.parse(result.stdout)
}

/** A folder with the definitions of the cases and a config that excludes what the service does not support. */
function workspace(cases: readonly Case[], service: RunningService): { cwd: string; env: Record<string, string> } {
  const cwd = temporaryDirectory()
  const [first] = cases as [Case]
  mkdirSync(join(cwd, 'zones'))
  for (const one of cases) {
    for (const file of one.files) {
      const path = join(cwd, 'zones', file)
      mkdirSync(join(path, '..'), { recursive: true })
      const text = readFileSync(join(CORPUS, one.dir, file))
      // A definition cannot be an empty file, as it can in octoDNS.
      writeFileSync(path, text.toString() === '---\n' ? '{}\n' : text)
    }
  }
  const config = [
    `providers:\n  cloud: {type: cloud, base_url: '${service.baseUrl}', token: env:TOKEN}`,
    'defaults: {soa_email: hostmaster@example.com}',
    `octodns_default_ttl: ${first.default_ttl}`,
    ...(first.split_extension === null ? [] : [`octodns_split_extension: ${first.split_extension}`]),
  ].join('\n')
  writeFileSync(join(cwd, 'zonewright.yaml'), `${config}\nunsupported: skip\n`)
  return { cwd, env: { TOKEN: service.token ?? '' } }
}

/** Deletes all zones, so that the next run starts with none. */
async function removeZones(service: RunningService): Promise<void> {
  const headers = { authorization: `Bearer ${service.token}` }
  const list = (await (await fetch(`${service.baseUrl}/domains?page_size=500`, { headers })).json()) as { data: { id: number }[] }
  for (const { id } of list.data) await fetch(`${service.baseUrl}/domains/${id}`, { method: 'DELETE', headers })
}
