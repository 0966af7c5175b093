/** Packages that only some providers need. They are optional peer dependencies, which users install when they use such a provider. */
import { ProviderError } from './provider.ts'

/** Loads a package with `load`, which imports it. Throws a `ProviderError` with the command that installs it if it is missing. */
export async function loadOptionalPackage<Module>(provider: string, name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    const code = (error as { readonly code?: unknown } | null)?.code
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error
    throw new ProviderError('provider-unknown', `${provider}: the package ${name} is not installed`, {
      notSent: true,
      hint: `install it beside Zonewright: npm install ${name}`,
      cause: error,
    })
  }
}
