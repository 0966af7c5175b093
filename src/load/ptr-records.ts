/**
 * The PTR records of addresses with `auto_ptr`. Every address claims a name in the most specific reverse zone that is defined. What is written at a record,
 * an address with `auto_ptr: true` or a PTR record, takes precedence over the `auto_ptr` of a zone or rule. Two claims of equal rank are an error. Pure.
 */
import type { Diagnostic } from '../base/diagnostic.ts'
import { agreeing, counted, listed } from '../base/english.ts'
import { append } from '../base/group-by.ts'
import { highestCut, indexZone, type ZoneIndex } from '../checks/rules/zone-index.ts'
import type { LoadedZone } from '../config/configured-zone.ts'
import { type DomainName, parentOf, ROOT } from '../dns/domain-name.ts'
import { type DefinedRecord, rrsetKey } from '../dns/record.ts'
import { classlessBlock, isReverseName, reverseName } from '../dns/reverse-name.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import type { RrsetTargets } from '../dns/zone.ts'

/** Maximum number of addresses or names that a message lists. */
const LISTED = 3

/** An address that asks for a PTR record at a name. */
interface Claim {
  readonly record: DefinedRecord
  /** Whether the record itself says `auto_ptr: true`. */
  readonly isExplicit: boolean
  readonly targets: readonly string[] | null
}

/**
 * Returns the zones in the same order, the reverse zones with the PTR records. If `isComplete` is false, zones are missing, so the lack of a reverse zone is
 * not reported. Conflicts are errors of the reverse zone.
 */
export function addPtrRecords(zones: readonly LoadedZone[], isComplete: boolean): readonly LoadedZone[] {
  const counts = new Map<DomainName, number>()
  for (const { zone } of zones) counts.set(zone.name, (counts.get(zone.name) ?? 0) + 1)
  const reverseZones = indexReverseZones(zones)
  const claims = new Map<LoadedZone, Map<DomainName, Claim[]>>()
  const feeds = new Map<LoadedZone, Set<DomainName>>()
  const found = new Map<LoadedZone, Diagnostic[]>()
  for (const loaded of zones) {
    const homeless: Homeless[] = []
    for (const [claim, origin] of claimsOf(loaded, (counts.get(loaded.zone.name) ?? 0) > 1)) {
      const places = reverseZones.placesOf(claim.record.data, origin)
      if (places.length === 0) homeless.push({ ...claim, isSplit: origin.isSplit })
      for (const { reverse, owner, targets } of places) {
        const owners = claims.get(reverse) ?? new Map<DomainName, Claim[]>()
        claims.set(reverse, owners)
        const others = owners.get(owner)
        if (others) others.push({ ...claim, targets })
        else owners.set(owner, [{ ...claim, targets }])
        feeds.set(loaded, (feeds.get(loaded) ?? new Set()).add(reverse.zone.name))
      }
    }
    if (isComplete && homeless.length > 0) found.set(loaded, withoutReverseZone(loaded, homeless))
  }
  return zones.map((loaded) => {
    const fed = { ...loaded, reverseZones: [...(feeds.get(loaded) ?? [])].sort() }
    return withPtrRecords(fed, claims.get(loaded) ?? new Map(), { reverseZones, reverse: loaded, found: found.get(loaded) ?? [] })
  })
}

/** The addresses of a zone that ask for PTR records, each with its origin. */
function* claimsOf({ zone, targets }: LoadedZone, hasVariants: boolean): Iterable<readonly [Claim, AddressOrigin]> {
  if (zone.absent) return
  const scopes = new Map(zone.rrsetTargets.map((scope) => [rrsetKey(scope), scope]))
  for (const record of zone.records) {
    if (record.type !== 'A' && record.type !== 'AAAA') continue
    if (!(record.autoPtr ?? zone.autoPtr) || record.name.includes('*')) continue
    const scope = scopes.size === 0 ? undefined : scopes.get(rrsetKey(record))
    const own = scope === undefined ? targets : targetsIn(scope, targets)
    if (own.length === 0 && scope !== undefined) continue
    yield [
      { record, isExplicit: record.autoPtr === true, targets: null },
      { targets: own, isSplit: hasVariants || scope !== undefined },
    ]
  }
}

const targetsIn = ({ ignored, included, excluded }: RrsetTargets, targets: readonly string[]): string[] =>
  targets.filter((target) => !ignored && (included.length === 0 || included.includes(target)) && !excluded.includes(target))

/** A claim without a reverse zone. */
interface Homeless extends Claim {
  readonly isSplit: boolean
}

/** A warning for each address that asks for a PTR record itself, and one notice for the others. */
function withoutReverseZone({ zone }: LoadedZone, homeless: readonly Homeless[]): Diagnostic[] {
  const inherited = homeless.filter(({ isExplicit }) => !isExplicit).map(({ record }) => record.data)
  const warnings = homeless
    .filter(({ isExplicit }) => isExplicit)
    .map(
      ({ record: { name, type, data, at }, isSplit }): Diagnostic => ({
        severity: 'warning',
        code: 'ptr-zone-missing',
        message: `${name} ${type}: auto_ptr adds no PTR record, because no reverse zone for ${data} is defined${isSplit ? ' for the same target' : ''}`,
        at,
        hint: `define the zone, such as ${usualZone(data)}, or remove auto_ptr`,
        cause: { subject: 'record', message: 'auto_ptr adds no PTR record, because no reverse zone for the address is defined' },
      }),
    )
  if (inherited.length === 0) return warnings
  const message = `${zone.name}: auto_ptr adds no PTR records for ${counted(inherited.length, 'address', 'addresses')} without a reverse zone: ${listed(inherited, LISTED)}`
  return [...warnings, { severity: 'notice', code: 'ptr-zone-missing', message, at: zone.at }]
}

/** The zone that usually holds the PTR record of an address: that of its /24 or /64. */
const usualZone = (address: string): string =>
  reverseName(address)
    .split('.')
    .slice(address.includes(':') ? 16 : 1, -1)
    .join('.')

interface Context {
  readonly reverseZones: ReverseZones
  /** The reverse zone as it is indexed. */
  readonly reverse: LoadedZone
  readonly found: readonly Diagnostic[]
}

/** A reverse zone with the PTR records that its claims add. */
function withPtrRecords(loaded: LoadedZone, owners: ReadonlyMap<DomainName, readonly Claim[]>, context: Context): LoadedZone {
  const { zone } = loaded
  const { reverseZones, reverse, found } = context
  const diagnostics: Diagnostic[] = [...found]
  const records: DefinedRecord[] = []
  const rrsetTargets: RrsetTargets[] = []
  const isUnmanaged = unmanagedTest(zone.unmanaged, zone.name)
  for (const [owner, claims] of owners) {
    const settled = settleClaims(owner, claims, reverseZones.indexOf(reverse).byName.get(owner) ?? [])
    diagnostics.push(...settled.diagnostics)
    if (settled.claim === null) continue
    const { record, isExplicit, targets } = settled.claim
    const ptr = ptrRecord(owner, record)
    if (isUnmanaged(ptr)) {
      if (isExplicit) diagnostics.push(unmanagedPtr(ptr, record))
      continue
    }
    records.push(ptr)
    if (targets !== null) rrsetTargets.push({ name: owner, type: 'PTR', ignored: false, included: targets, excluded: [] })
  }
  diagnostics.push(...missingCnames(zone.name, records, reverseZones))
  return {
    ...loaded,
    zone:
      records.length === 0
        ? zone
        : { ...zone, records: [...zone.records, ...records], rrsetTargets: [...zone.rrsetTargets, ...rrsetTargets] },
    diagnostics: [...loaded.diagnostics, ...diagnostics],
    valid: loaded.valid && diagnostics.every(({ severity }) => severity !== 'error'),
  }
}

const ptrRecord = (name: DomainName, { name: host, type, ttl, at }: DefinedRecord): DefinedRecord => ({
  name,
  type: 'PTR',
  ttl,
  data: host,
  at,
  source: `auto_ptr of ${host} ${type}`,
})

interface Settled {
  /** Null if no record is added. */
  readonly claim: Claim | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Decides which claim of a name gets its PTR record. `present` has the records that the reverse zone defines at the name. */
function settleClaims(owner: DomainName, claims: readonly Claim[], present: readonly DefinedRecord[]): Settled {
  const explicit = claims.filter(({ isExplicit }) => isExplicit)
  const obstacles = present.filter(({ type }) => type === 'PTR' || type === 'CNAME')
  if (explicit.length === 0 && obstacles.length > 0) return { claim: null, diagnostics: [] }
  const ranked = explicit.length > 0 ? explicit : claims
  const [first] = ranked as [Claim]
  const host = first.record.name
  const diagnostics: Diagnostic[] = ranked
    .filter(({ record }) => record.name !== host)
    .map(({ record }) => twoNames(record, first.record, explicit.length > 0))
  const isWritten = obstacles.some(({ type, data }) => type === 'PTR' && data === host)
  const [obstacle] = obstacles
  if (obstacle !== undefined && !isWritten) diagnostics.push(alreadyWritten(owner, first.record, obstacle))
  if (diagnostics.length > 0 || isWritten) return { claim: null, diagnostics }
  const targets = ranked.some((claim) => claim.targets === null)
    ? null
    : [...new Set(ranked.flatMap((claim) => claim.targets ?? []))].sort()
  return { claim: { ...first, targets }, diagnostics: [] }
}

const twoNames = ({ name, type, data, at }: DefinedRecord, first: DefinedRecord, isExplicit: boolean): Diagnostic => ({
  severity: 'error',
  code: 'ptr-conflict',
  message: `${name} ${type}: auto_ptr gives ${data} a second name; the first is ${first.name}`,
  at,
  hint: isExplicit ? 'leave auto_ptr: true at one of the records' : 'write auto_ptr: true at the record whose name the address is to have',
  related: [{ message: 'the first name', at: first.at }],
})

const alreadyWritten = (owner: DomainName, { name, type, at }: DefinedRecord, written: DefinedRecord): Diagnostic => ({
  severity: 'error',
  code: 'ptr-conflict',
  message: `${name} ${type}: auto_ptr cannot add a PTR record at ${owner}, which has ${written.type} ${written.data}`,
  at,
  hint: `remove the ${written.type} record, or write auto_ptr: false`,
  related: [{ message: `the ${written.type} record`, at: written.at }],
})

const unmanagedPtr = ({ name }: DefinedRecord, { name: host, type, at }: DefinedRecord): Diagnostic => ({
  severity: 'warning',
  code: 'unmanaged-collision',
  message: `${host} ${type}: auto_ptr adds no PTR record, because "unmanaged" of the reverse zone matches ${name}`,
  at,
  hint: 'remove auto_ptr, or narrow the selector',
})

/** A warning if the zone that delegates a block of addresses lacks CNAME records for them (RFC 2317 section 4). Only definitions can be checked. */
function missingCnames(zone: DomainName, records: readonly DefinedRecord[], { named, indexOf }: ReverseZones): Diagnostic[] {
  const block = records.length === 0 ? null : classlessBlock(zone)
  const parents = block === null ? [] : named(block.parent)
  const [parent] = parents
  if (block === null || parent === undefined) return []
  const aliases = records.map(({ name, at }) => ({
    target: name,
    alias: `${name.slice(0, name.indexOf('.'))}.${block.parent}` as DomainName,
    at,
  }))
  const missing = aliases.filter(
    ({ target, alias }) => !parents.some((one) => indexOf(one).cnames.get(alias)?.data === target || cutAbove(indexOf(one), alias)),
  )
  const [first] = missing
  if (first === undefined) return []
  const names = listed(
    missing.map(({ alias }) => alias),
    LISTED,
  )
  return [
    {
      severity: 'warning',
      code: 'ptr-unreachable',
      message: `${block.parent} lacks the CNAME ${agreeing(missing.length, 'record', 'records')} for ${counted(missing.length, 'PTR record')} in ${zone}: ${names}`,
      at: parent.zone.at,
      hint: `add '${first.alias} CNAME ${first.target}' to ${block.parent}`,
      related: [{ message: 'the address', at: first.at }],
    },
  ]
}

// The reverse zones of a set of definitions, and which of them hold the PTR record of an address.

/** A reverse zone with the name at which it holds the PTR record of an address. */
interface PtrPlace {
  readonly reverse: LoadedZone
  readonly owner: DomainName
  /** The targets of the PTR record; null for all targets of the reverse zone. */
  readonly targets: readonly string[] | null
}

/** The zone that an address belongs to, as far as it matters for its PTR record. */
interface AddressOrigin {
  /** Empty if unknown. */
  readonly targets: readonly string[]
  /** Whether the reverse zone must have a target in common, as with split horizon. */
  readonly isSplit: boolean
}

interface ReverseZones {
  /** The places for the PTR record of an address; empty if there is no reverse zone, or if it delegates the address. Linear in the length of the name. */
  readonly placesOf: (address: string, origin: AddressOrigin) => readonly PtrPlace[]
  readonly indexOf: (reverse: LoadedZone) => ZoneIndex
  /** The definitions of a reverse zone. */
  readonly named: (zone: DomainName) => readonly LoadedZone[]
}

interface BlockZone {
  readonly zone: DomainName
  readonly first: number
  readonly last: number
}

/** Indexes the reverse zones among `zones`. Those that are to be deleted, or that are transferred from other servers, hold no records. */
function indexReverseZones(zones: readonly LoadedZone[]): ReverseZones {
  const byName = new Map<DomainName, LoadedZone[]>()
  const blocks = new Map<DomainName, BlockZone[]>()
  for (const loaded of zones) {
    const { name, absent, settings } = loaded.zone
    if (!isReverseName(name) || absent || settings.type === 'slave') continue
    const block = byName.has(name) ? null : classlessBlock(name)
    append(byName, name, loaded)
    if (block !== null) append(blocks, block.parent, { ...block, zone: name })
  }
  for (const list of blocks.values()) list.sort((a, b) => a.last - a.first - (b.last - b.first) || (a.zone < b.zone ? -1 : 1))
  const indexes = new Map<LoadedZone, ZoneIndex>()
  const indexOf = (loaded: LoadedZone): ZoneIndex => {
    const index = indexes.get(loaded) ?? indexZone(loaded.zone)
    indexes.set(loaded, index)
    return index
  }
  const named = (zone: DomainName): readonly LoadedZone[] => byName.get(zone) ?? []
  const placesOf: ReverseZones['placesOf'] = (address, origin) => {
    for (const { zone, owner } of candidatesOf(reverseName(address), byName, blocks)) {
      const definitions = named(zone)
      const places = definitions.flatMap((reverse) => placeIn(reverse, owner, origin, definitions.length > 1) ?? [])
      if (places.length > 0) return places.filter(({ reverse }) => cutAbove(indexOf(reverse), owner) === undefined)
    }
    return []
  }
  return { placesOf, indexOf, named }
}

/** The reverse zones that contain a name of the reverse tree, the most specific first. */
function* candidatesOf(
  name: DomainName,
  byName: ReadonlyMap<DomainName, unknown>,
  blocks: ReadonlyMap<DomainName, readonly BlockZone[]>,
): Iterable<{ readonly zone: DomainName; readonly owner: DomainName }> {
  if (byName.has(name)) yield { zone: name, owner: name }
  const parent = parentOf(name)
  const label = name.slice(0, -parent.length - 1)
  for (const { zone, first, last } of blocks.get(parent) ?? [])
    if (first <= Number(label) && Number(label) <= last) yield { zone, owner: `${label}.${zone}` as DomainName }
  for (let zone = parent; zone !== ROOT; zone = parentOf(zone)) if (byName.has(zone)) yield { zone, owner: name }
}

/** The place in a reverse zone; null if split horizon keeps the address out of it. */
function placeIn(reverse: LoadedZone, owner: DomainName, { targets, isSplit }: AddressOrigin, hasVariants: boolean): PtrPlace | null {
  if (!(isSplit || hasVariants) || targets.length === 0 || reverse.targets.length === 0) return { reverse, owner, targets: null }
  const shared = reverse.targets.filter((target) => targets.includes(target))
  if (shared.length === 0) return null
  return { reverse, owner, targets: shared.length === reverse.targets.length ? null : shared }
}

/** The delegation or DNAME record that hides a name; undefined if there is none. */
const cutAbove = ({ zone, delegations, redirections }: ZoneIndex, name: DomainName): DefinedRecord | undefined =>
  highestCut(delegations, name, zone.name) ?? (name === zone.name ? undefined : highestCut(redirections, parentOf(name), zone.name))
