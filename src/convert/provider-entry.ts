/** The provider that an export of its zones is read for. */
import { CONFIG_FILE, type Config, type ProviderConfig } from '../config/config.ts'
import { readConfig } from '../config/read-config.ts'
import { capabilitiesOf, capabilitiesOfType } from '../providers/registry.ts'
import type { ZoneTarget } from './definable-records.ts'
import { printProviders } from './octodns/converted-config.ts'

/** The entry that a config with these settings would have. The settings must be valid. */
export function entryOf(name: string, settings: Readonly<Record<string, unknown>>): ProviderConfig {
  const { config } = readConfig(printProviders([{ name, settings }]), { file: CONFIG_FILE, folder: '/', cwd: '/' })
  const entry = config?.providers.get(name)
  if (entry === undefined) throw new Error(`invalid settings of ${name}`)
  return entry
}

/** The only provider of the config with the type of these settings, or else one with them. */
export function targetOfExport({ providers }: Config, settings: { readonly type: string; readonly [key: string]: unknown }) {
  const own = [...providers.values()].filter(({ type }) => type === settings.type)
  const entry = (own.length === 1 && own[0]) || entryOf(settings.type, settings)
  const zoneTarget: ZoneTarget = { target: entry.name, capabilities: capabilitiesOf(entry) ?? capabilitiesOfType(entry.type) }
  return { entry, zoneTarget }
}
