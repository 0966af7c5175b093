import { examineNameServer, examineProvider } from '../../apply/examine-providers.ts'
import { type Diagnostic, isError } from '../../dns/diagnostic.ts'
import type { Finding } from '../../dns/finding.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { createProvider } from '../../providers/registry.ts'
import { type Examination, renderDoctorJson, renderDoctorText } from '../../report/doctor-report.ts'
import { counted } from '../../report/english.ts'
import type { CommonOptions } from '../common-options.ts'
import { createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { exitOnSignal } from '../interruption.ts'
import { type CliIo, colorOf } from '../io.ts'
import { loadRunConfig } from '../run-config.ts'
import { openConfig, type Workspace } from '../workspace.ts'

export interface DoctorOptions extends CommonOptions {
  readonly format: 'text' | 'json'
}

/** `zonewright doctor [zone...]`: whether providers can be reached, and their tokens do what the config asks. Changes nothing. */
export async function doctor(io: CliIo, [zones]: readonly [string[]], options: DoctorOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const { config, diagnostics } = await loadRunConfig(io, options.config)
  if (config === null) {
    console.diagnostics(diagnostics)
    return EXIT.failure
  }
  const release = exitOnSignal(() => undefined)
  const workspace = await openConfig(io, config, { zones })
  try {
    const ofConfig = {
      subject: config.file ?? 'configuration',
      findings: configFindings([...diagnostics, ...workspace.diagnostics], workspace),
    }
    const providers = await Promise.all(
      [...config.providers.values()].map(async (entry): Promise<Examination> => {
        const made = await createProvider(entry, { secrets: { folder: config.folder, env: io.env, loaded: io.secrets } })
        const problems = made.diagnostics.map(findingOf)
        if (made.provider === null) return { subject: entry.name, findings: problems }
        try {
          return { subject: entry.name, findings: [...problems, ...(await examineProvider(made.provider, workspace.jobs, io.now()))] }
        } finally {
          await made.provider.close()
        }
      }),
    )
    const examinations = [ofConfig, ...providers, ...(await nameServers(workspace))]
    const quiet = options.quiet === true
    console.report(
      options.format === 'json'
        ? renderDoctorJson(examinations)
        : renderDoctorText(examinations, { color: colorOf(io.stdout, io, options.color), quiet }),
      options.format,
    )
    return examinations.some(({ findings }) => findings.some(({ status }) => status === 'error')) ? EXIT.failure : EXIT.done
  } finally {
    release()
    await workspace.close()
  }
}

/** Definitions are told by their number: "validate" is there for their faults. Those of providers stand with the provider. */
function configFindings(diagnostics: readonly Diagnostic[], { jobs }: Workspace): Finding[] {
  const problems = diagnostics.filter((diagnostic) => isError(diagnostic) && !OF_PROVIDERS.has(diagnostic.code))
  if (problems.length > 0) {
    const hint = '"zonewright validate" shows them'
    return [{ status: 'error', check: 'config', message: `${counted(problems.length, 'error')} in config and definitions`, hint }]
  }
  return [{ status: 'ok', check: 'config', message: `${counted(new Set(jobs.map(({ desired }) => desired.name)).size, 'zone')} defined` }]
}

const OF_PROVIDERS: ReadonlySet<Diagnostic['code']> = new Set(['secret-missing', 'secret-in-config', 'insecure-url', 'provider-unknown'])

const findingOf = ({ severity, code, message, hint }: Diagnostic): Finding => ({
  status: severity === 'error' ? 'error' : 'warning',
  check: code.startsWith('secret') ? 'token' : 'config',
  message,
  hint,
})

/** The servers that config names for `verify`, each asked about one zone. */
async function nameServers({ jobs }: Workspace): Promise<Examination[]> {
  const zoneOf = new Map(jobs.flatMap(({ desired, nameservers }) => (nameservers ?? []).map((server) => [server, desired.name] as const)))
  return Promise.all(
    [...zoneOf].map(async ([server, zone]) => ({ subject: server, findings: [await examineNameServer(parseServerAddress(server), zone)] })),
  )
}
