import { type LoadedSecrets, redacted } from '../definition/load/loaded-secrets.ts'
import type { Finding } from '../dns/finding.ts'
import { type Provider, ProviderError } from './provider.ts'

/** The provider with failures and findings that hold no secret of the run: a server may repeat a token that it was sent. */
export const withoutSecretsInErrors = (provider: Provider, secrets: LoadedSecrets): Provider =>
  new Proxy(provider, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, given)
        if (!(result instanceof Promise)) return result
        const clean = result.catch((error: unknown) => rethrow(error, secrets))
        return key === 'examine' ? clean.then((findings: readonly Finding[]) => findings.map((one) => cleanFinding(one, secrets))) : clean
      }
    },
  })

const cleanFinding = (finding: Finding, secrets: LoadedSecrets): Finding => ({
  ...finding,
  message: redacted(secrets, finding.message),
  hint: finding.hint && redacted(secrets, finding.hint),
})

function rethrow(error: unknown, secrets: LoadedSecrets): never {
  if (!(error instanceof ProviderError)) throw error
  const { message, hint, code, ambiguous, mayCompleteLater, notBegun, status, cause } = error
  const clean = { message: redacted(secrets, message), hint: hint && redacted(secrets, hint) }
  if (clean.message === message && clean.hint === hint) throw error
  throw new ProviderError(code, clean.message, {
    hint: clean.hint,
    ambiguous,
    mayCompleteLater,
    notBegun,
    status: status ?? undefined,
    cause,
  })
}
