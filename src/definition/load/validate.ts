import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { Config } from '../config/config.ts'
import { type LoadedDefinitions, type LoadOptions, loadDefinitions } from './load-definitions.ts'

/** What looking at all definitions gave. */
export interface Validation {
  readonly diagnostics: readonly Diagnostic[]
  readonly zones: LoadedDefinitions['zones']
  /** Files that were read, included ones too. */
  readonly files: number
  readonly records: number
}

/** Reads and checks definitions without any network. */
export async function validateAll(config: Config, options: LoadOptions = {}): Promise<Validation> {
  const { zones, diagnostics, files } = await loadDefinitions(config, options)
  const records = zones.reduce((sum, { zone }) => sum + zone.records.length, 0)
  return { diagnostics, zones, files: files.length, records }
}
