/** Problems of a provider's settings. */
import type { ProviderConfig } from '../definition/config/config.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'

/** An error about a setting, whose parts have dots between them. */
export const settingProblem = (
  { name, placeOf }: ProviderConfig,
  setting: string,
  message: string,
  hint?: string,
  code: Diagnostic['code'] = 'schema-value',
): Diagnostic => ({
  severity: 'error',
  code,
  message: `providers.${name}.${setting}: ${message}`,
  at: placeOf(...setting.split('.')),
  hint,
})
