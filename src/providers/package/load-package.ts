/**
 * Loads the npm package of a provider type `npm:NAME`: `zonewright-provider-NAME`, from the folder that the environment names, or from the installation of
 * this program: a `node_modules` beside it or above, as Node.js finds packages. It is never searched where the config is, and never installed. Loading a package
 * runs its code.
 */

import { readFile } from 'node:fs/promises'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { isObject } from '../../base/text.ts'
import type { ProviderConfig } from '../../config/config.ts'
import type { PathScope } from '../../files/allowed-paths.ts'
import { isUntrusted } from '../../files/find-program.ts'
import { installedPackage } from '../../files/installed-package.ts'
import type { ProviderType } from '../provider.ts'
import { refusedCode } from '../run-code.ts'
import { typeOfValue } from './package-type.ts'

const PREFIX = 'npm:'

/** Whether a provider type names a package. */
export const isPackageType = (type: string): boolean => type.startsWith(PREFIX)

const packageOf = (type: string): string => `zonewright-provider-${type.slice(PREFIX.length)}`

/** The variable with the folder whose `node_modules` has the packages; absolute. */
const PACKAGES_DIR = 'ZONEWRIGHT_PACKAGES_DIR'

/** The maximum size of a package's `package.json`, in octets. */
const MAX_MANIFEST = 1_000_000

export type LoadedPackage =
  | { readonly type: ProviderType; readonly diagnostic: null }
  | { readonly type: null; readonly diagnostic: Diagnostic }

/** Loads the package of a config entry whose type names one. */
export async function loadPackage(config: ProviderConfig, scope: PathScope): Promise<LoadedPackage> {
  const name = packageOf(config.type)
  const failed = (message: string, hint?: string): LoadedPackage => ({
    type: null,
    diagnostic: {
      severity: 'error',
      code: 'provider-unknown',
      message: `providers.${config.name}: ${message}`,
      at: config.placeOf('type'),
      hint,
    },
  })
  const refused = refusedCode(config, 'type', name, scope.env)
  if (refused !== null) return { type: null, diagnostic: refused }
  const given = scope.env[PACKAGES_DIR]
  if (given !== undefined && !isAbsolute(given)) return failed(`${PACKAGES_DIR} is not the absolute path of a folder`)
  const place = given === undefined ? installedPackage(name) : join(given, 'node_modules', name)
  const manifest = place === null ? null : await readManifest(join(place, 'package.json'))
  if (place === null || manifest === null)
    return failed(
      `the package ${name} is not installed`,
      `if you trust its author, install it beside Zonewright, or in the folder that ${PACKAGES_DIR} names; anybody can publish a package of that name`,
    )
  if (isUntrusted(place, scope))
    return failed(
      `the package ${name} is in the checkout, so this CI job does not load it`,
      'install it before the checkout, in a folder outside',
    )
  const entry = entryOf(manifest)
  const path = entry === null ? null : resolve(place, entry)
  if (path === null || !path.startsWith(place + sep)) return failed(`"exports" in the package.json of ${name} names no module`)
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    return failed(`the package ${name} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
  }
  const { provider } = module
  const made = typeOfValue(provider, `the package ${name}`, name)
  return made.type === null ? failed(made.problem, made.hint) : { type: made.type, diagnostic: null }
}

async function readManifest(path: string): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const text = await readFile(path, 'utf8')
    const manifest: unknown = text.length > MAX_MANIFEST ? null : JSON.parse(text)
    return isObject(manifest) ? manifest : null
  } catch {
    return null
  }
}

/** The path of the module that a package exports under its own name; null if there is none. */
function entryOf({ exports, main }: Readonly<Record<string, unknown>>): string | null {
  if (exports === undefined) return typeof main === 'string' ? main : 'index.js'
  const root = isObject(exports) && '.' in exports ? exports['.'] : exports
  return conditionOf(root)
}

/** The target of the conditions that apply to `import` in Node.js. */
function conditionOf(target: unknown): string | null {
  if (typeof target === 'string') return target
  if (!isObject(target)) return null
  for (const condition of ['node', 'import', 'default']) if (condition in target) return conditionOf(target[condition])
  return null
}
