import { type LoadConfigOptions, loadConfig } from '../definitions/load-config.ts'
import { type ConfigPlace, type ReadConfig, readConfig } from '../definitions/read-config.ts'
import { readHostPolicy } from '../model/allowed-hosts.ts'
import { refusedHosts } from '../sync/allowed-endpoints.ts'
import type { CliIo } from './io.ts'

/**
 * Finds and reads the config of a run. The config is null if it names a host that the environment does not allow, so no command can use a
 * secret with it.
 */
export const loadRunConfig = async (io: CliIo, file: LoadConfigOptions['file']): Promise<ReadConfig> =>
  withAllowedHosts(io, await loadConfig({ cwd: io.cwd, file }))

/** The same for a config whose text is known. */
export const readRunConfig = (io: CliIo, text: string, place: ConfigPlace): ReadConfig => withAllowedHosts(io, readConfig(text, place))

function withAllowedHosts(io: CliIo, read: ReadConfig): ReadConfig {
  if (read.config === null) return read
  const refused = refusedHosts(read.config, readHostPolicy(io.env))
  return refused.length === 0 ? read : { config: null, diagnostics: [...read.diagnostics, ...refused] }
}
