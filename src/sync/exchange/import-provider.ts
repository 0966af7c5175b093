import { unknownProvider } from '../../definitions/read-config.ts'
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts'
import type { Imported, LostItem } from '../../model/exchange.ts'
import type { Provider, ProviderCallOptions, UnnamedZone, ZoneList } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { diagnosticOf } from '../diagnostic-of.ts'
import { copyAtProvider } from './copy-at-provider.ts'
import type { Holder } from './definable-records.ts'
import { excerpt } from './excerpt.ts'
import type { ImportRequest } from './importer.ts'
import { missingZones } from './missing-zones.ts'
import { foreseePlan } from './next-plan.ts'
import { zoneOfProvider } from './provider-zone.ts'

/** Zones as a provider of the config holds them, so that a plan made of them is empty. */
export async function importFromProvider(request: ImportRequest): Promise<Imported> {
  const { source, config, env, parallelism, onWait } = request
  const entry = config.providers.get(source)
  if (!entry) return { zones: [], lost: [], diagnostics: [unknownProvider(source, config.providers.keys(), undefined)] }
  const made = await createProvider(entry, { secrets: { folder: config.folder, env }, parallelism, onWait })
  if (made.provider === null) return { zones: [], lost: [], diagnostics: made.diagnostics }
  try {
    const copied = await copyAtProvider(made.provider, request)
    const imported = hasErrors(copied) ? NOTHING : await readZones(made.provider, request)
    return { ...imported, diagnostics: [...made.diagnostics, ...copied, ...imported.diagnostics] }
  } catch (error) {
    return { zones: [], lost: [], diagnostics: [...made.diagnostics, diagnosticOf(error)] }
  } finally {
    await made.provider.close()
  }
}

const NOTHING: Imported = { zones: [], lost: [], diagnostics: [] }

async function readZones(provider: Provider, { zones, config, source, signal, stop }: ImportRequest): Promise<Imported> {
  const call = { signal, stop }
  const { zones: references, unnamed } = await listedZones(provider, zones, call)
  const diagnostics: Diagnostic[] = missingZones(zones, references, source)
  if (hasErrors(diagnostics)) return { zones: [], lost: [], diagnostics }
  const holder: Holder = { target: provider.name, capabilities: provider.capabilities }
  // The provider itself bounds its requests.
  const read = await Promise.all(references.map((reference) => provider.readZone(reference, call)))
  const converted = read.map((existing) => {
    const { zone, lost } = zoneOfProvider(existing, config, holder)
    const foreseen = foreseePlan(zone, existing, config, holder)
    return { zone, lost: [...lost, ...foreseen.lost], diagnostics: foreseen.diagnostics }
  })
  return {
    zones: converted.map(({ zone }) => zone),
    lost: [...unnamed.map((one) => lostZone(one, source)), ...converted.flatMap(({ lost }) => lost)],
    diagnostics: [...diagnostics, ...converted.flatMap((one) => one.diagnostics)],
  }
}

async function listedZones(provider: Provider, names: ImportRequest['zones'], call: ProviderCallOptions): Promise<ZoneList> {
  if (names.length > 0) return { zones: [...(await provider.findZones(names, call)).values()], unnamed: [] }
  const { zones, unnamed } = await provider.listZones(call)
  return { zones: zones.toSorted((a, b) => (a.name < b.name ? -1 : 1)), unnamed }
}

const lostZone = ({ name, id, because }: UnnamedZone, source: string): LostItem => ({
  zone: null,
  name: null,
  type: null,
  what: `${JSON.stringify(excerpt(name))}, number ${id} at ${source}: ${because}`,
  outcome: `it stays as it is at ${source}, and has no definition`,
})
