/** Imports zones from a state of Terraform or OpenTofu. */
import { resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import { groupBy } from '../../base/group-by.ts'
import { ok, type Result } from '../../base/result.ts'
import { noSecrets } from '../../base/secret-guard.ts'
import { quoted } from '../../base/text.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { isAtOrBelow, parseAbsoluteName } from '../../dns/domain-name.ts'
import { recordKey } from '../../dns/record.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import { displayPath } from '../../files/file-path.ts'
import { readText } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import type { ZoneListing } from '../../providers/provider.ts'
import { readListing } from '../../providers/registry.ts'
import { type Importer, missingZones } from '../importer.ts'
import { convertProviderZone } from '../provider/import-provider.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { createTargets, type StateTarget } from './convert-providers.ts'
import { readState, type State, type StateResource } from './read-state.ts'
import { isLikeDns, listedItem, nameServerRecords, recordOf, type StateRecord, type ZoneOfState, zoneOf } from './resources.ts'
import { removalCommands, withoutKeys } from './state-commands.ts'

/**
 * Imports the zones and records of a state, from what `show -json` prints. A state has the records of Terraform only, so plans of the definitions delete none.
 * Resources that are not imported stay in the state.
 */
export const importTerraform: Importer = async (request) => {
  const path = resolve(request.cwd, request.source)
  const file = displayPath(path, request.cwd)
  // A state may have any secret. It is not a definition, so that is no error.
  const text = await readText(path, file, sourcePolicy({ ...request.config, cwd: request.cwd, secrets: noSecrets() }, 'allowed'))
  if (!text.ok) return { zones: [], dropped: [], diagnostics: [{ severity: 'error', ...text.problem }] }
  const read = readState(text.text, file)
  if (read.state === null) return { zones: [], dropped: [], diagnostics: [read.problem] }
  const { state } = read
  const grouped = groupByZone(state)
  const { chosen, left: others } = chooseZones(grouped.zones)
  const wanted = chosen.filter(({ name }) => request.zones.length === 0 || request.zones.includes(name))
  const targets = createTargets(wanted, request, file)
  const converted: ConvertedZone[] = []
  for (const zone of wanted) converted.push(await convertZone(zone, targets.of(zone), request.config))
  const taken = removable(state, wanted, converted)
  const deposed = { resources: state.deposed, reason: `${state.program} will delete what it has replaced` }
  const left = [...grouped.left, ...others, ...converted.flatMap((one) => one.left), ...(state.deposed.length > 0 ? [deposed] : [])]
  const diagnostics = [
    ...targets.diagnostics,
    ...converted.flatMap((one) => one.diagnostics),
    ...left.map(leftWarning),
    ...otherResources(state),
    ...missingZones(request.zones, chosen, file),
  ]
  return {
    zones: converted.map(({ zone }) => zone),
    dropped: converted.flatMap((one) => one.dropped),
    diagnostics,
    newConfig: targets.newConfig,
    nextSteps: hasErrors(diagnostics) ? [] : nextSteps(state, taken),
  }
}

/** Resources that stay in the state, and why. */
interface LeftResources {
  readonly resources: readonly Pick<StateResource, 'address'>[]
  readonly reason: string
  readonly hint?: string
}

const MOST_LISTED = 5

const addressesOf = (resources: LeftResources['resources']): string =>
  listed(
    resources.map(({ address }) => address),
    MOST_LISTED,
  )

const leftWarning = ({ resources, reason, hint }: LeftResources): Diagnostic => ({
  severity: 'warning',
  code: 'import-aside',
  message: `${addressesOf(resources)} ${agreeing(resources.length, 'is', 'are')} not imported: ${reason}`,
  hint: hint ?? `${agreeing(resources.length, 'it stays', 'they stay')} in the state`,
})

/** Finds zones and their record sets. Data sources name zones whose resource is in another state. */
function groupByZone({ resources }: State): { readonly zones: readonly ZoneOfState[]; readonly left: readonly LeftResources[] } {
  const readable = resources.filter(({ sensitive }) => sensitive.size === 0)
  const left: LeftResources[] = resources
    .filter((one) => one.sensitive.size > 0 && (recordOf(one) ?? (one.isData ? null : zoneOf(one))) !== null)
    .map((one) => ({
      resources: [one],
      reason: `sensitive: ${listed([...one.sensitive])}`,
    }))
  const records = groupBy(
    readable.flatMap((one) => recordOf(one) ?? []),
    ({ service, zone }) => `${service} ${zone}`,
  )
  const zones = new Map<string, ZoneOfState>()
  for (const zone of readable.flatMap((one) => zoneOf(one) ?? []).sort((a, b) => Number(a.resource.isData) - Number(b.resource.isData))) {
    const key = `${zone.service} ${zone.id}`
    const own = records.get(key) ?? []
    const isUnused = zone.resource.isData && own.length === 0
    if (!zones.has(key) && !isUnused) zones.set(key, { ...zone, resource: zone.resource.isData ? null : zone.resource, records: own })
  }
  for (const [key, own] of records) {
    const [{ service, zone: id }] = own as [StateRecord]
    const name = service === 'rfc2136' ? parseAbsoluteName(id) : null
    if (name?.ok) zones.set(key, { service, id, name: name.value, isPrivate: false, settings: {}, resource: null, records: own })
    else if (!zones.has(key)) {
      const hint = 'add a data source of the zone to the configuration, run "apply -refresh-only" and show the state again'
      left.push({ resources: own.map(({ resource }) => resource), reason: `the state does not have the zone ${quoted(id)}`, hint })
    }
  }
  return { zones: [...zones.values()], left }
}

/** Definitions have one zone of a name. Public zones come first. */
function chooseZones(zones: readonly ZoneOfState[]): { readonly chosen: readonly ZoneOfState[]; readonly left: readonly LeftResources[] } {
  const byName = [...groupBy(zones, ({ name }) => name).values()]
  const sorted = byName.map((all) => all.toSorted((a, b) => Number(a.isPrivate) - Number(b.isPrivate)))
  const left = sorted.flatMap(([, ...others]) =>
    others.map(({ name, resource, records }) => ({
      resources: [...(resource ? [resource] : []), ...records.map((one) => one.resource)],
      reason: `another zone with the name ${name} is imported`,
      hint: 'add its provider to the config, and import it into another folder with --from',
    })),
  )
  return { chosen: sorted.flatMap(([own]) => own ?? []), left }
}

interface ConvertedZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
  readonly left: readonly LeftResources[]
  /** Record sets that the definition has. */
  readonly taken: readonly StateResource[]
}

const COMMENT = 'Terraform managed these records only. Until this policy is removed, plans delete no others.'

async function convertZone(
  zone: ZoneOfState,
  target: StateTarget,
  config: Parameters<typeof convertProviderZone>[1],
): Promise<ConvertedZone> {
  const { name, settings } = zone
  const left: LeftResources[] = []
  const leave = ({ resource }: StateRecord, reason: string): void => void left.push({ resources: [resource], reason })
  const readable: { readonly record: StateRecord; readonly own: readonly ListedRecord[] }[] = []
  for (const record of zone.records) {
    const listing = await readItems([record], zone, target)
    if (!listing.ok) {
      leave(record, listing.message)
      continue
    }
    const own: ListedRecord[] = [...listing.value.records, ...(listing.value.unplanned ?? [])]
    const outside = own.find((one) => !isAtOrBelow(one.name, name))
    if (outside !== undefined) leave(record, `${outside.name} is not in ${name}`)
    else if (own.length === 0) leave(record, 'its provider maintains it')
    else readable.push({ record, own })
  }
  // A record set may be something else beside the others at its name.
  const all = await readItems(
    readable.map(({ record }) => record),
    zone,
    target,
  )
  if (!all.ok) throw new Error(`record sets that are valid one by one: ${all.message}`)
  const existing: ExistingZone = { name, settings, ...all.value }
  const converted = convertProviderZone(existing, config, { target: target.name ?? zone.service, capabilities: target.capabilities })
  const defined = new Set(converted.zone.records.map(recordKey))
  const taken: StateResource[] = []
  for (const { record, own } of readable) {
    if (own.every((one) => defined.has(recordKey(one)))) taken.push(record.resource)
    else {
      const isOwn = (one: ListedRecord): boolean =>
        own.some(({ name, type }) => one.name === name && (one.type === type || type === 'ALIAS'))
      const reason = existing.unplanned?.find(isOwn)?.reason
      leave(record, reason === undefined ? 'its definition does not have the records, as another message says' : `it ${reason}`)
    }
  }
  const comments = [...(converted.zone.comments ?? []), { name: null, text: COMMENT }]
  const { targets } = target
  return {
    zone: { ...converted.zone, policy: 'upsert-only', comments, targets },
    // Those that plans leave alone are reported by their addresses.
    dropped: converted.dropped.filter(({ keepsRecords }) => keepsRecords !== true),
    diagnostics: converted.diagnostics,
    left,
    taken,
  }
}

type ListedRecord = Pick<ZoneListing['records'][number], 'name' | 'type' | 'data'>

async function readItems(
  records: readonly StateRecord[],
  { service, name, id }: ZoneOfState,
  { config }: StateTarget,
): Promise<Result<ZoneListing>> {
  if (config !== null && service !== 'rfc2136')
    return readListing(
      config,
      { name, id },
      records.map((one) => listedItem(one, name)),
    )
  const read = records.map((one) => nameServerRecords(one, name))
  const [failed] = read.flatMap((one) => (one.ok ? [] : [one]))
  return failed ?? ok({ records: read.flatMap((one) => (one.ok ? one.value : [])) })
}

/** The resources that leave the state: record sets that a definition has, and zones that no remaining resource refers to. */
function removable({ resources }: State, zones: readonly ZoneOfState[], converted: readonly ConvertedZone[]): ReadonlySet<StateResource> {
  const candidates = zones.flatMap(({ resource }) => resource ?? [])
  const taken = new Set([...converted.flatMap((one) => one.taken), ...candidates])
  for (const zone of candidates) if (referring(resources, taken, [zone]).length > 0) taken.delete(zone)
  return taken
}

/** Resources that stay in the state and refer to these. */
function referring(resources: readonly StateResource[], taken: ReadonlySet<StateResource>, to: Iterable<StateResource>): StateResource[] {
  const addresses = new Set([...to].map(({ address }) => withoutKeys(address)))
  return resources.filter((one) => !one.isData && !taken.has(one) && one.dependsOn.some((address) => addresses.has(address)))
}

function nextSteps({ resources, program }: State, taken: ReadonlySet<StateResource>): string[] {
  if (taken.size === 0) return []
  const others = referring(resources, taken, taken)
  const count = counted(others.length, 'other resource')
  const references = others.length === 0 ? '' : ` ${count} may refer to them (${addressesOf(others)}): write the values there.`
  return [
    `When "zonewright plan" shows no changes, take ${counted(taken.size, 'resource')} out of the state. Nothing changes at a provider:`,
    ...removalCommands(
      program,
      [...taken].map(({ address }) => address),
    ),
    `Then remove them from the configuration before the next "${program} apply", and check with "${program} plan".${references}`,
  ]
}

/** Resources that may be zones or records of other providers, one warning per type. */
function otherResources({ resources }: State): Diagnostic[] {
  const others = resources.filter((one) => !one.isData && isLikeDns(one.type) && recordOf(one) === null && zoneOf(one) === null)
  return [...groupBy(others, ({ type }) => type)].map(([type, all]) =>
    leftWarning({ resources: all, reason: `the type ${type} is not known` }),
  )
}
