/**
 * Zones of real organisations, from octoDNS's definition files to the answers that dig gets: loaded without conversion, applied over a
 * socket, planned again without changes, verified, and compared record by record with what octoDNS itself loads.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PlanDocument } from '../../src/report/plan-document.ts'
import { type RunningService, startService, UNLIMITED } from '../../src/service/index.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

const CORPUS = fileURLToPath(new URL('../corpora/octodns', import.meta.url))

interface Case {
  readonly id: string
  readonly zone: string
  readonly dir: string
  readonly files: readonly string[]
  readonly default_ttl: number
  readonly split_extension: string | null
  readonly unsupported?: readonly (readonly [string, string])[]
  readonly expected?: string
}

interface ExpectedSet {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly values: readonly string[]
  readonly extra?: {
    readonly octodns?: { readonly ignored?: boolean; readonly included?: readonly string[]; readonly excluded?: readonly string[] }
  }
}

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

const SUPPORTED = new Set(['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'PTR', 'CAA'])
const TTLS = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200]

/** The API's rounding, independent of the planner's: the nearest valid value, the lower of two. */
const rounded = (ttl: number): number => TTLS.reduce((best, step) => (Math.abs(step - ttl) < Math.abs(best - ttl) ? step : best))

interface Verification {
  readonly zones: readonly {
    readonly zone: string
    readonly hidden: readonly { readonly name: string; readonly type: string }[]
    readonly nameServers: readonly { readonly covered: readonly string[] }[]
  }[]
}

describeWithTools(['dig'], 'the octoDNS corpus, to the service and back', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService({
      dataFolder: null,
      listen: { host: '127.0.0.1', port: 0 },
      dns: { host: '127.0.0.1', port: 0 },
      ...UNLIMITED,
    })
  })
  afterAll(() => service.stop())

  it('has 67 cases', () => expect(CASES).toHaveLength(67))

  it.each(RUNS)('%s', { timeout: 120_000 }, async (run) => {
    const cases = CASES.filter((one) => runOf(one) === run)
    const setting = workspace(cases, service)
    const zonewright = (...args: string[]): Promise<CliResult> => cli(args, setting)

    // Records that octoDNS would skip as unsupported are errors with file and line.
    const strict = await zonewright('plan', '--format', 'json', '-c', 'strict.yaml')
    const plan = documentOf(strict)
    expectUnsupportedNamed(cases, plan, 'error')
    const lacking = plan.zones.some((zone) => zone.diagnostics.some((one) => one.severity === 'error'))
    expect(strict.status).toBe(lacking ? 1 : 0)

    const applied = await zonewright('apply', '--yes', '--format', 'json')
    expect([applied.status, applied.stderr.match(/^.*error\[.*$/gm) ?? []]).toEqual([0, []])
    const outcome = documentOf(applied)
    expectUnsupportedNamed(cases, outcome, 'warning')
    expect(outcome.zones.flatMap((zone) => zone.changes.map((change) => change.outcome?.state)).every((state) => state === 'applied')).toBe(
      true,
    )

    const second = documentOf(await zonewright('plan', '--format', 'json', '--detailed-exitcode'))
    expect(second.zones.map((zone) => [zone.zone, zone.changes])).toEqual(second.zones.map((zone) => [zone.zone, []]))

    await service.flush()
    const verified = await zonewright('verify', '--format', 'json', '--nameserver', `127.0.0.1:${service.dnsAddress?.port}`)
    const verification: Verification & { readonly summary: object } = JSON.parse(verified.stdout)
    expect([verified.status, verification.summary]).toEqual([0, { zones: cases.length, verified: cases.length }])

    const held = new Set(cases.map((one) => one.zone))
    for (const one of cases) await expectDigAgrees(one, held, outcome, verification, service)
    const emptied = await zonewright('verify', '--no-dns')
    expect(emptied.status).toBe(0)
    await removeZones(service)
  })
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
  writeFileSync(join(cwd, 'strict.yaml'), `${config}\n`)
  writeFileSync(join(cwd, 'zonewright.yaml'), `${config}\nunsupported: skip\n`)
  return { cwd, env: { TOKEN: service.token ?? '' } }
}

/** Expects a report with file and line for every record set that octoDNS cannot load or whose type the service does not support. */
function expectUnsupportedNamed(cases: readonly Case[], plan: PlanDocument, severity: string): void {
  for (const one of cases) {
    const found = plan.zones.find((zone) => zone.zone === one.zone)
    const named = (found?.diagnostics ?? []).filter(({ code, severity: held }) => code === 'type-unsupported' && held === severity)
    expect(named.every(({ file, line }) => file !== null && (line ?? 0) > 0)).toBe(true)
    const lacking = (one.expected === undefined ? [] : lines<ExpectedSet>(one.expected)).filter((set) => !SUPPORTED.has(set.type))
    const wanted = [
      // Aliases of Route 53 are ALIAS records.
      ...(one.unsupported ?? []).map(
        ([name, type]) => `${name === '' ? '' : `${name}.`}${one.zone} ${type === 'Route53Provider/ALIAS' ? 'ALIAS' : type}`,
      ),
      ...lacking.map((set) => `${set.name} ${set.type}`),
    ]
    for (const each of wanted) {
      const [name, type] = each.split(' ') as [string, string]
      expect(
        named.filter(({ message }) => message.includes(name) && message.includes(type)),
        each,
      ).not.toEqual([])
    }
  }
}

/** Queries every record set that octoDNS loads with dig, and compares the answers with octoDNS's values. */
async function expectDigAgrees(
  one: Case,
  held: ReadonlySet<string>,
  outcome: PlanDocument,
  verification: Verification,
  service: RunningService,
): Promise<void> {
  if (one.expected === undefined) return
  const sets = lines<ExpectedSet>(one.expected)
  const diagnostics = outcome.zones.find((zone) => zone.zone === one.zone)?.diagnostics ?? []
  const refused = diagnostics.filter(({ code }) => code === 'record-unsupported' || code === 'limit-exceeded').map(({ message }) => message)
  const cuts = sets.filter((set) => set.type === 'NS' && set.name !== one.zone).map((set) => set.name)
  const isHidden = (set: ExpectedSet): boolean =>
    cuts.some((cut) => set.name.endsWith(`.${cut}`) || (set.name === cut && set.type !== 'NS'))
  const asked = sets.filter((set) => {
    if (!SUPPORTED.has(set.type) || isHidden(set) || (set.type === 'NS' && held.has(set.name))) return false
    const { ignored = false, included, excluded } = set.extra?.octodns ?? {}
    if (ignored || (included && !included.includes('cloud')) || excluded?.includes('cloud')) return false
    return !refused.some((message) => message.startsWith(`${set.name} ${set.type}:`))
  })
  // Only what the run has reported may be missing.
  const verified = verification.zones.find((zone) => zone.zone === one.zone)
  const named = new Set([
    ...(verified?.hidden ?? []).map((set) => `${set.name} ${set.type}`),
    ...(verified?.nameServers ?? []).flatMap((server) => server.covered.map((name) => `${name} NS`)),
  ])
  for (const set of sets.filter((each) => SUPPORTED.has(each.type) && !asked.includes(each))) {
    if (set.type === 'NS' && set.name === one.zone) expect(diagnostics.map(({ code }) => code)).toContain('apex-ns-kept')
    else if (isHidden(set) || held.has(set.name)) expect(named).toContain(`${set.name} ${set.type}`)
  }
  const folder = temporaryDirectory()
  const batch = join(folder, 'questions')
  writeFileSync(batch, asked.map((set) => `${set.name} ${set.type}\n`).join(''))
  const dig = await runTool(
    'dig',
    ['@127.0.0.1', '-p', String(service.dnsAddress?.port), '+norecurse', '+noall', '+answer', '+authority', '-f', batch],
    { timeout: 60_000 },
  )
  const answered = new Map<string, string[]>()
  for (const line of dig.stdout.split('\n')) {
    const [, name, ttl, type, data] = /^(\S+)\s+(\d+)\s+IN\s+(\S+)\s+(.*)$/.exec(line) ?? []
    if (name === undefined || type === 'SOA') continue
    const key = `${name.toLowerCase()} ${type}`
    answered.set(key, [...(answered.get(key) ?? []), `${ttl} ${type === 'TXT' ? textOf(data ?? '') : data}`])
  }
  for (const set of asked) {
    const expected = set.values.map((value) => `${rounded(set.ttl)} ${dataOf(set, value)}`)
    expect([...new Set(answered.get(`${set.name} ${set.type}`) ?? [])].sort(), `${set.name} ${set.type}`).toEqual(expected.sort())
  }
}

const dataOf = (set: ExpectedSet, value: string): string =>
  ['CNAME', 'MX', 'NS', 'SRV', 'PTR'].includes(set.type) && !value.endsWith('.') ? `${value}.` : value

/** The text of a TXT record as dig prints it. */
const textOf = (data: string): string =>
  [...data.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
    .map(([, string]) =>
      (string ?? '').replace(/\\(\d{3}|.)/g, (_, code) => (code.length === 3 ? String.fromCharCode(Number(code)) : code)),
    )
    .join('')

/** Deletes all zones, so that the next run starts with none. */
async function removeZones(service: RunningService): Promise<void> {
  const headers = { authorization: `Bearer ${service.token}` }
  const list = (await (await fetch(`${service.baseUrl}/domains?page_size=500`, { headers })).json()) as { data: { id: number }[] }
  for (const { id } of list.data) await fetch(`${service.baseUrl}/domains/${id}`, { method: 'DELETE', headers })
}
