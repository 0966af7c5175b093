/** Problems of a provider's settings. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { ProviderConfig } from '../config/config.ts'

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
