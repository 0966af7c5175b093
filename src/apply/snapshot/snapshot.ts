/** Snapshots: the live state of all zones of a config, per target. Their types, and the text of their files. */
import type { KeyObject } from 'node:crypto'
import type { DomainName } from '../../dns/domain-name.ts'
import type { InventoryObject, InventoryQuery } from '../../dns/inventory.ts'
import type { ExistingRecord, RecordSettings } from '../../dns/record.ts'
import type { UnplannedRecord, ZoneSettings } from '../../dns/zone.ts'
import type { ReadOnlyReason } from '../../plan/make-plan.ts'
import type { RenderedState } from '../../plan/plan.ts'
import type { CapabilityFacts, ZoneSnapshot } from '../../providers/provider.ts'
import { type DiagnosticDocument, diagnosticDocument } from '../../report/plan-document.ts'
import type { Fence } from '../journal/store/fences.ts'
import { checksumOf, planFileText } from '../saved-plan/plan-json.ts'
import type { SavedTarget } from '../saved-plan/saved-plan.ts'
import { signDocument } from './signing-key.ts'

export const SNAPSHOT_FORMAT = 'zonewright-snapshot'
export const SNAPSHOT_VERSION = 1

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
