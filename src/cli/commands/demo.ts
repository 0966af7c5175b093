import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { readConfig } from '../../definitions/read-config.ts'
import { isVerified } from '../../plan/verification.ts'
import { renderVerification } from '../../report/verification-report.ts'
import { startService } from '../../service/index.ts'
import { verifyZone } from '../../sync/verify-zone.ts'
import { createDnsClient } from '../../transport/dns-client.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { type CliIo, colorOf } from '../io.ts'
import { packageFolder } from '../package-folder.ts'
import { openConfig, type Workspace } from '../workspace.ts'
import { runApply, statusOfOutcomes } from './apply.ts'
import { checkWorkspace, reportPlanDiagnostics, runPlan, statusOfPlan } from './plan.ts'

const TOKEN_VARIABLE = 'ZONEWRIGHT_DEMO_TOKEN'

/** Record sets of which answers are shown. */
const ANSWERS = 6

/** `zonewright demo`: a service of its own on free loopback ports, with a store that goes when it ends; zones planned, applied, verified. */
export async function demo(io: CliIo, _args: readonly [], options: CommonOptions & { readonly zones?: string }): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const folder = await mkdtemp(join(tmpdir(), 'zonewright-demo-'))
  const loopback = { host: '127.0.0.1', port: 0 }
  const service = await startService({ dataDirectory: folder, listen: loopback, dns: loopback })
  try {
    const zones = options.zones === undefined ? join(packageFolder(), 'zones') : resolve(io.cwd, options.zones)
    console.print(
      heading(`A service of its own: ${service.baseUrl}, name server ${service.dnsAddress?.host} port ${service.dnsAddress?.port}`),
    )
    const env = { ...io.env, [TOKEN_VARIABLE]: service.token ?? '' }
    const text = `providers:\n  cloud: {type: cloud, base_url: ${JSON.stringify(service.baseUrl)}, token: env:${TOKEN_VARIABLE}}\nzones:\n  - files: "**/*"\ndefaults: {soa_email: hostmaster@example.com}\n`
    const { config, diagnostics } = readConfig(text, { file: 'demo.yaml', folder: zones, cwd: io.cwd })
    if (config === null) throw new Error(diagnostics.map((diagnostic) => diagnostic.message).join('; '))
    const workspace = await openConfig({ ...io, env }, config, { zones: [] })
    try {
      return await run(workspace, io, console, {
        zones: relative(io.cwd, zones) || '.',
        dns: service.dnsAddress,
        flush: service.flush,
        options,
      })
    } finally {
      await workspace.close()
    }
  } finally {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const heading = (text: string): string => `== ${text}\n`

interface DemoRun {
  readonly zones: string
  readonly dns: { readonly host: string; readonly port: number } | null
  readonly flush: () => Promise<void>
  readonly options: CommonOptions
}

async function run(workspace: Workspace, io: CliIo, console: Console, { zones, dns, flush, options }: DemoRun): Promise<ExitStatus> {
  if (!checkWorkspace(workspace, console)) return EXIT.failure
  console.print(heading(`The plan for ${zones}`))
  const planned = await runPlan(workspace, io, console)
  reportPlanDiagnostics(planned, console, 'text')
  console.plan(planned.plan, 'text')
  if (statusOfPlan(planned) !== EXIT.done) return statusOfPlan(planned)

  console.print(heading('Applied'))
  const outcomes = await runApply(workspace, planned, console, undefined)
  console.diagnostics(outcomes.flatMap((outcome) => outcome.diagnostics))
  console.outcome(planned.plan, outcomes, 'text')
  await flush()

  console.print(heading('The second plan'))
  const second = await runPlan(workspace, io, console)
  console.plan(second.plan, 'text')

  console.print(heading('What the name server answers'))
  const servers = dns === null ? [] : [dns]
  if (dns !== null) await showAnswers(second, dns, console)
  const verified = await Promise.all(second.zones.map((zone) => verifyZone(zone, servers)))
  console.print(renderVerification(verified, 'text', { color: colorOf(io.stdout, io, options.color), width: null, verbose: false }))
  console.print(heading('How to go on'))
  console.print(NEXT_STEPS)
  const fine = second.plan.zones.every((zone) => zone.changes.length === 0) && verified.every(isVerified)
  return fine ? statusOfOutcomes(outcomes) : EXIT.failure
}

/** Asks for a record set of each zone in turn, over the wire. */
async function showAnswers(
  planned: Awaited<ReturnType<typeof runPlan>>,
  dns: { readonly host: string; readonly port: number },
  console: Console,
): Promise<void> {
  const client = createDnsClient(dns)
  try {
    const questions = planned.zones.flatMap(
      ({ existing }) => existing?.records.filter((record) => ['A', 'CNAME', 'MX', 'PTR'].includes(record.type)).slice(0, 2) ?? [],
    )
    for (const { name, type } of questions.slice(0, ANSWERS)) {
      const answer = await client.query({ name, type })
      for (const record of answer.answers) console.print(`${record.name}\t${record.ttl}\tIN\t${record.type}\t${record.data}\n`)
    }
  } finally {
    client.close()
  }
}

const NEXT_STEPS = `A service that stays:    ZONEWRIGHT_BOOTSTRAP_TOKEN=... zonewright serve
Your own zones:          write zonewright.yaml (docs/configuration.md), then
                         zonewright validate, zonewright plan, zonewright apply, zonewright verify
`
