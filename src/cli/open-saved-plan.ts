import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkTargets } from '../apply/saved-plan/check-targets.ts'
import { parseSavedPlan } from '../apply/saved-plan/parse-saved-plan.ts'
import { looksLikePlan, readPlanText } from '../apply/saved-plan/read-plan-file.ts'
import type { SavedPlan } from '../apply/saved-plan/saved-plan.ts'
import type { Config } from '../definition/config/config.ts'
import { unknownProvider } from '../definition/config/read-config.ts'
import { PLAN_KEY } from '../definition/config/secret.ts'
import { type Diagnostic, hasErrors } from '../dns/diagnostic.ts'
import type { OnThrottled, Provider } from '../providers/provider.ts'
import { createProvider } from '../providers/registry.ts'
import type { CliIo } from './io.ts'
import { loadRunConfig } from './run-config.ts'
import type { Workspace } from './workspace.ts'

export interface SavedPlanOptions {
  readonly config?: string | undefined
  readonly target?: string | undefined
  readonly allow: readonly string[]
  readonly prefer?: string | undefined
  readonly parallelism?: number | undefined
  readonly onThrottled?: OnThrottled | undefined
}

/** A saved plan with the providers of its targets. Without definitions there are no jobs. */
export interface SavedWorkspace extends Workspace {
  /** Null where the diagnostics hold an error. */
  readonly saved: SavedPlan | null
}

/**
 * Whether an argument of `apply` names a saved plan: it begins like a path or ends in `.json`, a file is there that its name has a folder of, or one that
 * begins like a plan. Everything else names a zone, also `0/25.2.0.192.in-addr.arpa`, and also where a zone file of that name is in the folder.
 */
export async function namesPlan(cwd: string, argument: string): Promise<boolean> {
  if (/^\.{0,2}[/\\]|\.json$/i.test(argument)) return true
  const path = resolve(cwd, argument)
  return (/[/\\]/.test(argument) && existsSync(path)) || looksLikePlan(path)
}

/** Reads the plan file among the arguments and the config, and makes the providers of its targets. Opens no connection. */
export async function openSavedPlan(io: CliIo, args: readonly string[], options: SavedPlanOptions): Promise<SavedWorkspace> {
  const diagnostics: Diagnostic[] = []
  const providers = new Map<string, Provider>()
  const saved = await readSavedPlan(io, args, options, diagnostics)
  const config = saved === null ? null : await addProviders(io, saved, options, providers, diagnostics)
  if (saved !== null && !hasErrors(diagnostics)) diagnostics.push(...checkTargets(saved, args[0] as string, providers))
  const close = async (): Promise<void> => {
    await Promise.all([...providers.values()].map((provider) => provider.close()))
  }
  return { jobs: [], providers, journal: config?.journal ?? '', diagnostics, saved: hasErrors(diagnostics) ? null : saved, close }
}

async function readSavedPlan(
  io: CliIo,
  args: readonly string[],
  { target, allow, prefer }: SavedPlanOptions,
  diagnostics: Diagnostic[],
): Promise<SavedPlan | null> {
  const [file = ''] = args
  const usage = (severity: Diagnostic['severity'], message: string, hint?: string): void =>
    void diagnostics.push({ severity, code: 'usage', message, hint })
  if (args.length > 1) usage('error', `apply takes one saved plan, or zones; given are ${args.length} arguments`, AMBIGUOUS)
  if (target !== undefined)
    usage('error', `--target does not go with a saved plan, which is applied as it is`, 'give --target to "zonewright plan --out"')
  if (allow.length > 0) usage('warning', '--allow does not count with a saved plan: what was allowed when it was made is in it')
  if (prefer === 'calls') usage('warning', '--prefer does not count with a saved plan: its changes are made as they are')
  const key = io.env[PLAN_KEY]
  if (key === '') {
    const message = `${PLAN_KEY} is set and empty`
    diagnostics.push({
      severity: 'error',
      code: 'plan-file-signature',
      message,
      hint: 'set it to the key that signed the plan, or unset it',
    })
  }
  if (hasErrors(diagnostics)) return null
  const text = await readPlanText(resolve(io.cwd, file))
  if (!text.ok) {
    diagnostics.push({ severity: 'error', code: 'plan-file-invalid', message: `${file} ${text.message}`, hint: AMBIGUOUS })
    return null
  }
  const parsed = parseSavedPlan(text.value, file, key ?? null)
  diagnostics.push(...parsed.diagnostics)
  const namesake = parsed.saved?.plan.zones.find(({ zone }) => zone === `${file.replace(/\.$/, '').toLowerCase()}.`)
  if (namesake !== undefined) usage('error', `${file} is a saved plan and also the zone ${namesake.zone}`, AMBIGUOUS)
  return parsed.saved
}

const AMBIGUOUS = 'a plan file is named by a path such as ./plan.json, a zone by its name with the final dot, such as example.com.'

async function addProviders(
  io: CliIo,
  { targets }: SavedPlan,
  { config: file, parallelism, onThrottled }: SavedPlanOptions,
  providers: Map<string, Provider>,
  diagnostics: Diagnostic[],
): Promise<Config | null> {
  const { config, diagnostics: found } = await loadRunConfig(io, file)
  diagnostics.push(...found)
  if (config === null || hasErrors(found)) return null
  for (const { name } of targets) {
    const entry = config.providers.get(name)
    if (entry === undefined) {
      diagnostics.push(unknownProvider(name, config.providers.keys(), undefined))
      continue
    }
    const made = await createProvider(entry, {
      secrets: { folder: config.folder, env: io.env, loaded: io.secrets },
      parallelism,
      onThrottled,
    })
    diagnostics.push(...made.diagnostics)
    if (made.provider) providers.set(name, made.provider)
  }
  return config
}
