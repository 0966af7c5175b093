/**
 * Parses the file of a snapshot. It may come from a store that others can write to, so its size, seal and schema are checked, and the values that become part
 * of a plan. Live records are only compared: a provider may have names and data that no definition can have.
 */
import type { KeyObject } from 'node:crypto'
import { validate } from '../../../generated/snapshot-schema.js'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { quoted } from '../../dns/excerpt.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { ZoneSnapshot } from '../../providers/provider.ts'
import { isTime, parseSavedDiagnostic } from '../saved-plan/parse-saved-plan.ts'
import { checksumOf, readJsonObject, sameSeal, schemaProblem } from '../saved-plan/plan-json.ts'
import { isSignedBy } from './signing-key.ts'
import {
  SNAPSHOT_FORMAT,
  SNAPSHOT_VERSION,
  type Snapshot,
  type SnapshotDocument,
  type SnapshotInventory,
  type SnapshotRecord,
  type SnapshotState,
  type SnapshotZone,
} from './snapshot.ts'

/** The deepest value is an item of a setting of a record; the rest is reserved for facts and later versions. */
const BOUNDS = { depth: 16, values: 8_000_000 } as const

export type ParsedSnapshot =
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
  if (!validate(value)) return refuse('snapshot-invalid', `does not have the format of snapshots: ${schemaProblem(validate.errors ?? [])}`)
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
