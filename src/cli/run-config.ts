import { refusedHosts } from '../apply/allowed-endpoints.ts'
import { type LoadConfigOptions, loadConfig } from '../definition/config/load-config.ts'
import { type ConfigPlace, type ReadConfig, readConfig } from '../definition/config/read-config.ts'
import { noteSecrets } from '../definition/config/secret.ts'
import { readHostPolicy } from '../transport/allowed-hosts.ts'
import type { CliIo } from './io.ts'

/**
 * Finds and reads the config of a run. The config is null if it names a host that the environment does not allow, so no command can use a
 * secret with it. Otherwise all its secrets are known from then on, so that nothing that the run reads or writes holds one unnoticed.
 */
export async function loadRunConfig(io: CliIo, file: LoadConfigOptions['file']): Promise<ReadConfig> {
  const read = withAllowedHosts(io, await loadConfig({ cwd: io.cwd, file, secrets: io.secrets }))
  const { config } = read
  await noteSecrets(config?.providers.values() ?? [], { folder: config?.folder ?? io.cwd, env: io.env, loaded: io.secrets })
  return read
}

/** The same for a config whose text is known. */
export const readRunConfig = (io: CliIo, text: string, place: ConfigPlace): ReadConfig =>
  withAllowedHosts(io, readConfig(text, { ...place, secrets: io.secrets }))

function withAllowedHosts(io: CliIo, read: ReadConfig): ReadConfig {
  if (read.config === null) return read
  const refused = refusedHosts(read.config, readHostPolicy(io.env))
  return refused.length === 0 ? read : { config: null, diagnostics: [...read.diagnostics, ...refused] }
}
