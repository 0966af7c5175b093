/** The options of the library's functions, and their checks for callers without a compiler. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { didYouMean } from '../base/nearest-word.ts'
import { isObject, quoted } from '../base/text.ts'
import { parseUsageSource } from '../config/usage-source.ts'
import { type Allowance, parseAllowance } from '../dns/zone.ts'
import { MAX_SHARDS } from '../plan/shards.ts'
import type { ProviderValue } from '../providers/registry.ts'
import type { PlanDocument } from '../report/plan-document.ts'
import type { Progress } from '../run/context/run-context.ts'

/** The options that every function has. */
export interface CommonOptions {
  /** The folder where the config is searched, and that names of files are relative to; that of the process if absent. */
  readonly cwd?: string | undefined
  /** The config; `zonewright.yaml` in `cwd` or a folder above it if absent. */
  readonly config?: string | undefined
  /** The environment variables: secrets, allowed hosts and paths, proxies, whether this is CI. Those of the process if absent. Nothing else is read from the process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Names or globs of zones, or paths of definitions. All zones if absent; an empty list selects nothing. */
  readonly zones?: readonly string[] | undefined
  /** Only zones that changed since this git revision. */
  readonly since?: string | undefined
  /** Variables for definitions that are programs. */
  readonly variables?: Readonly<Record<string, string>> | undefined
  /** Providers that replace those of the config, by their names in it: what a package with a provider exports, or a provider in memory. */
  readonly providers?: Readonly<Record<string, ProviderValue>> | undefined
  /** Stops the run: it sends nothing more, waits up to 10 s for the changes in flight, unlocks its zones and has the result `interrupted`. */
  readonly signal?: AbortSignal | undefined
  /** Called while zones are read, changes applied and name servers queried. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Called with a sentence for people, such as that the run waits for another one. */
  readonly onMessage?: ((text: string) => void) | undefined
  /** The clock; that of the system if absent. */
  readonly now?: (() => Date) | undefined
}

/** The options of `loadDefinitions`. */
export interface LoadOptions extends CommonOptions {
  /** The git revision that has the policies; the working tree if absent. */
  readonly policiesFrom?: string | undefined
  /** Whether warnings fail the check, too. */
  readonly strict?: boolean | undefined
}

/** The options of functions that contact providers. */
export interface ContactOptions extends CommonOptions {
  /** Only this target. */
  readonly target?: string | undefined
  /** Only the zones of a shard: the `index` (from 1) of `count` parts with about as many records each, up to 256. */
  readonly shard?: { readonly index: number; readonly count: number } | undefined
  /** Whether to leave out zones with errors instead of ending the run, which then has the result `failed`. */
  readonly keepGoing?: boolean | undefined
  /** Concurrent requests per target. */
  readonly parallelism?: number | undefined
  /** The folder of the journal, in place of the one in the config. Runs with different journals do not see each other's locks, so it is allowed only if `providers` has all providers of the run. A provider in memory needs it. */
  readonly journal?: string | undefined
}

interface PlanningOptions extends ContactOptions {
  /** Safety limits to lift, besides those in the config. */
  readonly allow?: readonly Allowance[] | undefined
  /** What matters more: no interruption (`continuity`, if absent) or the fewest calls. */
  readonly prefer?: 'continuity' | 'calls' | undefined
  /** CSV files or addresses with how often names are queried, instead of those in the config. Names in use are not deleted. */
  readonly usage?: readonly string[] | undefined
  /** The config that approvals and policies come from, that of the base branch; the config itself if absent. */
  readonly trustedConfig?: string | undefined
}

/** The options of `plan`. */
export interface PlanOptions extends PlanningOptions {
  /** The file to save the plan to, for `planFile` of `apply`. */
  readonly out?: string | undefined
  /** The git revision whose plan is subtracted: the effect of a branch alone. */
  readonly base?: string | undefined
  /** The git revision that has the policies; the working tree if absent. */
  readonly policiesFrom?: string | undefined
  /** A snapshot to plan against instead of the live zones; contacts no server. */
  readonly snapshot?: string | undefined
  /** The public key that must have signed the snapshot: `env:NAME`, `file:PATH` or `ssh-ed25519 …`. */
  readonly verifyKey?: string | undefined
  /** Seconds: an older snapshot is refused; a day if absent. */
  readonly maxAge?: number | undefined
}

/** The options of `apply`. */
export interface ApplyOptions extends PlanningOptions {
  /** A saved plan to apply, instead of planning `zones`. */
  readonly planFile?: string | undefined
  /** With `planFile`: whether to leave out zones that have changed, and apply the others. */
  readonly partial?: boolean | undefined
  /** Seconds to wait for runs that have locked a zone; none if absent. */
  readonly wait?: number | undefined
  /** Called with the plan before anything is changed; if it returns false, nothing is. Applied without it if absent. */
  readonly confirm?: ((plan: PlanDocument, signal: AbortSignal) => boolean | Promise<boolean>) | undefined
}

/** The options of `verify`. */
export interface VerifyOptions extends ContactOptions {
  /** Name servers to query, such as `192.0.2.53` or `[::1]:5353`, instead of those in the config or the NS records. */
  readonly nameservers?: readonly string[] | undefined
  /** The resolvers of this region of the provider are queried instead of name servers. */
  readonly resolvers?: string | undefined
  /** Whether to query name servers; true if absent. */
  readonly dns?: boolean | undefined
}

/** What a value must be; null if it is that. */
type Check = (value: unknown) => string | null

export type Checks = Readonly<Record<string, Check>>

const check =
  (words: string, test: (value: unknown) => boolean): Check =>
  (value) =>
    test(value) ? null : words

const text = check('a text', (value) => typeof value === 'string' && value !== '')
const flag = check('true or false', (value) => typeof value === 'boolean')
const count = check('a whole number above 0', (value) => Number.isSafeInteger(value) && Number(value) > 0)
const call = check('a function', (value) => typeof value === 'function')
const object = check('an object', isObject)
const textsByName = check(
  'an object of texts',
  (value) => isObject(value) && Object.values(value).every((one) => /string|undefined/.test(typeof one)),
)
const oneOf = (...words: readonly unknown[]): Check => check(`one of ${words.join(', ')}`, (value) => words.includes(value))
const texts: Check = (value) => (Array.isArray(value) && value.every((one) => text(one) === null) ? null : 'a list of texts')
const parsed =
  (parse: (one: string) => { readonly ok: true } | { readonly ok: false; readonly message: string }): Check =>
  (value) => {
    if (texts(value) !== null) return texts(value)
    const wrong = (value as readonly string[]).map(parse).find((one) => !one.ok)
    return wrong === undefined || wrong.ok ? null : `a list of such values: ${wrong.message}`
  }

const isShard = (value: unknown): boolean => {
  const { index, count: of } = Object(value) as Partial<Record<string, unknown>>
  return count(index) === null && count(of) === null && Number(index) <= Number(of) && Number(of) <= MAX_SHARDS
}

const COMMON = {
  cwd: text,
  config: text,
  env: textsByName,
  zones: texts,
  since: text,
  variables: textsByName,
  providers: object,
  signal: check('an AbortSignal', (value) => value instanceof AbortSignal),
  onProgress: call,
  onMessage: call,
  now: call,
} satisfies Record<keyof CommonOptions, Check>

const CONTACT = {
  ...COMMON,
  target: text,
  shard: check(`an index from 1 and a count up to ${MAX_SHARDS}`, isShard),
  keepGoing: flag,
  parallelism: count,
  journal: text,
} satisfies Record<keyof ContactOptions, Check>

const PLANNING = {
  ...CONTACT,
  allow: parsed(parseAllowance),
  prefer: oneOf('continuity', 'calls'),
  usage: parsed((one) => parseUsageSource(one, '', '')),
  trustedConfig: text,
} satisfies Record<keyof PlanningOptions, Check>

/** The options of other functions have no meaning for it: callers share theirs. */
export const LOAD_CHECKS: Checks = { ...CONTACT, policiesFrom: text, strict: flag } satisfies Record<keyof LoadOptions, Check>

export const PLAN_CHECKS: Checks = {
  ...{ ...PLANNING, out: text, base: text, policiesFrom: text, snapshot: text, verifyKey: text, maxAge: count },
} satisfies Record<keyof PlanOptions, Check>

export const APPLY_CHECKS: Checks = {
  ...{ ...PLANNING, planFile: text, partial: flag, wait: count, confirm: call },
} satisfies Record<keyof ApplyOptions, Check>

export const VERIFY_CHECKS: Checks = { ...CONTACT, nameservers: texts, resolvers: text, dns: flag } satisfies Record<
  keyof VerifyOptions,
  Check
>

/** An error for each option that does not exist or has a value of another form. A misspelled `target` would otherwise mean all targets. */
export function optionProblems(options: unknown, checks: Checks): Diagnostic[] {
  if (!isObject(options)) return [{ severity: 'error', code: 'usage', message: 'the options must be an object' }]
  return Object.entries(options).flatMap(([key, value]): Diagnostic[] => {
    const known = Object.hasOwn(checks, key) ? checks[key] : undefined
    const problem = known === undefined ? 'there is no such option' : value === undefined ? null : known(value)
    if (problem === null) return []
    const message = known === undefined ? `${problem}: ${quoted(key)}` : `the option ${key} must be ${problem}`
    return [{ severity: 'error', code: 'usage', message, hint: known === undefined ? didYouMean(key, Object.keys(checks)) : undefined }]
  })
}
