/** The flow of `zonewright conformance`: runs the suite against a zone of a configured provider. */
import { hasErrors, oneLine } from '../base/diagnostic.ts'
import { parseAbsoluteName } from '../dns/domain-name.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { RunSetup, WorkspaceOptions } from '../run/context/run-context.ts'
import { loadRunConfig } from '../run/load/run-config.ts'
import { openProviders } from '../run/load/workspace.ts'
import { lacking, neededForZones } from '../stored/approvals/approvals-of-plan.ts'
import { runConformance, type StepResult } from './run-conformance.ts'

export interface ConformanceCommandOptions extends WorkspaceOptions {
  /** Whether the user agrees that every record of the zone is deleted. */
  readonly deleteRecords?: boolean | undefined
  /** Only groups whose number or name is this. */
  readonly group?: readonly string[] | undefined
  /** Steps with more records are left out. */
  readonly maxSize?: number | undefined
}

/** Runs the suite and describes each step as it ends. */
export async function runConformanceCommand(setup: RunSetup<ConformanceCommandOptions>, zoneName: string): Promise<ExitStatus> {
  const { options, output } = setup
  const zone = parseAbsoluteName(`${zoneName.replace(/\.$/, '')}.`)
  if (!zone.ok) {
    output.error('zone-name', `${JSON.stringify(zoneName)} is not a domain name: ${zone.message}`)
    return EXIT.failure
  }
  const { config, diagnostics } = await loadRunConfig(setup.environment, options.config, { trusted: options.trustedConfig })
  output.diagnostics(diagnostics)
  if (config === null || hasErrors(diagnostics)) return EXIT.failure
  const [only, ...others] = config.providers.keys()
  const providerName = options.target ?? (others.length === 0 ? only : undefined)
  if (providerName === undefined) {
    output.error('target-missing', 'nothing says which provider to test', 'name it with --target')
    return EXIT.failure
  }
  // Opening an unknown provider reports it.
  if (!options.deleteRecords && config.providers.has(providerName)) {
    output.error(
      'not-confirmed',
      `the suite deletes every record of ${zone.value} at ${providerName}`,
      'give --delete-records if the zone is only for tests',
    )
    return EXIT.failure
  }
  const needed = neededForZones(config, [zone.value])
  if (needed > 0) {
    output.diagnostics([lacking(needed, '"approvals.zones" in the config can let the zone change without approvals')])
    return EXIT.refused
  }
  const opened = await openProviders(setup, config, [providerName])
  output.diagnostics(opened.diagnostics)
  const provider = opened.providers.get(providerName)
  if (provider === undefined) return EXIT.failure
  const counts = { passed: 0, failed: 0, skipped: 0 }
  try {
    const groups = options.group?.length ? new Set(options.group) : null
    const target = { provider, zone: zone.value, settings: config.defaults.settings }
    const run = runConformance(target, {
      maxSize: options.maxSize,
      only: ({ number, name }) => groups === null || groups.has(name) || groups.has(String(number)),
    })
    for await (const result of run) {
      counts[result.state] += 1
      if (result.state !== 'passed') output.say(describeStep(result))
      else output.note(describeStep(result))
    }
  } finally {
    await opened.close()
  }
  output.say(`${counts.passed} steps passed, ${counts.failed} failed, ${counts.skipped} skipped.`)
  if (counts.passed + counts.failed + counts.skipped === 0) output.error('usage', 'no group has this number or name')
  return counts.failed > 0 || counts.passed === 0 ? EXIT.failure : EXIT.done
}

/** One line: the state, the group, the step, and the calls or the reason. */
function describeStep({ group, step, state, reason, calls }: StepResult): string {
  const title = `${group.number === null ? '' : `${group.number}. `}${group.name}: ${step}`
  return oneLine(`${state.padEnd(7)} ${title} (${reason ?? (calls === 1 ? '1 request' : `${calls} requests`)})`)
}
