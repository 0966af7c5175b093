/** The requests of whole runs beside those of octoDNS's provider for the same service, or of dns-lexicon's if it has none, counted at the same scripted server. Sign-ins, one each, are left out. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { CLIENTS, startForClients } from '../scripted/clients.ts'
import { type ScriptedServer, startScriptedServer } from '../scripted/scripted-server.ts'
import { CLOUD, CLOUD_TYPES, type CloudService, type CloudType, TOKEN } from '../scripted/services.ts'
import { cli } from '../support/cli.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { rounds } from '../support/random.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

const python = findForeignClient('cloud-clients')
const PROGRAMS = fileURLToPath(new URL('../scripted/clients/', import.meta.url))

/** Records at services to which octoDNS's provider sends a request for each; with 20 rounds 1,000. */
const FEW = Math.min(1000, rounds(50))

/** Records that runs create, change and delete. octoDNS's provider of Route 53 sends more values at once than the service accepts if there are many more. */
const COUNTS: Readonly<Record<CloudType, number>> = {
  azure: FEW,
  cloudflare: FEW,
  desec: 900,
  digitalocean: FEW,
  gandi: FEW,
  google: 1000,
  hetzner: FEW,
  ovh: Math.min(FEW, 50),
  porkbun: Math.min(FEW, 50),
  route53: 250,
  scaleway: 900,
  vultr: Math.min(FEW, 50),
}

/** Requests to create the records, to plan them again, to change and to delete them. */
type Counts = readonly number[]
const isSignIn = (path: string): boolean => /\/token$|\/auth\/time$|\/oauth2\/|\/discovery\/|\.well-known/.test(path)

/** The requests so far, without those of the test itself. */
const sentTo = ({ requests }: ScriptedServer): number => requests.filter(({ path }) => path !== '/mark' && !isSignIn(path)).length

async function requestsOfOthers(type: CloudType): Promise<Counts> {
  const { hosts, start, octodns, lexicon } = CLIENTS[type]
  const service = start()
  const marks: number[] = []
  const { server, env } = await startForClients(hosts, (request) => {
    if (request.path !== '/mark') return service(request)
    marks.push(sentTo(server))
    return { status: 204, headers: {}, body: '' }
  })
  const [program, ...subject] = octodns ? ['octodns', octodns[0], octodns[1]] : ['lexicon', type, 'example.com', lexicon]
  const texts = [...subject, COUNTS[type]].map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
  const args = ['-B', join(PROGRAMS, `${program}_requests.py`), ...texts]
  const { status, stderr } = await runTool(python, args, { env, timeout: 300_000 })
  expect(status, stderr).toBe(0)
  return marks.map((total, index) => total - (marks[index - 1] ?? 0))
}

async function requestsOfOurs(type: CloudType): Promise<Counts> {
  const { settings, variable, env } = CLOUD[type] as CloudService
  const server = await startScriptedServer(CLIENTS[type].start())
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'zones'))
  writeFileSync(
    join(cwd, 'zonewright.yaml'),
    `providers:\n  live: {type: ${type}, ${settings(server.origin)}${type === 'cloudflare' ? ', plan: pro' : ''}}\n`,
  )
  const counts: number[] = []
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2', null]) {
    const hosts = Array.from({ length: address === null ? 0 : COUNTS[type] }, (_, host) => `  h${host}: {type: A, value: ${address}}\n`)
    writeFileSync(
      join(cwd, 'zones/example.com.yaml'),
      `domain: example.com\ndefault_ttl: 1h\nrecords:\n  '': {type: TXT, value: stays}\n${hosts.join('')}`,
    )
    const before = sentTo(server)
    const command = ['apply', '--yes', ...['updates', 'deletes'].flatMap((limit) => ['--allow', limit]), '--no-color']
    const { status, stdout, stderr } = await cli(command, { cwd, env: { ...env, [variable]: TOKEN } })
    expect(status, stdout + stderr).toBe(0)
    counts.push(sentTo(server) - before)
  }
  return counts
}

const JOBS = ['created', 'unchanged', 'changed', 'deleted']

describeWithTools([python, 'openssl'], 'requests beside octoDNS and dns-lexicon', () => {
  const compare = async (type: CloudType): Promise<void> => {
    const [ours, theirs] = [await requestsOfOurs(type), await requestsOfOthers(type)]
    const rows = JOBS.map((job, index) => `${job} ${ours[index]} (others ${theirs[index]})`)
    process.stderr.write(`${type}, ${COUNTS[type]} records: ${rows.join(', ')}\n`)
    // octoDNS's provider does not use the batches of Cloudflare, so half of its requests have to do. At Scaleway it believes an answer for a parent zone;
    // ours looks the zone up before it reads or writes.
    const share = (job: string): number => (type === 'scaleway' ? 2 : type === 'cloudflare' && job !== 'unchanged' ? 0.5 : 1)
    expect(JOBS.filter((job, index) => (ours[index] ?? 0) > share(job) * (theirs[index] ?? 0))).toEqual([])
  }
  const timeout = 300_000 * Math.max(1, rounds(1) / 4)
  test('digitalocean', { timeout }, () => compare('digitalocean'))
  test.concurrent.each(CLOUD_TYPES.filter((type) => type !== 'digitalocean'))('%s', { timeout, tags: ['long'] }, compare)
})
