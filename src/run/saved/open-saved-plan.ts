/** Opens the saved plan that an argument of `apply` names. Sends nothing. */
import { existsSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { counted, listed } from '../../base/english.ts'
import { PLAN_KEY } from '../../config/resolve-secret.ts'
import { type DefinedRecord, rrsetKey } from '../../dns/record.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ZoneSettings } from '../../dns/zone.ts'
import { parseFileName } from '../../load/definition-name.ts'
import { isGlobArgument, namesFile } from '../../load/wanted-zones.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { fitToTarget } from '../../plan/fit-to-target.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import type { Provider } from '../../providers/provider.ts'
import { readApprovals } from '../../stored/approvals/approvals-of-plan.ts'
import { parseSavedPlan } from '../../stored/plans/parse-saved-plan.ts'
import { firstDifference } from '../../stored/plans/plan-json.ts'
import type { SavedPlan } from '../../stored/plans/saved-plan.ts'
import { beginsLikeDocument, beginsLikeJson, readPlanText } from '../../stored/plans/saved-plan.ts'
import type { ApplySetup, Workspace } from '../context/run-context.ts'
import { loadRunConfig } from '../load/run-config.ts'
import { NOT_OPENED, openProviders } from '../load/workspace.ts'

/** A saved plan with the providers of its targets. It has no jobs, since it needs no definitions. */
export interface SavedWorkspace extends Workspace {
  /** Null if the diagnostics have an error. */
  readonly saved: SavedPlan | null
}

/**
 * Whether an argument of `apply` names a saved plan: it begins like a path or ends in `.json`; or it contains a slash and the file exists; or the file
 * begins like JSON. Anything else names a zone, for example `0/25.2.0.192.in-addr.arpa`, even if the folder has a zone file of that name.
 */
export async function namesPlan(cwd: string, argument: string): Promise<boolean> {
  if (await namesDefinitions(cwd, argument)) return false
  if (/^\.{0,2}[/\\]|\.json$/i.test(argument)) return true
  const path = resolve(cwd, argument)
  return (/[/\\]/.test(argument) && existsSync(path)) || beginsLikeJson(path)
}

/** Whether an argument names a folder or a definition, or is a glob. */
async function namesDefinitions(cwd: string, argument: string): Promise<boolean> {
  const path = resolve(cwd, argument)
  if (!existsSync(path)) return isGlobArgument(argument)
  if (statSync(path).isDirectory()) return namesFile(argument, cwd)
  return namesFile(argument, cwd) && parseFileName(basename(path)) !== null && !(await beginsLikeDocument(path, 'plan'))
}

/** Reads the plan file among the arguments, then the config, and creates the providers of the plan's targets. */
export async function openSavedPlan(setup: ApplySetup, args: readonly string[]): Promise<SavedWorkspace> {
  const { saved, text, diagnostics } = await readSavedPlan(setup, args)
  const opened = saved === null ? NOT_OPENED : await openTargets(setup, saved)
  const found = [...diagnostics, ...opened.diagnostics]
  if (saved !== null && !hasErrors(found)) found.push(...checkTargets(saved, args[0] as string, opened.providers))
  if (saved === null || opened.config === null || hasErrors(found)) return { ...opened, jobs: [], diagnostics: found, saved: null }
  const [file = ''] = args
  const approvals = await readApprovals(
    { path: resolve(setup.environment.cwd, file), file, text },
    opened.config,
    setup.environment.approvals,
  )
  return { ...opened, jobs: [], diagnostics: found, saved: { ...saved, approvals } }
}

async function openTargets(setup: ApplySetup, { targets }: SavedPlan): Promise<Omit<Workspace, 'jobs'>> {
  const { config, diagnostics } = await loadRunConfig(setup.environment, setup.options.config, { trusted: setup.options.trustedConfig })
  if (config === null || hasErrors(diagnostics)) return { ...NOT_OPENED, diagnostics }
  const opened = await openProviders(
    setup,
    config,
    targets.map(({ name }) => name),
  )
  return { ...opened, diagnostics: [...diagnostics, ...opened.diagnostics] }
}

interface ReadPlan {
  readonly saved: SavedPlan | null
  /** The text of the file; empty if it was not read. */
  readonly text: string
  readonly diagnostics: readonly Diagnostic[]
}

async function readSavedPlan({ options, environment: { env, cwd } }: ApplySetup, args: readonly string[]): Promise<ReadPlan> {
  const { target, allow = [], prefer, since, shard, keepGoing } = options
  const [file = ''] = args
  const diagnostics: Diagnostic[] = []
  const usage = (severity: Diagnostic['severity'], message: string, hint?: string): void =>
    void diagnostics.push({ severity, code: 'usage', message, hint })
  if (args.length > 1) {
    const arePlans = await Promise.all(args.map((argument) => namesPlan(cwd, argument)))
    const kinds = args.map((argument, i) => `${argument} is a ${arePlans[i] ? 'plan file' : 'zone'}`)
    const plan = args[arePlans.indexOf(true)]
    if (arePlans.includes(false)) {
      const hint = `"zonewright apply ${plan}" applies that plan; without a plan file, apply plans the zones and applies that`
      usage('error', `apply takes either one plan file or zones, not both: ${listed(kinds, 3)}`, hint)
    } else usage('error', 'apply takes only one plan file', AMBIGUOUS)
  }
  if (target !== undefined)
    usage('error', `--target cannot be used with a saved plan, which is applied unchanged`, 'give --target to "zonewright plan --out"')
  if ([since, shard, keepGoing].some((option) => option !== undefined))
    usage('error', '--since, --shard and --keep-going cannot be used with a saved plan, which is applied unchanged', SELECT_FIRST)
  if (allow.length > 0) usage('warning', '--allow has no effect on a saved plan: it contains what was allowed when it was made')
  if (prefer === 'calls') usage('warning', '--prefer has no effect on a saved plan: its changes are applied unchanged')
  const key = env[PLAN_KEY]
  if (key === '') {
    const hint = 'set it to the key that signed the plan, or remove it'
    diagnostics.push({ severity: 'error', code: 'plan-file-signature', message: `${PLAN_KEY} is empty`, hint })
  }
  if (hasErrors(diagnostics)) return { saved: null, text: '', diagnostics }
  const text = await readPlanText(resolve(cwd, file))
  if (!text.ok) {
    const hint = existsSync(resolve(cwd, file)) ? AMBIGUOUS : `write it with "zonewright plan --out ${file}", or apply without a file`
    diagnostics.push({ severity: 'error', code: 'plan-file-invalid', message: `the plan file ${file} ${text.message}`, hint })
    return { saved: null, text: '', diagnostics }
  }
  const { saved, diagnostics: found } = parseSavedPlan(text.value, file, key ?? null)
  diagnostics.push(...found)
  const namesake = saved?.zones.find(({ plan }) => plan.zone === `${file.replace(/\.$/, '').toLowerCase()}.`)
  if (namesake !== undefined) usage('error', `${file} is a saved plan and also the zone ${namesake.plan.zone}`, AMBIGUOUS)
  return { saved, text: text.value, diagnostics }
}

const SELECT_FIRST = 'give them to "zonewright plan --out"'

const AMBIGUOUS = 'a plan file is named by a path such as ./plan.json, a zone by its name with the final dot, such as example.com.'

/**
 * Checks that the targets of a saved plan are the providers of this config, and that they can store what the plan would send. A plan by this program always
 * fits its target; a forged file may not.
 */
export function checkTargets({ targets, zones }: SavedPlan, file: string, providers: ReadonlyMap<string, Provider>): Diagnostic[] {
  const refuse = (code: Diagnostic['code'], message: string, hint?: string): Diagnostic => ({ severity: 'error', code, message, hint })
  const bound = targets.flatMap(({ name, type, address }) => {
    const provider = providers.get(name)
    if (provider === undefined || (provider.type === type && provider.address === address)) return []
    const [made, is] = provider.type === type ? [address, provider.address] : [`type ${type}`, `type ${provider.type}`]
    return [
      refuse(
        'plan-file-target',
        `${file} was made for ${name} at ${made}; in this config ${name} is ${is}`,
        'apply it with the config it was made with, or plan again',
      ),
    ]
  })
  if (bound.length > 0) return bound
  return zones.flatMap(({ plan }) => {
    const provider = providers.get(plan.target)
    const problem = provider && unfit(plan, provider)
    return problem ? [refuse('plan-file-invalid', `${file}: ${plan.target} cannot store the plan for ${plan.zone}: ${problem}`)] : []
  })
}

/** Describes the first desired value that the target would store differently; null if there is none. */
function unfit(plan: ZonePlan, { name: target, capabilities }: Provider): string | null {
  const overfull = overfullCall(plan, capabilities)
  if (overfull !== null) return overfull
  const at = { file: 'plan', line: 1, column: 1 }
  const records: DefinedRecord[] = []
  let settings: ZoneSettings = {}
  for (const change of plan.changes) {
    if (change.subject === 'domain') settings = change.desired ?? {}
    else if (change.desired !== null) records.push({ ...change.desired, at })
  }
  const desired: DesiredZone = {
    ...DEFAULT_ZONE_OPTIONS,
    name: plan.zone,
    at,
    settings,
    records,
    apexNs: 'manage',
  }
  const fitted = fitToTarget(desired, target, capabilities)
  const error = fitted.diagnostics.find(({ severity }) => severity === 'error')
  if (error) return error.message
  const stored = { ...fitted.settings, ...(capabilities.settings.has('type') ? {} : { type: settings.type }) }
  const difference =
    firstDifference(fitted.records, records, 'records') ?? firstDifference(definedOnly(stored), definedOnly(settings), 'settings')
  return difference === null ? null : `${difference} would be stored differently`
}

/** Describes a call that carries more than the target takes, or an RRset that two calls change; null if there is none. */
function overfullCall({ changes }: ZonePlan, { calls: { unit, maxUnits, createsZoneWithRecords } }: Capabilities): string | null {
  const units = new Map<number, Set<string>>()
  const callOf = new Map<string, number>()
  const creation = changes.find(({ subject, action }) => subject === 'domain' && action === 'create')
  for (const [index, change] of changes.entries()) {
    if (change.subject === 'domain') continue
    if (change.call === creation?.call && !createsZoneWithRecords) return `call ${change.call} creates the zone and carries a record`
    const key = unit === 'rrset' ? rrsetKey(change) : String(index)
    const own = units.get(change.call) ?? new Set()
    units.set(change.call, own.add(key))
    if (maxUnits !== null && own.size > maxUnits) return `call ${change.call} carries more than ${counted(maxUnits, UNIT_NAMES[unit])}`
    if (callOf.has(key) && callOf.get(key) !== change.call) return `two calls change ${key}`
    callOf.set(key, change.call)
    const renames = unit === 'rrset' && change.existing !== null && rrsetKey(change.existing) !== key
    if (renames) return `changes[${index}] moves a record to another record set`
  }
  return null
}

const UNIT_NAMES = { record: 'record', rrset: 'record set' } as const

const definedOnly = (settings: ZoneSettings): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
