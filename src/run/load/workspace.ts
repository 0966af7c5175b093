/** Loads the config, the definitions and the providers of a run. Sends nothing. */
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { agreeing, listed } from '../../base/english.ts'
import { loadPolicies } from '../../checks/policies/load-policies.ts'
import { type Config, unknownProvider } from '../../config/config.ts'
import type { LoadedZone } from '../../config/configured-zone.ts'
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import type { Allowance } from '../../dns/zone.ts'
import { sourceProviders } from '../../dns/zone-source.ts'
import type { ZoneJob } from '../../plan/planned-zone.ts'
import type { Provider } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { countDiagnostics } from '../../report/diagnostics-report.ts'
import { fetchJournal } from '../../stored/store/fetch-journal.ts'
import { type RunOutput, type RunSetup, reportThrottling, type Workspace, type WorkspaceOptions } from '../context/run-context.ts'
import { checkedBy } from './check-plan.ts'
import { deletesZones, deletionJob, describedAt, nameRemovedZones, type RemovedZone, removedZones } from './removed-zones.ts'
import { loadRunConfig } from './run-config.ts'
import { selectZones } from './select-zones.ts'

/** The workspace of a run that could not load anything. */
export const NOT_OPENED: Workspace = {
  config: null,
  jobs: [],
  providers: new Map<string, Provider>(),
  journal: '',
  diagnostics: [],
  close: async () => undefined,
}

/** Where a run gets its providers. */
export interface ProviderSource {
  /** Whether the providers contact no host. */
  readonly offline: boolean
  /** Creates the providers with these names. A name that the config does not have is an error. */
  open(
    setup: RunSetup<WorkspaceOptions>,
    config: Config,
    names: Iterable<string>,
  ): Promise<Omit<Workspace, 'jobs'> & { readonly config: Config }>
}

/** Loads the config, the definitions of the named zones (all if none is named) and the providers that they need. */
export async function openWorkspace(
  setup: RunSetup<WorkspaceOptions>,
  zones: readonly string[],
  source: ProviderSource = LIVE,
): Promise<Workspace> {
  const { config, diagnostics } = await loadRunConfig(setup.environment, setup.options.config, {
    offline: source.offline,
    trusted: setup.options.trustedConfig,
  })
  if (config === null || hasErrors(diagnostics)) return { ...NOT_OPENED, config, diagnostics }
  const workspace = await openConfig(setup, config, zones, source)
  return { ...workspace, diagnostics: [...diagnostics, ...workspace.diagnostics] }
}

/** Like `openWorkspace`, for a config that has been loaded. */
export async function openConfig(
  setup: RunSetup<WorkspaceOptions>,
  config: Config,
  zones: readonly string[],
  source: ProviderSource = LIVE,
): Promise<Workspace> {
  const { options, environment } = setup
  const { target } = options
  const now = environment.now()
  const policies = options.checksPolicies
    ? await loadPolicies(config, { now, revision: options.policiesFrom, env: environment.env })
    : undefined
  const selected = await selectZones(config, zones, options, environment, checkedBy(policies ?? null, now))
  for (const note of selected.notes) setup.output.note(note)
  const jobs = selected.zones.flatMap((zone) => jobsOf(zone, options))
  const problems = target === undefined ? [] : checkTarget(target, config, selected.zones, zones)
  const notices = unselectedReverse(
    selected.unsplit,
    selected.unsplit.flatMap((zone) => jobsOf(zone, options)),
  )
  const names = new Set(jobs.flatMap((job) => [job.target, ...sourceProviders(job.desired)]))
  const opened = await source.open(
    setup,
    config,
    [...names].filter((name) => config.providers.has(name)),
  )
  const diagnostics = [...selected.diagnostics, ...(policies?.diagnostics ?? []), ...problems, ...notices, ...opened.diagnostics]
  // A journal that cannot be read stops no run.
  const unread = selected.isComplete && !source.offline ? await fetchJournal({ ...environment, config, journal: config.journal }) : null
  if (unread !== null) diagnostics.push({ ...unread, severity: 'warning' })
  const isDescribed = selected.isComplete ? describedAt(selected) : undefined
  const loaded = { ...opened, jobs, diagnostics, leftOut: selected.leftOut, isDescribed, policies }
  return hasErrors(diagnostics) ? loaded : withRemoved(setup, loaded, removedZones(config, selected, options), source)
}

type OpenedConfig = Workspace & { readonly config: Config }

/** Adds the zones without a definition: jobs that delete them, or their look-up. */
async function withRemoved(
  setup: RunSetup<WorkspaceOptions>,
  loaded: OpenedConfig,
  removed: readonly RemovedZone[],
  source: ProviderSource,
): Promise<OpenedConfig> {
  if (removed.length === 0) return loaded
  const { config } = loaded
  const names = new Set(removed.map(({ target }) => target).filter((name) => config.providers.has(name) && !loaded.providers.has(name)))
  // What is only named does not end the run if its provider lacks a secret.
  const others = await source.open(setup, config, names)
  const providers = new Map([...loaded.providers, ...others.providers])
  const jobOf = (zone: RemovedZone): ZoneJob | null => {
    const provider = providers.get(zone.target)
    return provider !== undefined && deletesZones(provider) ? deletionJob(zone, config, setup.options) : null
  }
  const jobs = removed.flatMap((zone) => jobOf(zone) ?? [])
  const named = removed.filter((zone) => jobOf(zone) === null)
  const used = new Set([...loaded.providers.keys(), ...jobs.map((job) => job.target)])
  return {
    ...loaded,
    providers: new Map([...providers].filter(([name]) => used.has(name))),
    jobs: [...loaded.jobs, ...jobs],
    nameRemoved: named.length === 0 ? undefined : (lookup) => nameRemovedZones(named, providers, lookup),
    close: async () => void (await Promise.all([loaded.close(), others.close()])),
  }
}

/** The providers of the config, with their secrets. */
export async function openProviders(
  setup: RunSetup<WorkspaceOptions>,
  config: Config,
  names: Iterable<string>,
): Promise<Omit<Workspace, 'jobs'> & { readonly config: Config }> {
  const { options, output } = setup
  const { env, secrets, now, signal, onRequest, journal, providerTypes } = setup.environment
  const diagnostics: Diagnostic[] = []
  const providers = new Map<string, Provider>()
  for (const name of names) {
    const entry = config.providers.get(name)
    if (entry === undefined) {
      diagnostics.push(unknownProvider(name, config.providers.keys(), undefined))
      continue
    }
    if (journal !== undefined && !providerTypes?.has(name)) {
      const message = `the option journal is for runs whose providers are given as values, and ${JSON.stringify(name)} is not`
      diagnostics.push({ severity: 'error', code: 'usage', message, hint: 'other runs of the zones would not see its locks' })
      continue
    }
    const created = await createProvider(entry, {
      secrets: { folder: config.folder, env, loaded: secrets },
      parallelism: options.parallelism,
      now,
      signal,
      onThrottled: reportThrottling(output),
      onRequest,
    })
    diagnostics.push(...created.diagnostics)
    if (created.provider) providers.set(name, created.provider)
  }
  const close = async (): Promise<void> => {
    await Promise.all([...providers.values()].map((provider) => provider.close()))
  }
  return { config, providers, journal: config.journal, diagnostics, close }
}

const LIVE: ProviderSource = { offline: false, open: openProviders }

/**
 * Reports the errors of config and definitions, or with `inFull` all diagnostics. Returns false after an error: then nothing may be sent.
 */
export function reportLoaded(
  output: RunOutput,
  { diagnostics, leftOut = [] }: Pick<Workspace, 'diagnostics' | 'leftOut'>,
  { inFull = false } = {},
): boolean {
  // What the run leaves out concerns the run itself, so it is never only counted.
  const isLeftOut = ({ code }: Diagnostic): boolean => code === 'definition-unmatched' || code === 'ptr-not-selected'
  if (!inFull) output.diagnostics(diagnostics.filter(isLeftOut))
  const others = [...(inFull ? diagnostics : diagnostics.filter((diagnostic) => !isLeftOut(diagnostic))), ...leftOut]
  output.diagnostics(others, inFull ? {} : { from: 'error', also: 'before-zones' })
  const count = countDiagnostics(others)
  if (hasErrors(diagnostics)) {
    const hidden = !inFull && count?.includes('warning') ? ' (--verbose shows warnings)' : ''
    output.say(`${count}${hidden}: no server was contacted, nothing was changed.`)
    return false
  }
  if (leftOut.length > 0) output.say(`${count}: the zones concerned are left out, the others are not.`)
  else if (count !== null && !inFull) output.note(`${count} about the definitions: "zonewright validate" shows them.`)
  return true
}

/** Reports a target that does not exist, or that a zone does not have which was requested by its name. Of globs, paths and folders, one zone must have it. */
function checkTarget(target: string, config: Config, zones: readonly LoadedZone[], requested: readonly string[]): Diagnostic[] {
  if (!config.providers.has(target)) return [unknownProvider(target, config.providers.keys(), undefined)]
  const elsewhere = zones.filter(({ targets }) => !targets.includes(target))
  if (requested.length > 0) {
    // With split horizon, another definition of the zone may have the target.
    const names = new Set(zones.filter(({ targets }) => targets.includes(target)).map(({ zone }) => zone.name))
    const namedOut = new Set(requested.map(parseAbsoluteName).flatMap((name) => (name.ok ? name.value : [])))
    return elsewhere
      .filter(({ zone }) => !names.has(zone.name) && (names.size === 0 || namedOut.has(zone.name)))
      .map(({ zone, targets }) => ({
        severity: 'error',
        code: 'target-missing',
        message: `${zone.name} does not have the target ${target}; its targets are ${targets.join(', ') || 'none'}`,
        at: zone.at,
      }))
  }
  if (zones.length === 0 || zones.length > elsewhere.length) return []
  return [{ severity: 'warning', code: 'target-missing', message: `no selected zone has the target ${target}` }]
}

/** A notice for each zone of the run with PTR records in a reverse zone that is not part of the run. */
function unselectedReverse(zones: readonly LoadedZone[], jobs: readonly ZoneJob[]): Diagnostic[] {
  const names = new Set(jobs.map(({ desired }) => desired.name))
  const ofRun = new Set(jobs.map(({ desired }) => desired))
  return zones.flatMap(({ zone, reverseZones }): Diagnostic[] => {
    const others = ofRun.has(zone) ? reverseZones.filter((name) => !names.has(name)) : []
    if (others.length === 0) return []
    const message = `${zone.name}: this run leaves out its PTR records in ${listed(others, MAX_ZONES)}, which ${agreeing(others.length, 'is', 'are')} not selected`
    const hint = `name both to change both, such as ${zone.name} ${others[0]}`
    return [{ severity: 'notice', code: 'ptr-not-selected', message, at: zone.at, hint }]
  })
}

/** Maximum number of zones that a message lists. */
const MAX_ZONES = 3

/** A job for each target of a zone that the options select. */
export function jobsOf({ zone, owner, targets, policy, allow, thresholds, nameservers }: LoadedZone, options: WorkspaceOptions): ZoneJob[] {
  return targets
    .filter((target) => options.target === undefined || options.target === target)
    .map((target) => ({
      desired: zone,
      target,
      targets,
      owner,
      policy,
      thresholds,
      prefer: options.prefer,
      allow: new Set<Allowance>([...allow, ...((options.allow ?? []) as Allowance[])]),
      nameservers,
    }))
}
