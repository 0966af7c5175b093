/** The zones of a run: those that the arguments name, that changed since a revision, that belong to a shard, and that have no errors. Contacts no server. */
import { type Diagnostic, formatDiagnostic, isError } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import type { Config } from '../../config/config.ts'
import type { LoadedZone } from '../../config/configured-zone.ts'
import { isReverseName } from '../../dns/reverse-name.ts'
import { withRevision } from '../../git/revision.ts'
import { type FormerZone, loadChanged } from '../../load/changed-zones.ts'
import { type LoadedDefinitions, loadDefinitions } from '../../load/load-definitions.ts'
import { assignShards, preferredShard, type Shard } from '../../plan/shards.ts'
import type { ProcessEnvironment, SelectionOptions } from '../context/run-context.ts'

export interface SelectedZones {
  readonly zones: readonly LoadedZone[]
  /** The zones before they were split into shards. */
  readonly unsplit: readonly LoadedZone[]
  readonly described: LoadedDefinitions['described']
  /** What the revision had and no definition describes. */
  readonly former: readonly FormerZone[]
  /** Whether all zones of the config were candidates, so that zones without a definition can be known. */
  readonly isComplete: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** With `keepGoing`, the errors of what the run leaves out; empty otherwise. */
  readonly leftOut: readonly Diagnostic[]
  /** Why fewer zones are selected, as sentences for people. */
  readonly notes: readonly string[]
}

/** Adds what policies say about the selected zones. */
export type CheckZones = (selected: SelectedZones) => SelectedZones

/** Selects zones. Without arguments and options, all zones are selected. */
export async function selectZones(
  config: Config,
  args: readonly string[],
  options: SelectionOptions,
  { env }: Pick<ProcessEnvironment, 'env'>,
  check: CheckZones = (selected) => selected,
): Promise<SelectedZones> {
  const { since, shard, isEmptyList = false } = options
  if (isEmptyList) return NOTHING
  const { today, capabilities } = options
  const compared =
    since === undefined
      ? null
      : await withRevision(config.folder, since, env, (revision) => loadChanged(config, revision, { today, capabilities }))
  if (compared !== null && !compared.ok) return { ...NOTHING, notes: [], diagnostics: [compared.diagnostic] }
  const loaded = compared?.value.loaded ?? (await loadDefinitions(config, { zones: args, today, capabilities }))
  const isComplete = compared === null && args.length === 0
  const unsplit: SelectedZones = { ...loaded, unsplit: loaded.zones, former: [], isComplete, leftOut: [], notes: [] }
  const checked = check(compared === null ? unsplit : await onlyChanged(config, unsplit, compared.value, since ?? '', args))
  const changed = { ...checked, unsplit: checked.zones }
  return withoutErrors(shard === undefined ? changed : onlyShard(changed, shard), loaded, options)
}

const NOTHING: SelectedZones = {
  zones: [],
  unsplit: [],
  described: { names: new Set(), files: new Set(), isUncertain: false, isIncomplete: false },
  former: [],
  isComplete: false,
  diagnostics: [],
  leftOut: [],
  notes: ['No zone is selected: the list of zones is empty.'],
}

/** The zones that differ from a revision. Problems of other zones are not reported. */
async function onlyChanged(
  config: Config,
  selected: SelectedZones,
  { loaded, changed }: Awaited<ReturnType<typeof loadChanged>>,
  since: string,
  args: readonly string[],
): Promise<SelectedZones> {
  const named = args.length === 0 ? null : await loadDefinitions(config, { zones: args })
  const names = named && new Set(named.zones.map(({ zone }) => zone.name))
  const zones = loaded.zones.filter((zone) => changed.zones.has(zone) && (names?.has(zone.zone.name) ?? true))
  const former = named === null ? changed.former : []
  const unknown = named?.diagnostics.filter(({ code }) => code === 'zone-unknown' || code === 'zone-name') ?? []
  const everything = changed.isEverything ? [`${since} has no config that can be read, so every zone is selected.`] : []
  const note =
    zones.length + former.length === 0 ? `No zone has changed since ${since}.` : `${counted(zones.length, 'zone')} changed since ${since}.`
  // A selected reverse zone lacks the PTR records of definitions with errors, also of those that have not changed.
  const isLacking = loaded.lacksPtrs && zones.some(({ zone }) => isReverseName(zone.name))
  const own = limitedTo(selected, zones, isLacking ? selected.diagnostics.filter(isError) : [])
  return { ...selected, ...own, diagnostics: [...own.diagnostics, ...unknown], former, notes: [...everything, note] }
}

/** The zones of a shard. Errors of other zones stay, so that all jobs of a matrix end for the same reasons. */
function onlyShard(selected: SelectedZones, { index, count }: Shard): SelectedZones {
  const weighted = selected.zones.map(({ zone }) => ({ name: zone.name, weight: zone.records.length }))
  const shards = assignShards(weighted, count)
  const zones = selected.zones.filter(({ zone }) => shards.get(zone.name) === index)
  const errors = selected.zones.flatMap(({ diagnostics }) => diagnostics.filter(isError))
  const own = limitedTo(selected, zones, errors)
  const former = selected.former.filter(({ name }) => preferredShard(name, count) === index)
  const notes = [...selected.notes, `Shard ${index} of ${count} has ${zones.length} of ${counted(selected.zones.length, 'zone')}.`]
  return { ...selected, ...own, unsplit: selected.zones, former, notes }
}

/** Only these of the selected zones, with the diagnostics that belong to them or to no zone, and with `kept`. */
function limitedTo(
  selected: SelectedZones,
  zones: readonly LoadedZone[],
  kept: readonly Diagnostic[] = [],
): Pick<SelectedZones, 'zones' | 'unsplit' | 'diagnostics'> {
  const own = new Set([...zones.flatMap(({ diagnostics }) => diagnostics), ...kept].map(formatDiagnostic))
  const ofOthers = new Set(selected.zones.flatMap(({ diagnostics }) => diagnostics).map(formatDiagnostic))
  const isOwn = (diagnostic: Diagnostic): boolean => {
    const text = formatDiagnostic(diagnostic)
    return own.has(text) || !ofOthers.has(text)
  }
  return { zones, unsplit: zones, diagnostics: selected.diagnostics.filter(isOwn) }
}

/** With `keepGoing`, the zones without errors. Reverse zones are left out if a definition with errors may add PTR records to them. */
function withoutErrors(selected: SelectedZones, { lacksPtrs }: LoadedDefinitions, { keepGoing = false }: SelectionOptions): SelectedZones {
  const errors = selected.diagnostics.filter(isError)
  if (!keepGoing || errors.length === 0 || errors.some(({ code }) => code === 'revision-unreadable')) return selected
  const isHeld = ({ zone }: LoadedZone): boolean => lacksPtrs && isReverseName(zone.name)
  const held = selected.zones.filter((zone) => zone.valid && isHeld(zone)).map(heldReverse)
  return {
    ...selected,
    zones: selected.zones.filter((zone) => zone.valid && !isHeld(zone)),
    diagnostics: selected.diagnostics.filter((diagnostic) => !isError(diagnostic)),
    leftOut: [...errors, ...held],
  }
}

const heldReverse = ({ zone }: LoadedZone): Diagnostic => ({
  severity: 'error',
  code: 'ptr-not-selected',
  message: `${zone.name} is left out: definitions with errors may add PTR records to it`,
  at: zone.at,
})
