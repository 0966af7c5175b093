/**
 * Loads the npm package of a provider type `npm:NAME`: `zonewright-provider-NAME`, from a `node_modules` in the folder of the config or above it, as Node.js
 * finds packages. It is never searched elsewhere and never installed. Loading a package runs its code.
 */
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ProviderConfig } from '../../definition/config/config.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { ALLOWED_HOSTS } from '../../transport/allowed-hosts.ts'
import type { ProviderType } from '../provider.ts'
import { API_VERSION, type ProviderPackage } from './package-interface.ts'
import { isObject, packageType } from './package-type.ts'

const PREFIX = 'npm:'

/** Whether a provider type names a package. */
export const isPackageType = (type: string): boolean => type.startsWith(PREFIX)

const packageOf = (type: string): string => `zonewright-provider-${type.slice(PREFIX.length)}`

/** The variable with the packages that a run may load, by full name, separated by commas or spaces. It comes only from the environment, like the allowed hosts. */
export const ALLOWED_PACKAGES = 'ZONEWRIGHT_ALLOWED_PACKAGES'

type Environment = Readonly<Record<string, string | undefined>>

/** Without a list, a run that may contact only listed hosts loads no package: code could contact any host. */
const isAllowed = (name: string, env: Environment): boolean => {
  const list = env[ALLOWED_PACKAGES]
  return list === undefined ? env[ALLOWED_HOSTS] === undefined : list.split(/[\s,]+/).includes(name)
}

/** The maximum size of a package's `package.json`, in octets. */
const MAX_MANIFEST = 1_000_000

export type LoadedPackage =
  | { readonly type: ProviderType; readonly diagnostic: null }
  | { readonly type: null; readonly diagnostic: Diagnostic }

/** Loads the package of a config entry whose type names one. `folder` is that of the config, absolute. */
export async function loadPackage(config: ProviderConfig, folder: string, env: Environment): Promise<LoadedPackage> {
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
  if (!isAllowed(name, env)) return failed(`this run may not load the package ${name}`, `if you trust it, list it in ${ALLOWED_PACKAGES}`)
  const found = await findPackage(name, folder)
  if (found === null)
    return failed(
      `the package ${name} is not installed`,
      'if you trust its author, install it in the folder of the config as its documentation says; anybody can publish a package of that name',
    )
  const entry = entryOf(found.manifest)
  const path = entry === null ? null : resolve(found.folder, entry)
  if (path === null || !path.startsWith(found.folder + sep)) return failed(`"exports" in the package.json of ${name} names no module`)
  let module: Readonly<Record<string, unknown>>
  try {
    module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    return failed(`the package ${name} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
  }
  const { provider } = module
  if (!isObject(provider)) return failed(`the package ${name} does not export "provider"`)
  const { apiVersion } = provider
  if (apiVersion !== API_VERSION)
    return failed(
      `the package ${name} has version ${JSON.stringify(apiVersion) ?? 'none'} of the provider interface; this Zonewright has ${API_VERSION}`,
      Number(apiVersion) > API_VERSION ? 'update zonewright' : `update ${name}`,
    )
  if (!isProviderPackage(provider)) return failed(`"provider" of the package ${name} lacks settings, capabilities or create`)
  try {
    return { type: packageType(provider), diagnostic: null }
  } catch (error) {
    return failed(`the schema of the settings of ${name} is invalid: ${(error as Error).message}`)
  }
}

const isProviderPackage = (value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & ProviderPackage =>
  isObject(value['settings']) && isObject(value['capabilities']) && typeof value['create'] === 'function'

interface FoundPackage {
  readonly folder: string
  readonly manifest: Readonly<Record<string, unknown>>
}

/** The nearest package of that name in a `node_modules` at or above the folder; null if there is none. */
async function findPackage(name: string, start: string): Promise<FoundPackage | null> {
  for (let folder = start; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    const manifest = await readManifest(join(candidate, 'package.json'))
    if (manifest !== null) return { folder: candidate, manifest }
    if (dirname(folder) === folder) return null
  }
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
