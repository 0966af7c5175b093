/**
 * Runs the definitions of each scenario in sequence against a provider in memory: loads each like the program, plans it,
 * compares the plan with the expected files, applies it if allowed, and expects the next plan to be empty. After an intended change of
 * behaviour, `npm run update-scenarios` rewrites the expected files; review their diff.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasErrors } from '../../src/base/diagnostic.ts'
import type { Config } from '../../src/config/config.ts'
import { readConfig } from '../../src/config/read-config.ts'
import type { ZoneSettings } from '../../src/dns/zone.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import type { RenderedState } from '../../src/plan/plan.ts'
import { mayApply, planOf } from '../../src/plan/planned-zone.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { createMemory } from '../../src/providers/memory/memory-provider.ts'
import type { ZoneSnapshot } from '../../src/providers/provider.ts'
import { applyZones } from '../../src/run/apply/apply-zones.ts'
import { type PlannedJobs, planZones } from '../../src/run/plan/plan-zones.ts'
import { expectFile, shortened } from './expected-file.ts'
import { callsFile, planFile, readScenarios, type Scenario } from './scenario.ts'
import { callsText, planText } from './step-report.ts'

/** The settings of a domain as the cloud service stores them. It knows each tag by its first spelling, and sorts tags without regard to case. */
function settingsStore(): (settings: ZoneSettings) => ZoneSettings {
  const spellings = new Map<string, string>()
  const spelled = (tag: string): string => {
    const key = tag.toLowerCase()
    spellings.set(key, spellings.get(key) ?? tag)
    return spellings.get(key) as string
  }
  const byName = (a: string, b: string): number => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)
  return ({ type, tags = [], ...settings }) => ({
    type,
    status: 'active',
    description: '',
    group: '',
    tags: tags.map(spelled).sort(byName),
    soa_email: '',
    master_ips: [],
    axfr_ips: [],
    expire_sec: 0,
    refresh_sec: 0,
    retry_sec: 0,
    ttl_sec: 0,
    ...settings,
  })
}

describe.each(readScenarios().map((scenario) => [scenario.name, scenario] as const))('%s', (_, scenario) => {
  const config = configOf(scenario)
  const memory = createMemory({
    capabilities: CLOUD_CAPABILITIES,
    settings: { soa_email: 'hostmaster@example.com' },
    storedSettings: settingsStore(),
    nameservers: [1, 2, 3, 4, 5].map((number) => `ns${number}.zonewright.test.`),
    ...(scenario.existing !== null && { zones: { 'example.com.': scenario.existing } }),
  })
  const providers = new Map([...config.providers.keys()].map((name) => [name, memory.open(name)] as const))

  it.each(scenario.steps.map((step) => [step.file, step] as const))('%s', async (_file, step) => {
    const loaded = await loadDefinitions(config, { paths: [join(scenario.folder, step.file)] })
    const invalid = hasErrors(loaded.diagnostics)
    const jobs = loaded.zones.flatMap(({ zone, targets, ...rest }) => targets.map((target) => ({ desired: zone, target, ...rest })))
    const plan = (): Promise<PlannedJobs> => planZones(jobs, { providers, now: new Date(0), tool: 'scenarios' })
    const planned = invalid ? null : await plan()
    expect(planned?.diagnostics ?? []).toEqual([])
    const expected = (name: string): string => join(scenario.folder, name)
    expectFile(expected(planFile(step.number)), shortened(planText(loaded.diagnostics, planned && planOf(planned))))
    const [zone] = planned?.zones ?? []
    expectFile(expected(callsFile(step.number)), zone ? shortened(callsText(zone.plan)) : null)
    if (planned === null || !planned.zones.every((zone) => mayApply(zone.plan))) return

    const outcomes = await applyZones(planned.zones, { providers })
    const failures = outcomes.flatMap((zone) => zone.outcomes.filter(({ state }) => state !== 'applied'))
    expect(failures, 'calls the service did not take').toEqual([])
    expect(outcomes.map((zone) => zone.readBack)).toEqual(
      planned.zones.map((zone) => (zone.plan.changes.length > 0 ? 'equal' : 'not-read')),
    )

    const again = await plan()
    expect(again.zones.map(({ plan }) => plan.changes)).toEqual(planned.zones.map(() => []))
    for (const { existing, plan: second } of again.zones) expect(renderedStates(existing)).toContain(second.rendered)
  })
})

/** The allowed states of the rendered zone file after everything is applied. Only a rendered zone has one to compare. */
function renderedStates(existing: ZoneSnapshot | null): RenderedState[] {
  const isRendered = existing?.settings.type === 'master' && existing.settings.status === 'active'
  return isRendered ? ['match'] : ['match', 'unavailable']
}

/** Messages name files relative to the folder of the scenario. */
function configOf({ config, folder }: Scenario): Config {
  const read = readConfig(readFileSync(config, 'utf8'), { file: 'zonewright.yaml', folder: dirname(config), cwd: folder })
  expect(read.diagnostics).toEqual([])
  return read.config as Config
}
