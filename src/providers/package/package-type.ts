/** Wraps a provider package as a provider type. Checks its settings, and everything that the package returns. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { isObject } from '../../base/text.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { resolveSecret } from '../../config/resolve-secret.ts'
import { pointerSteps } from '../../definition/yaml/yaml-node.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import { isServerAddress, parseServerAddress } from '../../dns/server-address.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { endpointOfServer, endpointOfUrl } from '../../transport/allowed-hosts.ts'
import {
  assertMayWrite,
  type CreatedProvider,
  type Provider,
  type ProviderContext,
  type ProviderEndpoint,
  ProviderError,
  type ProviderType,
  type ZoneList,
  type ZoneReference,
} from '../provider.ts'
import { API_VERSION, type PackageProvider, type PackageRecord, type PackageZone, type ProviderPackage } from './package-interface.ts'

const DEFAULT_PARALLELISM = 4

/** A plain store of RRsets: any type and TTL, whole RRsets in calls of any size, no zone settings. */
const PACKAGE_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, atomic: false },
  canCreateZone: () => true,
  rules: [],
}

const formOf = (value: unknown): string => Object.prototype.toString.call(value)

/** A value of each capability that has a default, also where that is null. */
const EXAMPLES = { ...PACKAGE_CAPABILITIES, types: new Set(), ttlSteps: [], settingSteps: [], maxRecords: 0 }

/** Maximum milliseconds that a package's call is expected to take. The package sends its requests itself. */
const CALL_LIMIT = 30_000

/** Maximum milliseconds that a run waits at its end for a package to release what it holds. */
const CLOSE_LIMIT = 10_000

/** Settings that every provider has, and that packages do not describe. */
const COMMON_SETTINGS: ReadonlySet<string> = new Set(['parallelism', 'timeout'])

/** The provider type of a package. Throws if the package's schema of settings or a capability is invalid. */
export function packageType(provided: ProviderPackage, name: string): ProviderType {
  const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(provided.settings)
  const given = provided.capabilities
  for (const key of Object.keys(EXAMPLES) as (keyof typeof EXAMPLES)[]) {
    const isDefault = given[key] === undefined || given[key] === PACKAGE_CAPABILITIES[key]
    if (!isDefault && formOf(given[key]) !== formOf(EXAMPLES[key])) throw new Error(`the capability ${key} has the wrong type`)
  }
  const merged = { ...PACKAGE_CAPABILITIES, ...given, calls: { ...PACKAGE_CAPABILITIES.calls, ...given.calls } }
  const { canCreateZone, settingProblems, rules } = merged
  const own = { canCreateZone: failingAsProvider(name, canCreateZone), settingProblems: failingAsProvider(name, settingProblems) }
  const capabilities = { ...merged, ...own, rules: rules.map((rule) => failingAsProvider(name, rule)) }
  return {
    capabilities,
    checkSettings: (config) => settingsDiagnostics(config, provided, validate),
    endpoints: (config) => endpointsOf(config, provided) ?? [],
    create: (config, context) => createFromPackage(config, context, provided, capabilities),
  }
}

/** A function of a package, which fails as its provider does. */
const failingAsProvider =
  <Args extends readonly unknown[], Result>(name: string, work: (...args: Args) => Result) =>
  (...args: Args): Result => {
    try {
      return work(...args)
    } catch (error) {
      throw toProviderError(error, name, { isCall: false })
    }
  }

type TypeOfValue = { readonly type: ProviderType } | { readonly type: null; readonly problem: string; readonly hint?: string }

/** The provider type of a value that is to be a `ProviderPackage`, or why there is none. `whose` names the value in messages, and `name` the package. */
export function typeOfValue(value: unknown, whose: string, name: string): TypeOfValue {
  if (!isObject(value)) return { type: null, problem: `${whose} does not export "provider"` }
  const { apiVersion } = value
  if (apiVersion !== API_VERSION)
    return {
      type: null,
      problem: `${whose} has version ${JSON.stringify(apiVersion) ?? 'none'} of the provider interface; this Zonewright has ${API_VERSION}`,
      hint: Number(apiVersion) > API_VERSION ? 'update zonewright' : `update ${name}`,
    }
  if (!isProviderPackage(value)) return { type: null, problem: `"provider" of ${whose} lacks settings, capabilities or create` }
  try {
    return { type: packageType(value, name) }
  } catch (error) {
    return { type: null, problem: `the settings or capabilities of ${name} are invalid: ${(error as Error).message}` }
  }
}

const isProviderPackage = (value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & ProviderPackage =>
  isObject(value['settings']) && isObject(value['capabilities']) && typeof value['create'] === 'function'

const ownSettings = ({ settings }: ProviderConfig): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => !COMMON_SETTINGS.has(key)))

function settingsDiagnostics(config: ProviderConfig, provided: ProviderPackage, validate: ValidateFunction): readonly Diagnostic[] {
  if (validate(ownSettings(config))) {
    if (endpointsOf(config, provided) !== null) return []
    const message = `providers.${config.name}: "hosts" of the package gives no list of URLs and host:port, so its hosts cannot be checked`
    return [{ severity: 'error', code: 'host-not-allowed', message, at: config.at }]
  }
  return (validate.errors ?? []).map(({ instancePath, keyword, params, message = 'is invalid' }) => {
    const path = pointerSteps(instancePath)
    const extra = keyword === 'additionalProperties' ? ` "${String(params['additionalProperty'])}"` : ''
    return {
      severity: 'error',
      code: 'schema-value',
      message: `providers.${[config.name, ...path].join('.')} ${message}${extra}`,
      at: config.placeOf(...path),
    }
  })
}

/** The hosts of a package; null if it does not say them in a usable form, as with settings that are invalid. */
function endpointsOf(config: ProviderConfig, provided: ProviderPackage): readonly ProviderEndpoint[] | null {
  try {
    return (provided.hosts?.(ownSettings(config)) ?? []).map((host) => {
      const endpoint = /^https?:\/\//.test(host)
        ? endpointOfUrl(new URL(host))
        : isServerAddress(host) && endpointOfServer(parseServerAddress(host))
      if (!endpoint) throw new TypeError(`${host} is no host`)
      return { setting: `providers.${config.name}`, endpoint, at: config.at }
    })
  } catch {
    return null
  }
}

async function createFromPackage(
  config: ProviderConfig,
  context: ProviderContext,
  provided: ProviderPackage,
  capabilities: Capabilities,
): Promise<CreatedProvider> {
  const { name } = config
  const { parallelism = config.settings['parallelism'] as number | undefined, secrets } = context
  const failures: Diagnostic[] = []
  try {
    const created = provided.create({
      name,
      settings: ownSettings(config),
      folder: secrets.folder,
      parallelism,
      onThrottled: (milliseconds) => context.onThrottled?.(name, milliseconds),
      async resolveSecret(reference) {
        const resolved = await resolveSecret(reference, `providers.${name}`, config.at, secrets)
        if (resolved.diagnostic) failures.push(resolved.diagnostic)
        return resolved.value ?? ''
      },
    })
    const stopped = new ProviderError('provider-stopped', `${name}: the run was stopped before the provider was created`)
    const inner = await untilAborted(Promise.resolve(created), context.signal, stopped)
    if (failures.length > 0) return { provider: null, diagnostics: failures }
    const { parallelism: own = DEFAULT_PARALLELISM } = inner
    const atOnce = parallelism ?? (own >= 1 ? Math.floor(own) : DEFAULT_PARALLELISM)
    return { provider: wrapProvider(config, inner, capabilities, atOnce), diagnostics: [] }
  } catch (error) {
    const { code, message, hint } = toProviderError(error, name, { isCall: false })
    return { provider: null, diagnostics: [{ severity: 'error', code, message, hint, at: config.at }] }
  }
}

function wrapProvider({ name, type }: ProviderConfig, inner: PackageProvider, capabilities: Capabilities, parallelism: number): Provider {
  const guarded = async <T>(isCall: boolean, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> => {
    const message = `${name}: the provider did not answer before the run ended`
    const stopped = new ProviderError('provider-stopped', message, { ambiguous: isCall, mayCompleteLater: isCall })
    try {
      return await untilAborted(work(), signal, stopped)
    } catch (error) {
      throw toProviderError(error, name, { isCall })
    }
  }
  const assertMaySend = (stop: AbortSignal | undefined): void => {
    if (stop?.aborted) throw new ProviderError('provider-stopped', `${name}: the run was stopped before the request`, { notSent: true })
  }
  const listZones: Provider['listZones'] = (options) =>
    guarded(false, options?.signal, async () => {
      assertMaySend(options?.stop)
      return zoneList(withIds(await inner.listZones(options)))
    })
  return {
    name,
    type,
    address: String(inner.address),
    capabilities,
    parallelism,
    listZones,
    async findZones(names, options) {
      const wanted = new Set(names)
      return new Map((await listZones(options)).zones.flatMap((zone) => (wanted.has(zone.name) ? [[zone.name, zone]] : [])))
    },
    readZone: (zone, options) =>
      guarded(false, options?.signal, async () => {
        assertMaySend(options?.stop)
        const records = parseRecords(withIds(await inner.readZone(zone, options)), zone.name, name)
        return { ...zone, records }
      }),
    apply: (zone, call, options) =>
      guarded(true, options?.signal, async () => {
        assertMaySend(options?.stop)
        await assertMayWrite(name, options, CALL_LIMIT)
        const { changes, zone: changed } = (await inner.apply(zone, call, options)) ?? {}
        const created = call.changes.find(({ subject, action }) => subject === 'domain' && action === 'create')?.name
        withIds([...(changes ?? []), changed ?? {}])
        const [reference] = zoneList(changed ? [changed] : created ? [{ name: created }] : []).zones
        return { ...(changes && { changes }), ...(reference && { zone: reference }) }
      }),
    async close() {
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(), CLOSE_LIMIT)
      await guarded(false, limit.signal, async () => inner.close?.()).finally(() => clearTimeout(timer))
    },
  }
}

/** The result of work that may never end, or `stopped` once the signal is aborted and the work had its chance to end with it. */
const untilAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined, stopped: ProviderError): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = (): void => void setImmediate(reject, stopped)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop))
  })

/** Throws if an identifier is neither text nor number: plans and journals could not hold it. */
function withIds<One extends { readonly id?: unknown }>(ones: readonly One[]): readonly One[] {
  if (ones.every(({ id }) => ['string', 'number', 'undefined'].includes(typeof id))) return ones
  throw new TypeError('the package returns an identifier that is neither text nor number')
}

function zoneList(listed: readonly PackageZone[]): ZoneList {
  const zones = new Map<DomainName, ZoneReference>()
  const unusable: { name: string; id: number | string; reason: string }[] = []
  for (const { name, id = name, settings = { type: 'master' } as const } of listed) {
    const parsed = parseAbsoluteName(name)
    if (!parsed.ok) unusable.push({ name, id, reason: 'is not a domain name' })
    else if (zones.has(parsed.value)) unusable.push({ name, id, reason: 'has the name of another zone' })
    else zones.set(parsed.value, { name: parsed.value, id, settings })
  }
  return { zones: [...zones.values()], unusable }
}

/** The package's records in canonical form. */
function parseRecords(found: readonly PackageRecord[], zone: DomainName, provider: string): ExistingRecord[] {
  const garbled = (what: string): ProviderError =>
    new ProviderError('provider-garbled', `${provider}: reading ${zone}: the package returns ${what}`)
  const lines = found.map(({ name, type, ttl, data }) => `${name} ${ttl} IN ${type} ${data}`)
  const broken = lines.find((line) => /[\r\n]/.test(line))
  if (broken !== undefined) throw garbled('a record with a line break')
  const { records, diagnostics } = parseZoneFile(lines.join('\n'), { origin: zone, zone, file: 'records' })
  if (records.length !== found.length) throw garbled(`an invalid record: ${diagnostics[0]?.message ?? 'outside the zone'}`)
  return records.map(({ name, type, ttl, data }, index) => ({ name, type, ttl, data, id: found[index]?.id }))
}

/** Converts a package's error, which may come from another copy of `ProviderError`. After an unexpected error, the result of a call is unknown. */
function toProviderError(error: unknown, provider: string, { isCall }: { readonly isCall: boolean }): ProviderError {
  if (error instanceof ProviderError) return error
  const { code, message, ambiguous, mayCompleteLater, notSent, status, hint } =
    isObject(error) || error instanceof Error ? (error as Fields) : {}
  const text = typeof message === 'string' ? message : String(error)
  if (typeof code !== 'string' || !Object.hasOwn(DIAGNOSTIC_CODES, code))
    return new ProviderError('provider-failed', `${provider}: ${text}`, { ambiguous: isCall, cause: error })
  return new ProviderError(code as DiagnosticCode, text, {
    ambiguous: ambiguous === true,
    mayCompleteLater: mayCompleteLater === true,
    notSent: notSent === true,
    status: typeof status === 'string' ? status : undefined,
    hint: typeof hint === 'string' ? hint : undefined,
    cause: error,
  })
}

/** Whether a value is an object, but not a list. */
type Fields = Partial<Readonly<Record<'code' | 'message' | 'ambiguous' | 'mayCompleteLater' | 'notSent' | 'status' | 'hint', unknown>>>
