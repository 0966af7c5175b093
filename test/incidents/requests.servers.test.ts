/** What the guards cost a run in which they find nothing: at most one request to a provider per guard. Real runs against the service. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startRecordingProxy } from '../cli/recording-proxy.ts'
import { TOKEN } from '../cli/scene.ts'
import { openServiceScene, type ServiceScene } from '../cli/service-scene.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** Two zones, so that a request per zone is too many. */
const ZONES = ['example.com', 'example.net']

const definitions = (records: string, pool: string): Record<string, string> =>
  Object.fromEntries(
    ZONES.map((domain) => [
      `zones/${domain}.yaml`,
      `domain: ${domain}\nsoa_email: hostmaster@example.com\ndefault_ttl: 300\nrecords:\n  www: {type: A, value: 192.0.2.1}\n  pool: {type: A, ${pool}}\n${records}`,
    ]),
  )

const BEFORE = '  mail: {type: A, value: 192.0.2.2}\n  unused: {type: A, value: 192.0.2.3}\n'
/** A creation, an update and a deletion. */
const AFTER = '  mail: {type: A, value: 192.0.2.4}\n  new: {type: A, value: 192.0.2.5}\n'
const POLICY = '- {name: ttl, each: record_set, require: {properties: {ttl: {minimum: 60}}}, message: a TTL is at least a minute}\n'
const ALLOWED = ['--allow', 'deletes', '--allow', 'updates']

interface Guard {
  readonly config?: string
  readonly files?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Whether the addresses of a name are those of an instance. */
  readonly isSourced?: boolean
  readonly needsApproval?: boolean
}

/** The requests to the provider in three runs with the same changes: `plan --out`, `apply` of that plan, and `apply` of the definitions. */
type Costs = readonly [plan: number, savedPlan: number, apply: number]

describeWithTools(['ssh-keygen'], 'guards that find nothing', () => {
  test('cost at most one request to the provider each, for any number of zones', async () => {
    const folder = temporaryDirectory()
    const key = join(folder, 'alice')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'alice', '-f', key])
    let offset = -30 * 3600_000
    const scene = await openServiceScene({ files: {}, clock: () => Date.now() + offset })
    offset = 0
    const counts = await startRecordingProxy(() => null, scene.service.observabilityUrl as string)
    onTestFinished(() => counts.close())
    const { pool } = await instanceOf(scene)
    const base = scene.config()

    const requestsOf = async (...args: string[]): Promise<number> => {
      const before = scene.proxy.requests.length
      const { status, stdout, stderr } = await scene.run(...args)
      expect(status, `${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
      return scene.proxy.requests.length - before
    }
    const costsOf = async ({ config = '', files = {}, args = [], isSourced, needsApproval }: Guard): Promise<Costs> => {
      const sourced = isSourced ? 'from: {instances: {tag: web}}' : pool
      scene.write({ ...files, 'zonewright.yaml': base + config, ...definitions(AFTER, sourced) })
      const plan = await requestsOf('plan', '--out', 'plan.json', ...ALLOWED)
      if (needsApproval) await requestsOf('approve', 'plan.json', '--key', key, '--yes')
      const savedPlan = await requestsOf('apply', 'plan.json', '--yes', ...args)
      // Back, with as many creations, updates and deletions. Changes that need approvals are in saved plans only.
      scene.write({ ...(needsApproval && { 'zonewright.yaml': base }), ...definitions(BEFORE, sourced) })
      return [plan, savedPlan, await requestsOf('apply', '--yes', ...ALLOWED)]
    }

    scene.write(definitions(BEFORE, pool))
    await requestsOf('apply', '--yes')
    const without = await costsOf({})
    // The look-up, the records and the rendered file of each zone; and the list of zones, which may have others.
    expect(without[0]).toBe(1 + 2 * ZONES.length + 1)
    const hour = (ago: number): string => new Date(Date.now() - ago * 3600_000).toISOString()
    const approvals = `approvals: {needed: 1, keys: {alice: '${readFileSync(`${key}.pub`, 'utf8').trim()}'}}\n`
    const rows = ZONES.map((domain) => `www.${domain},A,7,${hour(1)}\n`).join('')
    const guards: Readonly<Record<string, Guard>> = {
      'a journal at an address': { config: `journal: {url: 'file://${folder}/journal'}\n` },
      'sources and quarantine': { config: 'quarantine: {reads: 3, for: 30m}\n', isSourced: true },
      policies: { files: { 'policies/ttl.yaml': POLICY } },
      'usage of the name server': { config: `usage: {source: '${counts.origin}/usage'}\n` },
      'usage of a file': {
        config: 'usage: {source: usage.csv}\n',
        files: { 'usage.csv': `# from ${hour(30)} to ${hour(0)}\nname,type,count,last_asked\n${rows}` },
      },
      approvals: { config: approvals, needsApproval: true },
      'a trusted config': {
        config: approvals,
        ...{ files: { 'base.yaml': base + approvals }, args: ['--trusted-config', 'base.yaml'], needsApproval: true },
      },
    }
    for (const [name, guard] of Object.entries(guards)) {
      const more = (await costsOf(guard)).map((cost, run) => cost - (without[run] as number))
      expect(Math.max(...more), name).toBeLessThanOrEqual(1)
    }
    // One to the source of usage in each run.
    expect(counts.requests).toHaveLength(3)
  })
})

/** An instance of the service, and its address as the settings of a record. */
async function instanceOf({ service }: ServiceScene): Promise<{ readonly pool: string }> {
  const answer = await fetch(`${service.baseUrl}/compute/instances`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ region: 'us-east', type: 'g6-nanode-1', label: 'web-1', tags: ['web'] }),
  })
  const { ipv4 } = (await answer.json()) as { readonly ipv4: readonly string[] }
  return { pool: `value: ${ipv4[0]}` }
}
