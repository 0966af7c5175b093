/** Snapshots: the live state of all zones of a config, per target. Their types, the text of their files, and its parser. */
import type { KeyObject } from 'node:crypto'
import { validate } from '../../../generated/snapshot-schema.js'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import type { ExistingRecord, RecordSettings } from '../../dns/record.ts'
import type { UnplannedRecord, ZoneSettings } from '../../dns/zone.ts'
import type { InventoryObject, InventoryQuery } from '../../dns/zone-source.ts'
import type { ReadOnlyReason } from '../../plan/make-plan.ts'
import type { RenderedState } from '../../plan/plan.ts'
import type { CapabilityFacts, ZoneSnapshot } from '../../providers/provider.ts'
import { type DiagnosticDocument, diagnosticDocument } from '../../report/plan-document.ts'
import { isTime, parseSavedDiagnostic } from '../plans/parse-saved-plan.ts'
import { checksumOf, planFileText, readJsonObject, remakeHint, sameSeal, schemaProblem } from '../plans/plan-json.ts'
import type { SavedTarget } from '../plans/saved-plan.ts'
import type { Fence } from '../store/fences.ts'
import { isSignedBy, signDocument } from './signing-key.ts'

const SNAPSHOT_FORMAT = 'zonewright-snapshot'
const SNAPSHOT_VERSION = 1

/** A target when the snapshot was made. */
export interface SnapshotTarget extends SavedTarget {
  /** The hosts that it contacts, with scheme and port, sorted. A plan against the snapshot needs the same. */
  readonly endpoints: readonly string[]
  readonly facts?: CapabilityFacts | undefined
}

/** The answer to a query for addresses. */
export interface SnapshotInventory {
  /** The provider's name in the config. */
  readonly target: string
  readonly query: Omit<InventoryQuery, 'provider'>
  readonly objects: readonly InventoryObject[]
}

/** A zone at a target. `live` is null if it did not exist. */
export interface SnapshotZone {
  readonly zone: DomainName
  readonly target: string
  readonly live: ZoneSnapshot | null
  /** TTLs that the target replaces by others, as the journal knows them; absent if there are none. */
  readonly storedTtls?: Fence['ttls'] | undefined
}

export interface Snapshot {
  /** ISO 8601, UTC. */
  readonly created: string
  /** The program and version that made it. */
  readonly tool: string
  readonly targets: readonly SnapshotTarget[]
  readonly inventory: readonly SnapshotInventory[]
  readonly zones: readonly SnapshotZone[]
}

/** Identifier, owner, type, TTL in seconds, data, more. */
export type SnapshotRecord = readonly [
  id: number | string | null,
  name: string,
  type: string,
  ttl: number | null,
  data: string,
  more?: {
    readonly settings?: RecordSettings | undefined
    readonly fixedTtlTypes?: readonly string[] | undefined
    readonly fixedTtlWhile?: RecordSettings | undefined
  },
]

export interface SnapshotState {
  readonly id: number | string
  readonly settings: ZoneSettings
  readonly unknownSettings?: readonly string[] | undefined
  readonly ownApexNs?: readonly DomainName[] | undefined
  readonly readOnly?: ReadOnlyReason | undefined
  readonly warnings?: readonly DiagnosticDocument[] | undefined
  readonly rendered: { readonly state: RenderedState; readonly providerApexNs: readonly string[] | null }
  readonly unplanned?: readonly UnplannedRecord[] | undefined
  readonly records: readonly SnapshotRecord[]
}

/** The document of `schemas/snapshot.schema.json`. */
export interface SnapshotDocument extends Omit<Snapshot, 'zones'> {
  readonly format: typeof SNAPSHOT_FORMAT
  readonly version: typeof SNAPSHOT_VERSION
  readonly checksum: string
  readonly signature?: string
  readonly zones: readonly {
    readonly zone: string
    readonly target: string
    readonly storedTtls?: Fence['ttls']
    readonly state: SnapshotState | null
  }[]
}

/** The text of a snapshot's file, signed if there is a key. */
export function snapshotText({ created, tool, targets, inventory, zones }: Snapshot, key: KeyObject | null): string {
  const head = { format: SNAPSHOT_FORMAT, version: SNAPSHOT_VERSION, created, tool }
  const body = {
    targets: targets.map(({ name, type, address, endpoints, facts }) => ({ name, type, address, endpoints, facts })),
    inventory: inventory.map(({ target, query, objects }) => ({ target, query, objects })),
    zones: zones.map(({ zone, target, live, storedTtls }) => ({ zone, target, storedTtls, state: live && stateOf(live) })),
  }
  // As it is parsed: without undefined members.
  const unsigned = JSON.parse(JSON.stringify({ ...head, ...body })) as typeof head & typeof body
  const signature = key === null ? {} : { signature: signDocument(unsigned, key) }
  return planFileText({ ...head, checksum: checksumOf({ ...unsigned, ...signature }), ...signature, ...body })
}

function stateOf(live: ZoneSnapshot): SnapshotState {
  const { id, settings, unknownSettings, ownApexNs, readOnly, warnings, rendered, unplanned, records } = live
  return {
    id,
    settings,
    unknownSettings,
    ownApexNs,
    readOnly: readOnly && { reason: readOnly.reason, hint: readOnly.hint },
    warnings: warnings?.map(diagnosticDocument),
    rendered: { state: rendered?.state ?? 'unavailable', providerApexNs: rendered?.providerApexNs ?? null },
    unplanned: unplanned?.map(({ name, type, data, reason, holdsRrset }) => ({ name, type, data, reason, holdsRrset })),
    records: records.map(recordDocument),
  }
}

function recordDocument({ id, name, type, ttl, data, settings, fixedTtlTypes, fixedTtlWhile }: ExistingRecord): SnapshotRecord {
  const record = [id ?? null, name, type, ttl, data] as const
  return settings === undefined && fixedTtlTypes === undefined ? record : [...record, { settings, fixedTtlTypes, fixedTtlWhile }]
}

/** The deepest value is an item of a setting of a record; the rest is reserved for facts and later versions. */
const BOUNDS = { depth: 16, values: 8_000_000 } as const

type ParsedSnapshot =
  | { readonly snapshot: Snapshot; readonly checksum: string; readonly isSigned: boolean; readonly diagnostic: null }
  | { readonly snapshot: null; readonly diagnostic: Diagnostic }

const REMAKE = 'make it again with "zonewright snapshot --out"'

/** Parses the text of a snapshot, which messages call `file`. With a key, refuses one that its owner has not signed. */
export function parseSnapshot(text: string, file: string, key: KeyObject | null): ParsedSnapshot {
  const refuse = (code: DiagnosticCode, problem: string, hint = REMAKE): ParsedSnapshot => ({
    snapshot: null,
    diagnostic: { severity: 'error', code, message: `${file} ${problem}`, hint },
  })
  const document = readJsonObject(text, BOUNDS, 'snapshot')
  if (!document.ok) return refuse('snapshot-invalid', document.message)
  const { value } = document
  if (value['format'] !== SNAPSHOT_FORMAT) return refuse('snapshot-invalid', `is not a snapshot: its "format" is not "${SNAPSHOT_FORMAT}"`)
  const { version, checksum, signature } = value
  if (typeof version === 'number' && version !== SNAPSHOT_VERSION)
    return refuse('snapshot-invalid', `has version ${version} of the format of snapshots; this program reads version ${SNAPSHOT_VERSION}`)
  if (typeof checksum !== 'string' || !sameSeal(checksum, checksumOf(value)))
    return refuse('snapshot-changed', 'was changed after it was made: its checksum does not match')
  if (key !== null && signature === undefined) return refuse('snapshot-signature', 'is not signed, but --verify-key requires it', SIGN)
  if (key !== null && (typeof signature !== 'string' || !isSignedBy(value, signature, key)))
    return refuse('snapshot-signature', 'was not signed by the owner of the key in --verify-key, or was changed since', SIGN)
  if (!validate(value))
    return refuse(
      'snapshot-invalid',
      `does not have the format of snapshots: ${schemaProblem(validate.errors ?? [])}`,
      remakeHint(value, REMAKE),
    )
  const parsed = parseDocument(value as unknown as SnapshotDocument)
  if (!parsed.ok) return refuse('snapshot-invalid', `is not a snapshot that this program made: ${parsed.message}`)
  return { snapshot: parsed.value, checksum, isSigned: signature !== undefined, diagnostic: null }
}

const SIGN = 'make it with: zonewright snapshot --out FILE --sign-key file:KEY'

function parseDocument({ created, tool, targets, inventory, zones }: SnapshotDocument): Result<Snapshot> {
  if (!isTime(created)) return failure('"created" is not a time')
  const names = new Set(targets.map(({ name }) => name))
  if (names.size < targets.length) return failure('a target is listed twice')
  const parsed: SnapshotZone[] = []
  const seen = new Set<string>()
  for (const [index, { zone: text, target, state, storedTtls }] of zones.entries()) {
    const zone = parseDomainName(text)
    if (!zone.ok || zone.value !== text) return failure(`zones[${index}].zone is not a canonical name`)
    if (!names.has(target)) return failure(`zones[${index}].target is not one of "targets"`)
    const key = `${zone.value} ${target}`
    if (seen.has(key)) return failure(`zones[${index}] is a duplicate of ${zone.value} at ${target}`)
    seen.add(key)
    const stray = [...(state?.records ?? []).map(([, owner]) => owner), ...(state?.unplanned ?? []).map(({ name }) => name)].find(
      (owner) => !isOwnerIn(zone.value, owner),
    )
    if (stray !== undefined) return failure(`zones[${index}] has the owner ${quoted(stray)}, which is not a canonical name in the zone`)
    parsed.push({ zone: zone.value, target, live: state && liveZone(zone.value, state), storedTtls })
  }
  const foreign = inventory.findIndex((answer) => !names.has(answer.target) || !hasAddresses(answer))
  if (foreign !== -1) return failure(`inventory[${foreign}] has an unknown target or something that is not an address`)
  return ok({ created, tool, targets, inventory, zones: parsed })
}

function isOwnerIn(zone: DomainName, text: string): boolean {
  const owner = parseDomainName(text)
  return owner.ok && owner.value === text && isAtOrBelow(owner.value, zone)
}

/** Addresses become records of a plan. */
const hasAddresses = ({ objects }: SnapshotInventory): boolean =>
  objects.every(({ ipv4, ipv6 }) =>
    [ipv4.map((text) => [text, false] as const), ipv6.map((text) => [text, true] as const)]
      .flat()
      .every(([text, is6]) => canonicalAddress(text) === text && text.includes(':') === is6),
  )

const liveZone = (name: ZoneSnapshot['name'], state: SnapshotState): ZoneSnapshot => ({
  name,
  id: state.id,
  settings: state.settings,
  unknownSettings: state.unknownSettings,
  ownApexNs: state.ownApexNs,
  readOnly: state.readOnly,
  warnings: state.warnings?.map(parseSavedDiagnostic),
  unplanned: state.unplanned,
  rendered: { ...state.rendered, differences: [] },
  records: state.records.map(existingRecord),
})

const existingRecord = ([id, name, type, ttl, data, more]: SnapshotRecord): ExistingRecord =>
  ({ id: id ?? undefined, name, type, ttl, data, ...more }) as ExistingRecord
