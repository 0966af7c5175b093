import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { applyZones } from '../../apply/apply-plan.ts'
import { verifyZone } from '../../apply/verify-zone.ts'
import { isVerified } from '../../report/verification.ts'
import { type Address, startService, UNLIMITED } from '../../service/index.ts'
import { ALLOWED_HOSTS, readHostPolicy } from '../../transport/allowed-hosts.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole } from '../console.ts'
import { showAnswers } from '../demo-answers.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { exitOnSignal } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { packageFolder } from '../package-folder.ts'
import { readRunConfig } from '../run-config.ts'
import { openConfig, type Workspace } from '../workspace.ts'
import { runApply, statusOfOutcomes } from './apply.ts'
import { checkWorkspace, reportPlanDiagnostics, runPlan, statusOfPlan } from './plan.ts'

const TOKEN_VARIABLE = 'ZONEWRIGHT_DEMO_TOKEN'

const LOOPBACK: Address = { host: '127.0.0.1', port: 0 }

/** `zonewright demo`: a service of its own on free loopback ports, with a store that goes when it ends; zones planned, applied, verified. */
export async function demo(io: CliIo, _args: readonly [], options: CommonOptions & { readonly zones?: string }): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const folder = await mkdtemp(join(tmpdir(), 'zonewright-demo-'))
  const clean = (): void => rmSync(folder, { recursive: true, force: true })
  const release = exitOnSignal(clean)
  try {
    const service = await startService({ dataDirectory: folder, listen: LOOPBACK, dns: LOOPBACK, ...UNLIMITED })
    try {
      const dns = service.dnsAddress as Address
      const zones = options.zones === undefined ? join(packageFolder(), 'zones') : resolve(io.cwd, options.zones)
      // The demo talks to its own service only, whatever the list of the environment is.
      const env = { ...io.env, [TOKEN_VARIABLE]: service.token ?? '', [ALLOWED_HOSTS]: new URL(service.baseUrl).host }
      const workspace = await openDemo({ ...io, env }, zones, service.baseUrl)
      try {
        const chapter = chapters(console)
        chapter('A service of its own')
        console.print(`  interface    ${service.baseUrl}\n  name server  ${dns.host}, port ${dns.port}\n`)
        return await run(workspace, io, console, { chapter, zones: relative(io.cwd, zones) || '.', dns, flush: service.flush })
      } finally {
        await workspace.close()
      }
    } finally {
      await service.stop()
    }
  } finally {
    release()
    clean()
  }
}

async function openDemo(io: CliIo, zones: string, baseUrl: string): Promise<Workspace> {
  const text = `providers:
  cloud: {type: cloud, base_url: ${JSON.stringify(baseUrl)}, token: env:${TOKEN_VARIABLE}}
zones:
  - files: "**/*"
defaults: {soa_email: hostmaster@example.com}
`
  const { config, diagnostics } = readRunConfig(io, text, { file: 'demo.yaml', folder: zones, cwd: io.cwd })
  if (config === null) throw new Error(diagnostics.map((diagnostic) => diagnostic.message).join('; '))
  return openConfig(io, config, { zones: [] })
}

type Chapter = (title: string) => void

/** Numbered headings, with an empty line before all but the first. */
function chapters(console: Console): Chapter {
  let count = 0
  return (title) => {
    count += 1
    console.print(`${count === 1 ? '' : '\n'}== ${count}. ${title}\n\n`)
  }
}

interface DemoRun {
  readonly chapter: Chapter
  /** The folder of the definitions as the reader knows it. */
  readonly zones: string
  readonly dns: Address
  readonly flush: () => Promise<void>
}

async function run(workspace: Workspace, io: CliIo, console: Console, { chapter, zones, dns, flush }: DemoRun): Promise<ExitStatus> {
  if (!checkWorkspace(workspace, console)) return EXIT.failure
  chapter(`What the definitions in ${zones} need: zonewright plan`)
  const planned = await runPlan(workspace, io, console)
  reportPlanDiagnostics(planned.plan, console, 'text')
  console.plan(planned.plan, 'text')
  if (statusOfPlan(planned.plan) !== EXIT.done) return statusOfPlan(planned.plan)

  chapter('The changes made, and read back: zonewright apply')
  const outcomes = await runApply(workspace, planned, console, undefined, applyZones)
  console.diagnostics(outcomes.flatMap((outcome) => outcome.diagnostics))
  console.outcome(planned.plan, outcomes, 'text', { planShown: true })
  await flush()

  chapter('Planned again, nothing is left to do')
  const second = await runPlan(workspace, io, console)
  console.plan(second.plan, 'text')

  chapter('What the name server answers now')
  await showAnswers(second, dns, console.print)

  chapter('Definitions against records, zone files and every answer: zonewright verify')
  const verified = await Promise.all(second.zones.map((zone) => verifyZone(zone, [{ server: dns, role: 'authoritative' }], ANY_HOST)))
  console.verification({ zones: verified, diagnostics: second.plan.diagnostics }, 'text')

  chapter('How to go on')
  console.print(NEXT_STEPS)
  const fine = second.plan.zones.every((zone) => zone.changes.length === 0) && verified.every(isVerified)
  return fine ? statusOfOutcomes(outcomes) : EXIT.failure
}

/** The only name server that the demo asks is its own. */
const ANY_HOST = readHostPolicy({})

const NEXT_STEPS = `  zonewright init      writes a configuration, a first zone and a CI workflow into the current folder
  zonewright serve     runs the service with a store that stays
  zonewright --help    all commands
`
