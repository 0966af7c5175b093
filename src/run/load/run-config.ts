/** The config of a run, with its providers' settings checked, and against the hosts that the environment allows. */
import { resolve } from 'node:path'
import { type Diagnostic, formatDiagnostic, isError, nameOfBaseConfig, type SourcePosition } from '../../base/diagnostic.ts'
import { CONFIG_FILE, type Config } from '../../config/config.ts'
import { createRuleLookup } from '../../config/configured-zone.ts'
import { endpointOfBucket, LOCAL_JOURNAL } from '../../config/journal-place.ts'
import { limitConfig } from '../../config/limit-config.ts'
import { loadConfig } from '../../config/load-config.ts'
import { type ConfigLocation, type ConfigResult, defaultConfig, readConfig } from '../../config/read-config.ts'
import { registerSecrets } from '../../config/resolve-secret.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { ALLOWED_PATHS, refusedPath } from '../../files/allowed-paths.ts'
import { startPrograms } from '../../load/program-loader.ts'
import { checkSettings, endpointsOf, loadPackages, pathsOf, refusedEndpoints, useGivenTypes } from '../../providers/registry.ts'
import {
  endpointOfServer,
  endpointOfUrl,
  type HostPolicy,
  hostEntry,
  readHostPolicy,
  refusedServer,
} from '../../transport/allowed-hosts.ts'
import type { ProcessEnvironment } from '../context/run-context.ts'

interface LoadRunConfigOptions {
  readonly offline?: boolean | undefined
  readonly packages?: boolean
  readonly programs?: boolean
  readonly trusted?: string | undefined
}

type ConfigEnvironment = Omit<ProcessEnvironment, 'now'>

/**
 * Loads the config `file`, or searches for one if it is undefined. The config is null if it is invalid, if the settings of a provider are
 * invalid, or if it names a host that the environment does not allow.
 * `trusted` names the config that the policies and approvals come from; without it they are those of the config itself.
 * The config of the base branch limits that of a pull request: see `limitConfig`.
 * With `offline`, for a run that contacts no host, hosts are not checked. With `programs: false`, for a run that reads no definition, no sandbox is started.
 * Loads the packages of providers, if the config names any, unless `packages` is false: then their settings are not checked. Registers all secrets, so that
 * definitions and output can be searched for them.
 */
export async function loadRunConfig(
  environment: ConfigEnvironment,
  file: string | undefined,
  { offline = false, packages = true, programs = true, trusted }: LoadRunConfigOptions = {},
): Promise<ConfigResult> {
  const { cwd, env, secrets, baseConfig, variables, journal } = environment
  const given = await loadConfig({ cwd, env, file, secrets, isForeign: baseConfig !== undefined })
  const loaded = baseConfig === undefined || given.config === null ? given : await withBase(given.config, baseConfig, given.diagnostics)
  if (loaded.config !== null && programs) await startPrograms(loaded.config)
  const unused = loaded.config === null ? [] : useGivenTypes(loaded.config.providers, environment.providerTypes)
  if (environment.needsTypes && unused.length > 0) return { config: null, diagnostics: [...loaded.diagnostics, ...unused] }
  const missing = packages ? await loadPackages(loaded.config?.providers.values() ?? [], { folder: loaded.config?.folder ?? cwd, env }) : []
  if (missing.length > 0) return { config: null, diagnostics: [...loaded.diagnostics, ...missing] }
  const read = checkConfig(environment, loaded, offline)
  const { config } = read
  // Without a config, this registers only the key of plan files.
  await registerSecrets(config?.providers.values() ?? [], { folder: config?.folder ?? cwd, env, loaded: secrets })
  if (config === null) return read
  const own = {
    ...read,
    config: { ...config, variables, env, ...(journal !== undefined && ownJournal(resolve(cwd, journal))) },
  }
  return trusted === undefined ? own : withTrusted(environment, own, trusted)
}

const ownJournal = (journal: string): Pick<Config, 'journal' | 'journalStore'> => ({ journal, journalStore: LOCAL_JOURNAL })

/** The config of a pull request, limited by that of the base branch, whose paths are relative to the same folder. */
async function withBase(own: Config, path: string, diagnostics: readonly Diagnostic[]): Promise<ConfigResult> {
  const place = { file: nameOfBaseConfig(own.file ?? CONFIG_FILE), folder: own.folder }
  const { config, diagnostics: found } = await loadConfig({ cwd: own.cwd, file: path, secrets: own.secrets, place })
  const limited = config && limitConfig(own, { config, ruleOf: createRuleLookup(config) })
  return { config: limited, diagnostics: [...diagnostics, ...found.filter(isError)] }
}

/** The config with the policies and approvals of another. */
async function withTrusted(
  { cwd, env, secrets }: ConfigEnvironment,
  { config, diagnostics }: ConfigResult & { readonly config: Config },
  file: string,
): Promise<ConfigResult> {
  const { config: trusted, diagnostics: found } = await loadConfig({ cwd, env, file, secrets })
  const all = [...diagnostics, ...found.filter(isError)]
  // A step that failed to fetch the file has left an empty one, which would need no approval.
  if (trusted?.providers.size === 0) {
    all.push({
      severity: 'error',
      code: 'usage',
      message: `--trusted-config: ${file} has no providers, so it is not the config of the base branch`,
    })
    return { config: null, diagnostics: all }
  }
  return trusted === null
    ? { config: null, diagnostics: all }
    : { config: { ...config, approvals: trusted.approvals, trusted }, diagnostics: all }
}

/** Like `loadRunConfig`, but returns the default config if there is no file: definitions can be checked and edited without one. */
export async function loadConfigOrDefault(environment: ConfigEnvironment, file: string | undefined): Promise<ConfigResult> {
  const { cwd, secrets, variables } = environment
  const loaded = await loadRunConfig(environment, file, { packages: false })
  const isMissing = file === undefined && loaded.diagnostics.some(({ code }) => code === 'config-missing')
  return isMissing ? { config: { ...defaultConfig({ folder: cwd, cwd, secrets }), variables }, diagnostics: [] } : loaded
}

/** Parses the text of a config and checks its hosts. Registers no secret: a provider registers its token when it is created. */
export const readRunConfig = (environment: ConfigEnvironment, text: string, place: ConfigLocation): ConfigResult =>
  checkConfig(environment, readConfig(text, { ...place, secrets: environment.secrets }))

/** Checks the settings of all providers, whether this run uses them or not, and the hosts that they name. */
function checkConfig({ env, providerTypes }: ConfigEnvironment, read: ConfigResult, offline = false): ConfigResult {
  if (read.config === null) return read
  useGivenTypes(read.config.providers, providerTypes)
  const found = [
    ...[...read.config.providers.values()].flatMap(checkSettings),
    ...(offline ? [] : hostDiagnostics(read.config, readHostPolicy(env), env)),
    ...pathDiagnostics(read.config, env),
  ]
  // In CI the policy also refuses plain HTTP.
  const errors = new Map(found.map((diagnostic) => [formatDiagnostic(diagnostic), diagnostic]))
  return errors.size === 0 ? read : { config: null, diagnostics: [...read.diagnostics, ...errors.values()] }
}

/** An error for each host of a provider or name server in the config that the policy refuses, whether this run uses it or not. */
function hostDiagnostics(config: Config, policy: HostPolicy, env: ProcessEnvironment['env']): Diagnostic[] {
  if (policy.diagnostics.length > 0) return [...policy.diagnostics]
  const at = config.file === null ? undefined : { file: config.file, line: 1, column: 1 }
  const servers = [{ nameservers: config.nameservers, at }, ...config.zoneRules]
  const { bucket } = config.journalStore
  const refusedBucket = bucket === null ? null : policy.check('journal', endpointOfUrl(endpointOfBucket(bucket, env)), bucket.at)
  return [
    ...(refusedBucket === null ? [] : [refusedBucket]),
    ...[...config.providers.values()].flatMap((provider) => refusedEndpoints(provider, policy)),
    ...config.usage.sources.flatMap(({ url, at: place }) => (url === null ? [] : (policy.check('usage', endpointOfUrl(url), place) ?? []))),
    ...servers.flatMap(({ nameservers, at: place }) =>
      (nameservers ?? []).flatMap((server) => refusedServer(policy, 'nameservers', parseServerAddress(server), place ?? undefined) ?? []),
    ),
  ]
}

/** An error for each file or folder that the config must not name. Definitions and policies are in its folder anyway. */
function pathDiagnostics({ folder, file, journal, usage, providers }: Config, env: ProcessEnvironment['env']): Diagnostic[] {
  const check = (setting: string, path: string | null, at: SourcePosition | undefined): Diagnostic[] => {
    const why = path === null ? null : refusedPath(resolve(folder, path), { folder, env })
    const hint = `if this run may use it, add it to ${ALLOWED_PATHS}`
    return why === null ? [] : [{ severity: 'error', code: 'path-not-allowed', message: `${setting} ${why}`, at, hint }]
  }
  return [
    ...check('journal', journal, file === null ? undefined : { file, line: 1, column: 1 }),
    ...usage.sources.flatMap(({ path, at }) => check('usage.source', path, at)),
    ...[...providers.values()].flatMap((provider) =>
      pathsOf(provider).flatMap(({ setting, path }) =>
        check(`providers.${provider.name}.${setting}`, path, provider.placeOf(...setting.split('.'))),
      ),
    ),
  ]
}

/** The entries of ZONEWRIGHT_ALLOWED_HOSTS that a run with the config needs. */
export function requiredHostEntries({ providers, nameservers, zoneRules, usage, journalStore: { bucket } }: Config): readonly string[] {
  const servers = [nameservers, ...zoneRules.map((rule) => rule.nameservers)].flatMap((list) => list ?? [])
  const endpoints = [
    ...(bucket === null ? [] : [endpointOfUrl(endpointOfBucket(bucket, {}))]),
    ...[...providers.values()].flatMap((provider) => endpointsOf(provider).map(({ endpoint }) => endpoint)),
    ...servers.map((server) => endpointOfServer(parseServerAddress(server))),
    ...usage.sources.flatMap(({ url }) => (url === null ? [] : endpointOfUrl(url))),
  ]
  return [...new Set(endpoints.map(hostEntry))]
}
