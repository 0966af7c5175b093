import { join, resolve } from 'node:path'
import { type ConfigRule, DEFAULT_RULE } from '../../definition/config/config.ts'
import { unknownProvider } from '../../definition/config/read-config.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { targetsOf } from '../../definition/load/configured-zone.ts'
import { rulesByPath } from '../../definition/load/rule-of-path.ts'
import { type Diagnostic, hasErrors } from '../../dns/diagnostic.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import type { Provider, ProviderCallOptions, UnusableZone, ZoneList } from '../../providers/provider.ts'
import { diagnosticOf } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import type { Imported, UnsupportedFeature } from '../conversion.ts'
import type { Holder } from '../definable-records.ts'
import { excerpt } from '../excerpt.ts'
import type { ImportRequest } from '../importer.ts'
import { previewPlan } from '../preview-plan.ts'
import { copyAtProvider } from './copy-at-provider.ts'
import { missingZones } from './missing-zones.ts'
import { zoneOfProvider } from './provider-zone.ts'

/** Zones as a provider of the config holds them, so that a plan made of them is empty. */
export async function importFromProvider(request: ImportRequest): Promise<Imported> {
  const { source, config, env, parallelism, onThrottled } = request
  const entry = config.providers.get(source)
  if (!entry) return { zones: [], dropped: [], diagnostics: [unknownProvider(source, config.providers.keys(), undefined)] }
  const made = await createProvider(entry, { secrets: { folder: config.folder, env, loaded: config.secrets }, parallelism, onThrottled })
  if (made.provider === null) return { zones: [], dropped: [], diagnostics: made.diagnostics }
  try {
    const copied = await copyAtProvider(made.provider, request)
    const imported = hasErrors(copied) ? NOTHING : await readZones(made.provider, request)
    return { ...imported, diagnostics: [...made.diagnostics, ...copied, ...imported.diagnostics] }
  } catch (error) {
    return { zones: [], dropped: [], diagnostics: [...made.diagnostics, diagnosticOf(error)] }
  } finally {
    await made.provider.close()
  }
}

const NOTHING: Imported = { zones: [], dropped: [], diagnostics: [] }

async function readZones(provider: Provider, request: ImportRequest): Promise<Imported> {
  const { zones, config, source, signal, stop } = request
  const call = { signal, stop }
  const { zones: references, unusable } = await listedZones(provider, zones, call)
  const diagnostics: Diagnostic[] = missingZones(zones, references, source)
  if (hasErrors(diagnostics)) return { zones: [], dropped: [], diagnostics }
  const holder: Holder = { target: provider.name, capabilities: provider.capabilities }
  // The provider itself bounds its requests.
  const read = await Promise.all(references.map((reference) => provider.readZone(reference, call)))
  const placeOf = places(request)
  const unknownSettings: string[] = []
  const converted = read.map((existing) => {
    const { zone: imported, dropped } = zoneOfProvider(existing, config, holder)
    const { path, rule } = placeOf(imported)
    if (rule === null) unknownSettings.push(path)
    const targets = targetsOf({ targets: null }, rule ?? DEFAULT_RULE, config)
    const zone = targets.includes(source) ? imported : { ...imported, targets: [source] }
    const foreseen = previewPlan(zone, existing, { config, rule: rule ?? DEFAULT_RULE }, holder)
    return { zone, dropped: [...dropped, ...foreseen.dropped], diagnostics: foreseen.diagnostics }
  })
  if (unknownSettings.length > 0) diagnostics.push(tellUnread(unknownSettings))
  return {
    zones: converted.map(({ zone }) => zone),
    dropped: [...unusable.map((one) => lostZone(one, source)), ...converted.flatMap(({ dropped }) => dropped)],
    diagnostics: [...diagnostics, ...converted.flatMap((one) => one.diagnostics)],
  }
}

async function listedZones(provider: Provider, names: ImportRequest['zones'], call: ProviderCallOptions): Promise<ZoneList> {
  if (names.length > 0) return { zones: [...(await provider.findZones(names, call)).values()], unusable: [] }
  const { zones, unusable } = await provider.listZones(call)
  return { zones: zones.toSorted((a, b) => (a.name < b.name ? -1 : 1)), unusable }
}

/** Where the definition of a zone will stand, as messages name that, and the rule of the config it falls under there; null for none. */
function places({
  config,
  cwd,
  options,
}: ImportRequest): (zone: ImportedZone) => { readonly path: string; readonly rule: ConfigRule | null } {
  const ruleOf = rulesByPath(config)
  const folder = options.out === undefined ? join(config.folder, 'zones') : resolve(cwd, options.out)
  return (zone) => {
    const path = join(folder, zoneFileName(zone.name, new Set(), 'yaml'))
    return { path: displayPath(path, cwd), rule: ruleOf(path, zone) }
  }
}

/** Files that a message lists. */
const MOST_LISTED = 5

function tellUnread(paths: readonly string[]): Diagnostic {
  const more = paths.length > MOST_LISTED ? ` and ${paths.length - MOST_LISTED} more` : ''
  const message = `no rule of the config takes ${paths.slice(0, MOST_LISTED).join(', ')}${more}, so that no plan reads that`
  return { severity: 'warning', code: 'import-pending', message, hint: 'name another folder with -o, or add a rule under "zones"' }
}

const lostZone = ({ name, id, reason }: UnusableZone, source: string): UnsupportedFeature => ({
  zone: null,
  name: null,
  type: null,
  what: `${JSON.stringify(excerpt(name))}, number ${id} at ${source}: ${reason}`,
  outcome: `it stays as it is at ${source}, and has no definition`,
})
