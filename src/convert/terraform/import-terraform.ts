/** Imports zones from a state of Terraform or OpenTofu. */
import { resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import { groupBy } from '../../base/group-by.ts'
import { ok, type Result } from '../../base/result.ts'
import { noSecrets } from '../../base/secret-guard.ts'
import { quoted } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { isAtOrBelow, parseAbsoluteName } from '../../dns/domain-name.ts'
import { recordKey } from '../../dns/record.ts'
import { clientText, knownClients } from '../../dns/unmanaged.ts'
import { displayPath } from '../../files/file-path.ts'
import { readText } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import type { ZoneListing } from '../../providers/provider.ts'
import { readListing } from '../../providers/registry.ts'
import { failedImport, type Importer, missingZones } from '../importer.ts'
import { convertProviderZone } from '../provider/import-provider.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { createTargets, type StateTarget } from './convert-providers.ts'
import { readState, type StateResource } from './read-state.ts'
import { isLikeDns, isZoneType, listedItem, nameServerRecords, recordOf, type StateRecord, type ZoneOfState, zoneOf } from './resources.ts'

/**
 * Imports the zones and records of a state, from what `show -json` prints. A state has the records of Terraform only, so plans of the definitions delete none.
 * Resources that are not imported stay in the state.
 */
export const importTerraform: Importer = async (request) => {
  const path = resolve(request.cwd, request.source)
  const file = displayPath(path, request.cwd)
  // A state may have any secret. It is not a definition, so that is no error.
  const text = await readText(path, file, sourcePolicy({ ...request.config, cwd: request.cwd, secrets: noSecrets() }, 'allowed'))
  if (!text.ok) return failedImport(text.problem)
  const read = readState(text.text)
  if (!read.ok) {
    // The shell empties the new file before Terraform reads the old one.
    const made = file === 'show.json' ? 'state.json' : 'show.json'
    const hint = `make it in the folder of the configuration: terraform show -json${read.message.includes('raw') ? ` ${shellWord(file)}` : ''} > ${made}`
    return failedImport({ code: 'file-format', message: `${file} ${read.message}`, hint })
  }
  const { program } = read.value
  const diagnostics: Diagnostic[] = []
  const leave: Leave = (left, reason, hint = `${agreeing(left.length, 'it stays', 'they stay')} in the state`) => {
    const message = `${addressesOf(left)} ${agreeing(left.length, 'is', 'are')} not imported: ${reason}`
    if (left.length > 0) diagnostics.push({ severity: 'warning', code: 'import-aside', message, hint })
  }
  const resources = read.value.resources.filter((one) => !one.isDeposed)
  const deposed = read.value.resources.filter((one) => one.isDeposed)
  leave(deposed, `${program} will delete what it has replaced`)
  const chosen = chooseZones(groupByZone(resources, leave), leave)
  const wanted = chosen.filter(({ name }) => request.zones.length === 0 || request.zones.includes(name))
  const targets = createTargets(wanted, request, file)
  const converted: ConvertedZone[] = []
  for (const zone of wanted) converted.push(await convertZone(zone, targets.of(zone), request.config, leave))
  // They may be zones or records of other providers.
  const others = resources.filter((one) => !one.isData && isLikeDns(one.type) && recordOf(one) === null && zoneOf(one) === null)
  for (const [type, all] of groupBy(others, (one) => one.type))
    leave(all, isZoneType(type) ? 'it has no valid name or identifier' : `the type ${type} is not known`)
  diagnostics.push(...targets.diagnostics, ...converted.flatMap((one) => one.diagnostics), ...missingZones(request.zones, chosen, file))
  const { taken, keepers } = removable(resources, wanted, converted)
  diagnostics.push(...[...keepers].map(([zone, staying]) => keptZone(zone, staying)))
  return {
    zones: converted.map(({ zone }) => zone),
    dropped: converted.flatMap((one) => one.dropped),
    diagnostics,
    newConfig: targets.newConfig,
    nextSteps: hasErrors(diagnostics) || taken.size === 0 ? [] : nextSteps(resources, taken, program),
  }
}

type Resources = readonly StateResource[]

const zoneKey = ({ service, zone }: Pick<StateRecord, 'service' | 'zone'>): string => `${service} ${zone}`

/** Reports resources that stay in the state. */
type Leave = (resources: Resources, reason: string, hint?: string) => void

const addressesOf = (resources: Resources): string =>
  listed(
    resources.map(({ address }) => address),
    5,
  )

/** Finds zones and their record sets. Data sources name zones whose resource is in another state. */
function groupByZone(resources: Resources, leave: Leave): ZoneOfState[] {
  const readable = resources.filter((one) => {
    const isKnown = recordOf(one) !== null || (!one.isData && zoneOf(one) !== null)
    if (one.sensitive.size > 0 && isKnown) leave([one], `sensitive: ${listed([...one.sensitive])}`)
    return one.sensitive.size === 0
  })
  const records = groupBy(
    readable.flatMap((one) => recordOf(one) ?? []),
    zoneKey,
  )
  const zones = new Map<string, ZoneOfState>()
  const found = readable.flatMap((one) => zoneOf(one) ?? [])
  for (const zone of [...found.filter((one) => one.resource !== null), ...found.filter((one) => one.resource === null)]) {
    const key = zoneKey({ service: zone.service, zone: zone.id })
    const own = records.get(key) ?? []
    if (!zones.has(key) && (zone.resource !== null || own.length > 0)) zones.set(key, { ...zone, records: own })
  }
  for (const [key, own] of records) {
    const [{ service, zone: id }] = own as [StateRecord]
    const name = service === 'rfc2136' && id !== '' ? parseAbsoluteName(id) : null
    if (name?.ok) zones.set(key, { service, id, name: name.value, isPrivate: false, settings: {}, resource: null, records: own })
    else if (!zones.has(key)) {
      const hint = 'add a data source of the zone to the configuration, run "apply -refresh-only" and show the state again'
      leave(
        own.map(({ resource }) => resource),
        `the state does not have the zone ${quoted(id)}`,
        hint,
      )
    }
  }
  return [...zones.values()]
}

/** Definitions have one zone of a name. Public zones come first. */
function chooseZones(zones: readonly ZoneOfState[], leave: Leave): readonly ZoneOfState[] {
  const sorted = zones.toSorted((a, b) => Number(a.isPrivate) - Number(b.isPrivate))
  const chosen = new Set([...groupBy(sorted, ({ name }) => name).values()].flatMap(([own]) => own ?? []))
  const hint = 'add its provider to the config, and import it into another folder with --from'
  for (const { name, resource, records } of sorted.filter((one) => !chosen.has(one)))
    leave([resource ?? [], records.map((one) => one.resource)].flat(), `another zone with the name ${name} is imported`, hint)
  return zones.filter((one) => chosen.has(one))
}

interface ConvertedZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
  /** Record sets that the definition has. */
  readonly taken: Resources
}

const COMMENT = 'Terraform managed these records only. Until this policy is removed, plans delete no others.'

async function convertZone(zone: ZoneOfState, target: StateTarget, config: Config, leave: Leave): Promise<ConvertedZone> {
  const { name, settings } = zone
  const readable = new Map<StateRecord, readonly ListedRecord[]>()
  for (const record of zone.records) {
    const listing = await readItems([record], zone, target)
    const own: ListedRecord[] = listing.ok ? [...listing.value.records, ...(listing.value.unplanned ?? [])] : []
    const outside = own.find((one) => !isAtOrBelow(one.name, name))
    if (!listing.ok) leave([record.resource], listing.message)
    else if (outside !== undefined) leave([record.resource], `${outside.name} is not in ${name}`)
    else if (own.length === 0) leave([record.resource], 'its provider maintains it')
    else readable.set(record, own)
  }
  // A record set may be something else beside the others at its name.
  const all = await readItems([...readable.keys()], zone, target)
  if (!all.ok) throw new Error(`record sets that are valid one by one: ${all.message}`)
  const zoneTarget = { target: target.name ?? zone.service, capabilities: target.capabilities }
  const existing = { name, settings, ...all.value }
  const converted = convertProviderZone(existing, config, zoneTarget)
  const defined = new Set(converted.zone.records.map(recordKey))
  const taken = [...readable].flatMap(([{ resource }, own]) => {
    if (own.every((one) => defined.has(recordKey(one)))) return resource
    const isOwn = (one: Pick<UnsupportedFeature, 'name' | 'type'>): boolean =>
      own.some(({ name, type }) => one.name === name && (one.type === type || type === 'ALIAS'))
    const reason = all.value.unplanned?.find(isOwn)?.reason
    const clients = knownClients(existing, existing.records.filter(isOwn)).map(clientText)
    if (reason !== undefined) leave([resource], `it ${reason}`)
    else if (clients.length > 0) leave([resource], `${listed(clients)} under "unmanaged" leaves it to other clients`)
    else leave([resource], converted.dropped.find(isOwn)?.what ?? 'a secondary zone gets its records from its primaries')
    return []
  })
  const comments = [...(converted.zone.comments ?? []), { name: null, text: COMMENT }]
  return {
    zone: { ...converted.zone, policy: 'upsert-only', comments, targets: target.targets },
    // Those that plans leave alone are reported by their addresses.
    dropped: converted.dropped.filter(({ keepsRecords }) => keepsRecords !== true),
    diagnostics: converted.diagnostics,
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

interface Removable {
  /** The resources that leave the state: record sets that a definition has, and zones whose record sets all leave and that no remaining resource refers to. */
  readonly taken: ReadonlySet<StateResource>
  /** For each other zone with a definition, the resources that keep it in the state. */
  readonly keepers: ReadonlyMap<StateResource, Resources>
}

function removable(resources: Resources, zones: readonly ZoneOfState[], converted: readonly ConvertedZone[]): Removable {
  const taken = new Set([...converted.flatMap((one) => one.taken), ...zones.flatMap(({ resource }) => resource ?? [])])
  const staying = resources.filter((one) => !one.isData && !taken.has(one))
  const referring = groupBy(
    staying.flatMap((one) => one.dependsOn.map((address) => ({ one, address }))),
    ({ address }) => address,
  )
  // A record set may name its zone by the identifier only.
  const owned = groupBy(
    staying.flatMap((one) => recordOf(one) ?? []),
    zoneKey,
  )
  const keepers = new Map<StateResource, Resources>()
  for (const { resource, service, id } of zones) {
    if (resource === null) continue
    const own = owned.get(zoneKey({ service, zone: id })) ?? []
    const others = referring.get(withoutKeys(resource.address)) ?? []
    const all = new Set([...own.map((record) => record.resource), ...others.map(({ one }) => one)])
    if (all.size > 0 && taken.delete(resource)) keepers.set(resource, [...all])
  }
  return { taken, keepers }
}

function keptZone({ address }: StateResource, keepers: Resources): Diagnostic {
  const message = `${address} stays in the state although it has a definition: ${addressesOf(keepers)} ${agreeing(keepers.length, 'stays and needs', 'stay and need')} it`
  return { severity: 'warning', code: 'import-aside', message }
}

/** The address of the configuration: without the keys of instances. */
const withoutKeys = (address: string): string => address.replace(/\[(?:"(?:[^"\\]|\\.)*"|[0-9]+)\]/g, '')

/** Addresses in one command. */
const MOST = 50

/** The commands that take resources out of the state, which change nothing at a provider. */
function nextSteps(resources: Resources, taken: ReadonlySet<StateResource>, program: string): string[] {
  const addresses = new Set([...taken].map(({ address }) => withoutKeys(address)))
  const others = resources.filter((one) => !one.isData && !taken.has(one) && one.dependsOn.some((address) => addresses.has(address)))
  const count = counted(others.length, 'other resource')
  const references = others.length === 0 ? '' : ` ${count} may refer to them (${addressesOf(others)}): write the values there.`
  const words = [...taken].map(({ address }) => shellWord(address))
  const commands = words.flatMap((_, at) => (at % MOST === 0 ? `${program} state rm ${words.slice(at, at + MOST).join(' ')}` : []))
  return [
    `When "zonewright plan" shows no changes, take ${counted(taken.size, 'resource')} out of the state. Nothing changes at a provider:`,
    ...commands,
    `Then remove them from the configuration before the next "${program} apply", and check with "${program} plan".${references}`,
  ]
}

/** A word for a POSIX shell (POSIX.1-2024, section 2.2.2). */
const shellWord = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", `'\\''`)}'`
