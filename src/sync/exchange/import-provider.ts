import { unknownProvider } from '../../definitions/read-config.ts'
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts'
import type { Imported } from '../../model/exchange.ts'
import type { Provider, ZoneReference } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { diagnosticOf } from '../diagnostic-of.ts'
import { copyAtProvider } from './copy-at-provider.ts'
import type { ImportRequest } from './importer.ts'
import { missingZones } from './missing-zones.ts'
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

async function readZones(provider: Provider, { zones, config, source, signal }: ImportRequest): Promise<Imported> {
  const references = await referencesOf(provider, zones, signal)
  const diagnostics: Diagnostic[] = missingZones(zones, references, source)
  if (hasErrors(diagnostics)) return { zones: [], lost: [], diagnostics }
  // The provider itself bounds its requests.
  const read = await Promise.all(references.map((reference) => provider.readZone(reference, { signal })))
  const converted = read.map((zone) => zoneOfProvider(zone, config))
  return {
    zones: converted.map(({ zone }) => zone),
    lost: converted.flatMap(({ lost }) => lost),
    diagnostics: [...diagnostics, ...converted.flatMap((one) => one.diagnostics)],
  }
}

async function referencesOf(
  provider: Provider,
  names: ImportRequest['zones'],
  signal: AbortSignal | undefined,
): Promise<readonly ZoneReference[]> {
  if (names.length > 0) return [...(await provider.findZones(names, { signal })).values()]
  const listed = await provider.listZones({ signal })
  return listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
