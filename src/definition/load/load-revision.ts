/** Loads the config and the definitions of a revision as those of the working tree are loaded. Contacts no server. */
import { basename, join } from 'node:path'
import { hasErrors } from '../../dns/diagnostic.ts'
import type { Config } from '../config/config.ts'
import { readConfig } from '../config/read-config.ts'
import { fromDisplayPath } from '../files/file-path.ts'
import { readText } from '../files/read-text.ts'
import type { Revision } from '../files/revision.ts'
import { type LoadedDefinitions, loadDefinitions } from './load-definitions.ts'

/** What a revision had. Its files are named relative to the folder of the config. */
export interface LoadedRevision extends Pick<LoadedDefinitions, 'zones' | 'diagnostics' | 'files'> {
  /** Null if the revision has no config, or one with errors. */
  readonly config: Config | null
}

/** Loads the definitions that the config of a revision selected. `config` is that of the working tree; the copy of the revision is of its folder. */
export async function loadRevision(config: Config, { folder }: Revision): Promise<LoadedRevision> {
  const nothing: LoadedRevision = { config: null, zones: [], diagnostics: [], files: [] }
  if (config.file === null) return nothing
  const file = basename(fromDisplayPath(config.file, config.cwd))
  const text = await readText(join(folder, file), file, null)
  if (!text.ok) return nothing
  const read = readConfig(text.text, { file, folder, cwd: folder, secrets: config.secrets })
  if (read.config === null || hasErrors(read.diagnostics)) return { ...nothing, diagnostics: read.diagnostics }
  const former = { ...read.config, variables: config.variables }
  return { config: former, ...(await loadDefinitions(former, { lints: false })) }
}
