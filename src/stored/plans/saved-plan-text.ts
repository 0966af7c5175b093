/** The text of a saved plan. */
import { assertNoSecret, type LoadedSecrets } from '../../base/secret-guard.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import { type PlannedZones, planOf } from '../../plan/planned-zone.ts'
import { planDocument } from '../../report/plan-document.ts'
import { checksumOf, planFileText, signatureOf } from './plan-json.ts'
import type { SavedPlanDocument, SavedRecord, SavedState, SavedTarget } from './saved-plan.ts'

/** A plan to save, with every target of its zones. */
interface PlanToSave extends PlannedZones {
  readonly targets: readonly SavedTarget[]
}

/** The text of a plan file, signed if there is a key. Throws `SecretExposed` if it would contain a secret of the run. */
export function savedPlanText({ targets, ...planned }: PlanToSave, key: string | null, secrets: LoadedSecrets): string {
  const { format, version, created, tool, snapshot, zones, ...rest } = planDocument(planOf(planned))
  const head = { format, version, created, tool, ...(snapshot === undefined ? {} : { snapshot }) }
  const body = {
    targets: targets.map(({ name, type, address }) => ({ name, type, address })),
    zones: zones.map((zone, index) => {
      const existing = planned.zones[index]?.existing ?? null
      return existing === null || zone.changes.length === 0 ? zone : { ...zone, state: stateOf(existing) }
    }),
    ...rest,
  }
  // The signature covers everything except itself and the checksum; the checksum covers the signature too.
  const signature = key === null ? {} : { signature: signatureOf({ ...head, ...body }, key) }
  const document: SavedPlanDocument = { ...head, checksum: checksumOf({ ...head, ...signature, ...body }), ...signature, ...body }
  const text = planFileText(document)
  assertNoSecret(secrets, text, `the saved plan of ${zones.length === 1 ? zones[0]?.zone : `${zones.length} zones`}`)
  return text
}

const stateOf = ({ id, settings, records }: ExistingZone): SavedState => ({
  id: id ?? null,
  settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
  records: records.map(savedRecord),
})

const savedRecord = ({ id, name, type, ttl, data, settings }: ExistingRecord): SavedRecord =>
  settings === undefined ? [id ?? null, name, type, ttl, data] : [id ?? null, name, type, ttl, data, settings]
