/**
 * Runs the definitions of each scenario in sequence against the embedded service over HTTP: loads each like the program, plans it,
 * compares the plan with the expected files, applies it if allowed, and expects the next plan to be empty. After an intended change of
 * behaviour, `npm run update-scenarios` rewrites the expected files; review their diff.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyZones } from '../../src/apply/apply-zones.ts'
import { mayApply, type PlannedRun, planZones } from '../../src/apply/plan-zones.ts'
import type { Config } from '../../src/definition/config/config.ts'
import { readConfig } from '../../src/definition/config/read-config.ts'
import { noSecrets } from '../../src/definition/config/secret-guard.ts'
import { loadDefinitions } from '../../src/definition/load/load-definitions.ts'
import { hasErrors } from '../../src/dns/diagnostic.ts'
import { parseDomainName } from '../../src/dns/domain-name.ts'
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts'
import type { RenderedState } from '../../src/plan/plan.ts'
import type { Provider, ZoneSnapshot } from '../../src/providers/provider.ts'
import { createProvider } from '../../src/providers/registry.ts'
import { type RunningService, startService, UNLIMITED } from '../../src/service/index.ts'
import { makeChange } from '../support/provider-calls.ts'
import { expectFile, shortened } from './expected-file.ts'
import { callsFile, planFile, readScenarios, type Scenario } from './scenario.ts'
import { callsText, planText } from './step-report.ts'

const CONFIG_URL = 'http://127.0.0.1:8080/v4'

let service: RunningService
beforeAll(async () => {
  service = await startService({ dataFolder: null, listen: { host: '127.0.0.1', port: 0 }, dns: null, ...UNLIMITED })
})
afterAll(() => service.stop())

describe.each(readScenarios().map((scenario) => [scenario.name, scenario] as const))('%s', (_, scenario) => {
  let config: Config
  let providers: ReadonlyMap<string, Provider>

  beforeAll(async () => {
    config = configOf(scenario)
    providers = new Map(
      await Promise.all([...config.providers.keys()].map(async (name) => [name, await providerOf(config, name)] as const)),
    )
    if (scenario.existing !== null) await createZone(providers.get('cloud') as Provider, scenario.existing)
  })
  afterAll(async () => {
    await Promise.all([...providers.values()].map((provider) => provider.close()))
    await removeZones()
  })

  it.each(scenario.steps.map((step) => [step.file, step] as const))('%s', async (_file, step) => {
    const loaded = await loadDefinitions(config, { paths: [join(scenario.folder, step.file)] })
    const invalid = hasErrors(loaded.diagnostics)
    const jobs = loaded.zones.flatMap(({ zone, targets, ...rest }) => targets.map((target) => ({ desired: zone, target, ...rest })))
    const plan = async (): Promise<PlannedRun> => {
      await service.flush()
      return planZones(jobs, { providers, now: new Date(0), tool: 'scenarios' })
    }
    const planned = invalid ? null : await plan()
    expect(planned?.plan.diagnostics ?? []).toEqual([])
    const expected = (name: string): string => join(scenario.folder, name)
    expectFile(expected(planFile(step.number)), shortened(planText(loaded.diagnostics, planned?.plan ?? null)))
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
    expect(again.plan.zones.map((zone) => zone.changes)).toEqual(planned.zones.map(() => []))
    for (const { existing, plan: second } of again.zones) expect(renderedStates(existing)).toContain(second.rendered)
  })
})

/** The allowed states of the rendered zone file after everything is applied. Only a rendered zone has one to compare. */
function renderedStates(existing: ZoneSnapshot | null): RenderedState[] {
  const isRendered = existing?.settings.type === 'master' && existing.settings.status === 'active'
  return isRendered ? ['match'] : ['match', 'unavailable']
}

/** The config with the address of the service. Messages name files relative to the folder of the scenario. */
function configOf({ config, folder }: Scenario): Config {
  const text = readFileSync(config, 'utf8').replace(CONFIG_URL, service.baseUrl)
  const read = readConfig(text, { file: 'zonewright.yaml', folder: dirname(config), cwd: folder })
  expect(read.diagnostics).toEqual([])
  return read.config as Config
}

async function providerOf(config: Config, name: string): Promise<Provider> {
  const entry = config.providers.get(name)
  if (!entry) throw new Error(`no provider ${name}`)
  const env = { ZONEWRIGHT_TOKEN: service.token ?? '' }
  const { provider, diagnostics } = await createProvider(entry, { secrets: { folder: config.folder, env, loaded: noSecrets() } })
  expect(diagnostics).toEqual([])
  return provider as Provider
}

/** Creates the zone of the service before the first step, with exactly the records of the text. */
async function createZone(provider: Provider, text: string): Promise<void> {
  const name = parseDomainName('example.com.')
  if (!name.ok) throw new Error(name.message)
  const { records, diagnostics } = parseZoneFile(text, { origin: name.value, file: 'existing.zone' })
  expect(diagnostics).toEqual([])
  const common = { action: 'create', id: null, existing: null, fields: [], after: [] } as const
  const settings = { type: 'master', soa_email: 'hostmaster@example.com' } as const
  const { zone } = await makeChange(provider, null, { ...common, subject: 'domain', name: name.value, type: null, desired: settings })
  for (const desired of records) {
    await makeChange(provider, zone ?? null, { ...common, subject: 'record', name: desired.name, type: desired.type, desired })
  }
}

async function removeZones(): Promise<void> {
  const headers = { authorization: `Bearer ${service.token}` }
  const list = (await (await fetch(`${service.baseUrl}/domains`, { headers })).json()) as { data: { id: number }[] }
  for (const { id } of list.data) await fetch(`${service.baseUrl}/domains/${id}`, { method: 'DELETE', headers })
}
