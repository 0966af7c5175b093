/** The changes that Zonewright plans for a zone imported from octoDNS, in octoDNS's words. */
import { loadConfig } from '../../src/config/load-config.ts'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import { rrsetKey } from '../../src/dns/record.ts'
import { loadDefinitions } from '../../src/load/load-definitions.ts'
import { makeZonePlan } from '../../src/plan/make-plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'

/** The changes planned for the single zone in `folder` if its target has the records of `existing`, such as `Delete www.example.com. A`. */
export async function plannedChanges(folder: string, existing: string): Promise<string[]> {
  const { config } = await loadConfig({ cwd: folder })
  if (config === null) throw new Error('no config')
  const [loaded] = (await loadDefinitions(config)).zones
  if (!loaded) throw new Error('no zone')
  const { zone: at } = parseDefinition(existing, { file: 'target', zoneName: loaded.zone.name, octodnsDefaultTtl: 3600 })
  const records = (at?.records ?? []).map((record, id) => ({ ...record, id }))
  const plan = makeZonePlan({
    desired: { ...loaded.zone, settings: {} },
    existing: { name: loaded.zone.name, settings: {}, records },
    target: 'linode',
    capabilities: { ...CLOUD_CAPABILITIES, servesApexNs: false, types: null, ttlSteps: null, rules: [] },
    policy: loaded.policy,
    thresholds: loaded.thresholds,
    allow: new Set(['updates', 'deletes', 'apex-ns']),
    rendered: 'match',
    servedApexNs: null,
  })
  const touched = new Map<string, { removed: boolean; added: boolean }>()
  for (const change of plan.changes) {
    if (change.subject === 'domain') continue
    for (const [record, key] of [
      [change.existing, 'removed'],
      [change.desired, 'added'],
    ] as const) {
      if (record !== null) touched.set(rrsetKey(record), { removed: false, added: false, ...touched.get(rrsetKey(record)), [key]: true })
    }
  }
  const there = new Set(records.map(rrsetKey))
  const stays = new Set(loaded.zone.records.map(rrsetKey))
  return [...touched.keys()].map((key) => `${there.has(key) ? (stays.has(key) ? 'Update' : 'Delete') : 'Create'} ${key}`).sort()
}

/** The record set of a change, without its action. */
export const rrsetOf = (change: string): string => change.slice(change.indexOf(' ') + 1)
