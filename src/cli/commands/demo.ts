/** `zonewright demo`: a tour of plan, apply and verify against a temporary service. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { isAtOrBelow } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import { hasChanges, planOf, withoutSecrets } from '../../plan/planned-zone.ts'
import { isVerified } from '../../report/verification.ts'
import { applyZones } from '../../run/apply/apply-zones.ts'
import { EXIT, type ExitStatus, statusOfOutcomes, statusOfPlan } from '../../run/context/exit-status.ts'
import type { RunContext } from '../../run/context/run-context.ts'
import { readRunConfig } from '../../run/load/run-config.ts'
import { openConfig, reportLoaded } from '../../run/load/workspace.ts'
import type { PlannedJob, PlannedJobs } from '../../run/plan/plan-zones.ts'
import { makePlan } from '../../run/plan/plan-zones.ts'
import { applyWithProgress } from '../../run/run-apply.ts'
import { verifyZone } from '../../run/verify-zone.ts'
import { type Address, startService, UNLIMITED } from '../../service/index.ts'
import { ALLOWED_HOSTS, readHostPolicy } from '../../transport/allowed-hosts.ts'
import { createDnsClient } from '../../transport/dns-client.ts'
import type { DnsServer } from '../../transport/dns-exchange.ts'
import type { CommonOptions, SetAction } from '../command.ts'
import { exitOnSignal } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import type { CliOutput } from '../output.ts'
import { packageFolder } from '../package-folder.ts'
import { readOnlySetup } from '../run-setup.ts'

const TOKEN_VARIABLE = 'ZONEWRIGHT_DEMO_TOKEN'

const LOOPBACK: Address = { host: '127.0.0.1', port: 0 }

interface DemoOptions extends CommonOptions {
  readonly zones?: string
}

export function configure(command: Command, setAction: SetAction): void {
  command.option('--zones <dir>', 'the definitions (default: the examples in the package)')
  setAction(command, demo)
}

type DemoContext = RunContext & { readonly output: CliOutput }

/** `zonewright demo`: plans, applies and verifies zones against a temporary service on free loopback ports. The data is deleted at the end. */
async function demo(io: CliIo, _args: readonly [], options: DemoOptions): Promise<ExitStatus> {
  const folder = await mkdtemp(join(tmpdir(), 'zonewright-demo-'))
  const clean = (): void => rmSync(folder, { recursive: true, force: true })
  const release = exitOnSignal(clean)
  try {
    const service = await startService({ dataFolder: folder, listen: LOOPBACK, dns: LOOPBACK, ...UNLIMITED })
    try {
      const dns = service.dnsAddress as Address
      const zones = options.zones === undefined ? join(packageFolder(), 'zones') : resolve(io.cwd, options.zones)
      // The demo contacts only its own service, whatever hosts the environment allows.
      const env = { ...io.env, [TOKEN_VARIABLE]: service.token ?? '', [ALLOWED_HOSTS]: new URL(service.baseUrl).host }
      const context = await openDemo({ ...io, env }, options, zones, service.baseUrl)
      try {
        const heading = numberedHeadings(context.output)
        heading('A temporary service')
        context.output.print(`  API          ${service.baseUrl}\n  name server  ${dns.host}, port ${dns.port}\n`)
        return await runDemo(context, { heading, zones: relative(io.cwd, zones) || '.', dns, flush: service.flush })
      } finally {
        await context.workspace.close()
      }
    } finally {
      await service.stop()
    }
  } finally {
    release()
    clean()
  }
}

async function openDemo(io: CliIo, options: DemoOptions, zones: string, baseUrl: string): Promise<DemoContext> {
  const text = `providers:
  cloud: {type: cloud, base_url: ${JSON.stringify(baseUrl)}, token: env:${TOKEN_VARIABLE}}
zones:
  - files: "**/*"
defaults: {soa_email: hostmaster@example.com}
`
  const { config, diagnostics } = readRunConfig(io, text, { file: 'demo.yaml', folder: zones, cwd: io.cwd })
  if (config === null) throw new Error(diagnostics.map((diagnostic) => diagnostic.message).join('; '))
  const { zones: _, ...common } = options
  const setup = readOnlySetup(io, common)
  return { ...setup, workspace: await openConfig(setup, config, []) }
}

type PrintHeading = (title: string) => void

/** Numbered headings, with an empty line before all but the first. */
function numberedHeadings(output: CliOutput): PrintHeading {
  let count = 0
  return (title) => {
    count += 1
    output.printProse(`${count === 1 ? '' : '\n'}== ${count}. ${title}\n\n`)
  }
}

interface DemoRun {
  readonly heading: PrintHeading
  /** The folder of the definitions relative to the working directory. */
  readonly zones: string
  readonly dns: Address
  readonly flush: () => Promise<void>
}

async function runDemo(context: DemoContext, { heading, zones, dns, flush }: DemoRun): Promise<ExitStatus> {
  const { output } = context
  if (!reportLoaded(output, context.workspace)) return EXIT.failure
  heading(`The changes for the definitions in ${zones}: zonewright plan`)
  const planned = withoutSecrets(await makePlan(context), context.environment.secrets)
  const plan = planOf(planned)
  output.planDiagnostics(plan)
  output.proposal(plan)
  if (statusOfPlan(plan) !== EXIT.done) return statusOfPlan(plan)

  heading('Apply the changes and read the zones again: zonewright apply')
  const outcomes = await applyWithProgress(context, planned, applyZones)
  output.diagnostics(outcomes.flatMap((outcome) => outcome.diagnostics))
  output.outcome(plan, outcomes)
  await flush()

  heading('A second plan is empty')
  const second = await makePlan(context)
  output.plan(planOf(second))

  heading('Queries to the name server')
  await showQueries(second, dns, output.printProse)

  heading('Compare definitions with records, zone files and DNS answers: zonewright verify')
  const verified = await Promise.all(second.zones.map((zone) => verifyZone(zone, [{ server: dns, role: 'authoritative' }], ANY_HOST)))
  output.verification({ zones: verified, diagnostics: second.diagnostics })

  heading('Next steps')
  output.printProse(NEXT_STEPS)
  const isComplete = !second.zones.some(hasChanges) && verified.every(isVerified)
  return isComplete ? statusOfOutcomes(outcomes) : EXIT.failure
}

/** The demo asks only its own name server. */
const ANY_HOST = readHostPolicy({})

const NEXT_STEPS = `  zonewright init      writes a configuration, a first zone and a CI workflow into the current folder
  zonewright serve     runs the service with persistent storage
  zonewright --help    all commands
`

interface Query {
  readonly name: string
  readonly type: string
}

/** The queries to send: each is about the first suitable record of a zone. */
const QUERY_KINDS: readonly ((record: ResourceRecord, zone: PlannedJob) => Query | null)[] = [
  // An alias of a name in the zone: the answer has the whole chain.
  ({ name, type, data }, { plan }) =>
    type === 'CNAME' && !name.startsWith('*') && isAtOrBelow(data as typeof name, plan.zone) ? { name, type: 'A' } : null,
  ({ name, type }) =>
    name.startsWith('*.') && (type === 'A' || type === 'CNAME') ? { name: `anything.${name.slice(2)}`, type: 'A' } : null,
  ({ name, type }) => (type === 'MX' ? { name, type } : null),
  ({ name, type }) => (type === 'PTR' ? { name, type } : null),
]

/** Queries the name server about each zone, and prints queries and answers like dig. */
async function showQueries({ zones }: PlannedJobs, server: DnsServer, print: (text: string) => void): Promise<void> {
  const client = createDnsClient(server)
  try {
    for (const [index, { name, type }] of zones.flatMap(queriesOf).entries()) {
      const { answers, rcode } = await client.query({ name: name as ResourceRecord['name'], type })
      const lines = answers.map((record) => `  ${record.name}  ${record.ttl}  IN  ${record.type}  ${record.data}\n`)
      print(`${index === 0 ? '' : '\n'}  $ dig @${server.host} -p ${server.port} ${name} ${type}\n`)
      print(lines.length === 0 ? `  ${rcode}, no records\n` : lines.join(''))
    }
  } finally {
    client.close()
  }
}

function queriesOf(zone: PlannedJob): Query[] {
  const records = zone.existing?.records ?? []
  const found = QUERY_KINDS.flatMap((kind) => {
    for (const record of records) {
      const query = kind(record, zone)
      if (query !== null) return [query]
    }
    return []
  })
  const distinct = new Map(found.map((query) => [`${query.name} ${query.type}`, query]))
  return [...distinct.values()]
}
