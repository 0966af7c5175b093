/** The diagnostic for a target that the config does not define. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { didYouMean } from '../../dns/nearest-word.ts'

export function unknownProvider(target: string, providers: Iterable<string>, at: Diagnostic['at']): Diagnostic {
  const names = [...providers]
  return {
    severity: 'error',
    code: 'provider-unknown',
    message: `the config has no provider "${target}"`,
    at,
    hint:
      didYouMean(target, names) ??
      (names.length > 0 ? `the providers are ${names.join(', ')}` : 'define it under "providers" in the config'),
  }
}
