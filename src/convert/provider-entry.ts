/** The provider that an export of its zones is read for. */
import { CONFIG_FILE, type Config, type ProviderConfig } from '../config/config.ts'
import { readConfig } from '../config/read-config.ts'
import type { ExistingZone } from '../dns/zone.ts'
import { capabilitiesOf, capabilitiesOfType } from '../providers/registry.ts'
import { printProviders } from './octodns/converted-config.ts'
import { convertProviderZone } from './provider/import-provider.ts'

/** The entry that a config with these settings would have. The settings must be valid. */
export function entryOf(name: string, settings: Readonly<Record<string, unknown>>): ProviderConfig {
  const { config } = readConfig(printProviders([{ name, settings }]), { file: CONFIG_FILE, folder: '/', cwd: '/' })
  const entry = config?.providers.get(name)
  if (entry === undefined) throw new Error(`invalid settings of ${name}`)
  return entry
}

/** How to read an export: for the only provider of the config with the type of these settings, or else for one with them. */
export function exportReader(config: Config, settings: { readonly type: string; readonly [key: string]: unknown }) {
  const own = [...config.providers.values()].filter(({ type }) => type === settings.type)
  const entry = (own.length === 1 && own[0]) || entryOf(settings.type, settings)
  const zoneTarget = { target: entry.name, capabilities: capabilitiesOf(entry) ?? capabilitiesOfType(entry.type) }
  return { entry, convert: (zone: ExistingZone) => convertProviderZone(zone, config, zoneTarget) }
}
