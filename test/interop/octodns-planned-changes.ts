/** What is planned here of a zone that comes from octoDNS, in the words octoDNS has for it. */
import { loadConfig } from '../../src/definition/config/load-config.ts'
import { loadDefinitions } from '../../src/definition/load/load-definitions.ts'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import { rrsetKey } from '../../src/dns/record.ts'
import { makeZonePlan } from '../../src/plan/make-plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'

/** The record sets that a plan of the one zone in `folder` changes where its target has the records of `existing`, as octoDNS tells of them. */
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
  const touched = new Map<string, { goes: boolean; comes: boolean }>()
  for (const change of plan.changes) {
    if (change.subject === 'domain') continue
    for (const [record, key] of [
      [change.existing, 'goes'],
      [change.desired, 'comes'],
    ] as const) {
      if (record !== null) touched.set(rrsetKey(record), { goes: false, comes: false, ...touched.get(rrsetKey(record)), [key]: true })
    }
  }
  const there = new Set(records.map(rrsetKey))
  const stays = new Set(loaded.zone.records.map(rrsetKey))
  return [...touched.keys()].map((key) => `${there.has(key) ? (stays.has(key) ? 'Update' : 'Delete') : 'Create'} ${key}`).sort()
}

/** Without what becomes of it. */
export const rrsetOf = (change: string): string => change.slice(change.indexOf(' ') + 1)
