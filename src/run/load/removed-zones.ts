/**
 * Zones that no definition describes, though a revision had one or a previous run applied one. `delete_removed` plans their deletion; otherwise a plan names
 * those that their provider still holds, with what to do.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import type { Config, ZoneRule } from '../../config/config.ts'
import { createRuleLookup } from '../../config/configured-zone.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { globTest } from '../../dns/glob.ts'
import { type Allowance, DEFAULT_ZONE_OPTIONS } from '../../dns/zone.ts'
import type { FormerZone } from '../../load/changed-zones.ts'
import { isProgramName } from '../../load/definition-name.ts'
import type { ZoneJob } from '../../plan/planned-zone.ts'
import { preferredShard } from '../../plan/shards.ts'
import { type Provider, ProviderError } from '../../providers/provider.ts'
import { isRunId, JOURNAL_FILE, type RunZone } from '../../stored/journal/journal-format.ts'
import { beginOf, outerLinesOf } from '../../stored/journal/journal-lines.ts'
import type { RemovedLookup, Workspace, WorkspaceOptions } from '../context/run-context.ts'
import type { SelectedZones } from './select-zones.ts'

/** A zone without a definition, at a target. */
export interface RemovedZone {
  readonly name: DomainName
  /** The provider's name in the config, or in that of a previous run. */
  readonly target: string
  /** How the zone is known, in words that follow a comma: `zones/a.yaml described it in origin/main`. */
  readonly origin: string
  /** What to do about it. */
  readonly hint: string
  /** The rule and limits under which the zone is deleted; null if it is only named. */
  readonly deletion: ZoneRule | 'config' | null
}

/** Maximum removed zones that a run looks up. */
const MAX_REMOVED = 5000

/** Maximum zones at a provider that is not in the config with a warning for each, and maximum names of a warning. */
const MAX_GONE = 3
const MAX_NAMED = 10

/** The zones that the selection, or else the journal, knows and that no definition describes. */
export function removedZones(config: Config, selected: SelectedZones, { target, since, shard }: WorkspaceOptions): RemovedZone[] {
  const { described, former } = selected
  const { base } = config
  const known: (Pick<FormerZone, 'name' | 'target'> & { readonly former: FormerZone | null; readonly run: string | null })[] =
    selected.isComplete
      ? lastAppliedZones(config.journal).flatMap(({ zone, target: name, run }) => {
          const parsed = parseDomainName(zone)
          return parsed.ok ? [{ name: parsed.value, target: name, former: null, run }] : []
        })
      : former.map((one) => ({ ...one, former: one, run: null }))
  const isDescribed = describedAt(selected)
  const active = new Map(selected.unsplit.map(({ zone, targets }) => [zone.name, targets]))
  const files = new Set(selected.unsplit.map(({ zone }) => zone.at.file))
  const ruleOf = createRuleLookup(config)
  const perhaps = [...files].some(isProgramName) ? '; perhaps another --var makes it' : ''
  return known
    .filter((one) => (target === undefined || one.target === target) && !isDescribed(one.name, one.target))
    .filter((one) => shard === undefined || preferredShard(one.name, shard.count) === shard.index)
    .slice(0, MAX_REMOVED)
    .map(({ name, target: at, former: zone, run }): RemovedZone => {
      const origin = zone === null ? `run ${run} applied one` : `${zone.file} described it in ${since}`
      const common = { name, target: at, origin, deletion: null }
      const elsewhere = active.get(name)
      if (!config.providers.has(at))
        return {
          ...common,
          hint: goneHint(at),
        }
      if (elsewhere !== undefined)
        return {
          ...common,
          hint: `its definition has the targets ${elsewhere.join(', ')}; to delete it at ${at}, add a definition with "absent: true" and "targets: [${at}]"`,
        }
      if (zone !== null && !files.has(zone.file) && existsSync(zone.path))
        return { ...common, hint: `no rule of the config matches ${zone.file}: add one, or remove the file` }
      const rule = zone === null ? null : ruleOf(zone.path, { name })
      const isDeleted = (by: Config, byRule: ZoneRule | null | undefined): boolean =>
        zone === null ? mayDelete(name, by) : (byRule?.deleteRemoved ?? by.deleteRemoved)
      if (!isDeleted(config, rule) || (base !== null && !isDeleted(base.config, zone && base.ruleOf(zone.path, { name }))))
        return { ...common, hint: KEEP + perhaps }
      // What only the journal knows may have its definition in files that are missing here.
      if (described.isUncertain || (zone === null && described.isIncomplete)) return { ...common, hint: UNCERTAIN }
      return { ...common, hint: DELETED + perhaps, deletion: rule ?? 'config' }
    })
}

/** Whether a definition describes a zone at a target, or may: it is disabled or has errors. */
export function describedAt({ unsplit, described }: SelectedZones): (name: DomainName, target: string) => boolean {
  const present = new Set(unsplit.flatMap(({ zone, targets }) => targets.map((target) => `${zone.name} ${target}`)))
  const active = new Set(unsplit.map(({ zone }) => zone.name))
  return (name, target) => present.has(`${name} ${target}`) || (!active.has(name) && described.names.has(name))
}

const UNCERTAIN =
  'it is not deleted while another definition may describe it: one has errors or is disabled, or a rule of the config matches nothing'

const KEEP = 'to delete it, set "delete_removed: true" in the config and give --allow delete-zone; to keep it, restore its definition'

const DELETED = 'a plan deletes it after --allow delete-zone; to keep it, restore its definition'

const goneHint = (target: string): string =>
  `${target} is not in the config: delete what is there, or add the provider again; if it was renamed, nothing is to be done`

/** Whether every rule that may have matched a zone, whose file is unknown, deletes removed zones. */
function mayDelete(name: DomainName, { zoneRules, deleteRemoved }: Config): boolean {
  const candidates = zoneRules.filter(({ zones }) => zones === null || zones.some((glob) => globTest(glob)(name.slice(0, -1))))
  return candidates.length === 0 ? deleteRemoved : candidates.every((rule) => rule.deleteRemoved ?? deleteRemoved)
}

/** The job that deletes a zone; null if it is only named. */
export function deletionJob({ name, target, deletion }: RemovedZone, config: Config, options: WorkspaceOptions): ZoneJob | null {
  if (deletion === null) return null
  const rule = deletion === 'config' ? null : deletion
  return {
    desired: {
      ...DEFAULT_ZONE_OPTIONS,
      name,
      at: rule?.at ?? { file: config.file ?? '', line: 1, column: 1 },
      settings: {},
      records: [],
      absent: true,
    },
    target,
    owner: rule?.owner ?? null,
    policy: 'sync',
    thresholds: { ...config.safety, ...rule?.safety },
    prefer: options.prefer,
    allow: new Set<Allowance>([...(rule?.allow ?? []), ...((options.allow ?? []) as Allowance[])]),
    isRemoved: true,
  }
}

/** Whether calls at a provider can delete zones. */
export const deletesZones = ({ capabilities: { createsZones, deletesZones: deletes = createsZones } }: Provider): boolean => deletes

/** A warning for each removed zone that its provider holds, or that could not be looked up. With `only`, those of targets for which it returns true. */
export async function nameRemovedZones(
  removed: readonly RemovedZone[],
  providers: ReadonlyMap<string, Provider>,
  { signal, only = () => true }: RemovedLookup = {},
): Promise<Diagnostic[]> {
  const targets = [...new Set(removed.map(({ target }) => target))].filter(only)
  const found = await Promise.all(
    targets.map(async (target) => {
      const zones = removed.filter((zone) => zone.target === target)
      const provider = providers.get(target)
      const held = await heldZones(provider, zones, signal)
      if (zones.length > MAX_GONE && zones.every(({ hint }) => hint === goneHint(target))) return [warningOfAll(zones, target)]
      return zones.flatMap((zone) => (held === null || held.has(zone.name) ? warningOf(zone, provider, held !== null) : []))
    }),
  )
  return found.flat()
}

/** One warning for many zones at a provider that the config does not have, since it may only have been renamed. */
const warningOfAll = (zones: readonly RemovedZone[], target: string): Diagnostic => ({
  severity: 'warning',
  code: 'zone-removed',
  message: `${counted(zones.length, 'zone')} may be at ${target}, and no definition describes them there: ${listed(zones.map(({ name }) => name).sort(), MAX_NAMED)}`,
  hint: goneHint(target),
})

/** The names of zones that a provider holds; null if they could not be looked up. */
async function heldZones(
  provider: Provider | undefined,
  zones: readonly RemovedZone[],
  signal: AbortSignal | undefined,
): Promise<{ has(name: DomainName): boolean } | null> {
  try {
    return (
      (await provider?.findZones(
        zones.map(({ name }) => name),
        { signal },
      )) ?? null
    )
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    // The warning says that it is unknown.
    return null
  }
}

/** A warning for each of these zones that no definition describes, unless `known` has it. Whether it exists is not looked up: `isHeld` says whether that is known. */
export function nameUndescribedZones(
  zones: readonly Pick<RemovedZone, 'name' | 'target' | 'origin'>[],
  isHeld: boolean,
  { isDescribed, jobs }: Pick<Workspace, 'isDescribed' | 'jobs'>,
  known: readonly Diagnostic[],
): Diagnostic[] {
  if (isDescribed === undefined) return []
  const subject = ({ name, target }: Pick<RemovedZone, 'name' | 'target'>, state: string): string => `${name} ${state} at ${target},`
  const isNamed = (zone: Pick<RemovedZone, 'name' | 'target'>): boolean =>
    jobs.some(({ desired, target }) => desired.name === zone.name && target === zone.target) ||
    known.some(
      ({ code, message }) =>
        code === 'zone-removed' && ['still exists', 'may still exist'].some((state) => message.startsWith(subject(zone, state))),
    )
  return zones
    .filter((zone) => !isDescribed(zone.name, zone.target) && !isNamed(zone))
    .slice(0, MAX_REMOVED)
    .map((zone) => warningOf({ ...zone, hint: KEEP, deletion: null }, undefined, isHeld))
}

function warningOf({ name, target, origin, hint, deletion }: RemovedZone, provider: Provider | undefined, isHeld: boolean): Diagnostic {
  const state = isHeld ? `still exists at ${target}` : `may still exist at ${target}`
  const isFixed = provider !== undefined && !deletesZones(provider)
  const message = `${name} ${state}, but its definition is gone; ${origin}`
  const reason = isFixed
    ? `plans cannot delete zones at ${target}: delete it there, or restore its definition`
    : `it is not deleted, because ${target} cannot be used: "zonewright doctor" says why`
  return { severity: 'warning', code: 'zone-removed', message, hint: isFixed || deletion !== null ? reason : hint }
}

/** Maximum runs that are read, the latest first. */
const MAX_RUNS = 500

interface AppliedZone extends Pick<RunZone, 'zone' | 'target'> {
  /** The latest run that changed the zone. */
  readonly run: string
}

/** Each zone and target once, sorted. A journal that cannot be read is left out: `history` reports it. */
function lastAppliedZones(journal: string): AppliedZone[] {
  const folder = join(journal, 'runs')
  const ids = namesIn(folder).filter(isRunId).sort().reverse().slice(0, MAX_RUNS)
  const applied = new Map<string, AppliedZone>()
  for (const run of ids) {
    try {
      const { first } = outerLinesOf(join(folder, run, JOURNAL_FILE))
      const begin = first === null ? null : beginOf(first, run)
      if (!begin?.ok || begin.value.command !== 'apply') continue
      for (const { zone, target } of begin.value.zones)
        if (!applied.has(`${zone} ${target}`)) applied.set(`${zone} ${target}`, { zone, target, run })
    } catch {
      // The run was removed meanwhile, or is not readable.
    }
  }
  return [...applied].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, zone]) => zone)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // There is no journal yet, or it is not readable.
    return []
  }
}

interface UndescribedZones {
  readonly provider: Provider
  /** In the order of names. */
  readonly names: readonly DomainName[]
}

/** The zones of a provider without a definition; null if it cannot list its zones. */
export async function listUndescribedZones(
  provider: Provider,
  isDescribed: NonNullable<Workspace['isDescribed']>,
  signal?: AbortSignal,
): Promise<UndescribedZones | null> {
  try {
    const { zones } = await provider.listZones({ signal })
    const names = zones.map(({ name }) => name).filter((name) => !isDescribed(name, provider.name))
    return { provider, names: names.sort() }
  } catch (error) {
    if (error instanceof ProviderError) return null
    throw error
  }
}

/** What to report about such zones: one sentence, and what to do. */
export function describeUndescribed({ provider, names }: UndescribedZones): { readonly message: string; readonly hint: string } {
  const deletion = deletesZones(provider) ? 'deletes them after a definition with "absent: true"' : 'cannot delete them: do that there'
  return {
    message: `${counted(names.length, 'zone')} ${agreeing(names.length, 'has', 'have')} no definition: ${listed(names, MAX_NAMED)}`,
    hint: `"zonewright import provider ${provider.name} ZONE" writes a definition; a plan ${deletion}`,
  }
}

/** Such zones at the providers of a plan of all zones. The list is one more request, which a plan of a single zone at a provider does not make. */
export async function findUndescribed(
  { isDescribed, jobs, providers }: Pick<Workspace, 'isDescribed' | 'jobs' | 'providers'>,
  signal?: AbortSignal,
): Promise<readonly UndescribedZones[]> {
  if (isDescribed === undefined) return []
  const asked = [...providers.values()].filter(({ name }) => jobs.filter(({ target }) => target === name).length > 1)
  const found = await Promise.all(asked.map((provider) => listUndescribedZones(provider, isDescribed, signal)))
  return found.filter((one) => one !== null)
}

/** A notice per provider, without the zones that the plan deletes or names already. */
export function noticesOfUndescribed(
  found: readonly UndescribedZones[],
  { jobs }: Pick<Workspace, 'jobs'>,
  known: readonly Diagnostic[],
): Diagnostic[] {
  const named = known.filter(({ code }) => code === 'zone-removed').map(({ message }) => message)
  return found.flatMap(({ provider, names }): Diagnostic[] => {
    const deleted = new Set(jobs.flatMap(({ desired, target }) => (target === provider.name ? [desired.name] : [])))
    const rest = names.filter(
      (name) => !deleted.has(name) && !named.some((message) => message.startsWith(`${name} still exists at ${provider.name},`)),
    )
    if (rest.length === 0) return []
    const { message, hint } = describeUndescribed({ provider, names: rest })
    return [{ severity: 'notice', code: 'zone-undescribed', message: `${provider.name}: ${message}`, hint }]
  })
}
