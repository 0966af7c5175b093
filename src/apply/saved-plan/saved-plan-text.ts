/** The text of a saved plan. */
import { assertNoSecret, type LoadedSecrets } from '../../definition/config/secret-guard.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { Plan } from '../../plan/plan.ts'
import { planDocument } from '../../report/plan-document.ts'
import { checksumOf, planFileText, signatureOf } from './plan-json.ts'
import type { SavedPlanDocument, SavedRecord, SavedState, SavedTarget, SavedZone } from './saved-plan.ts'

/** A plan to save. */
export interface PlanToSave {
  readonly plan: Plan
  /** In the order of the plan. */
  readonly zones: readonly SavedZone[]
  /** Every target of the zones. */
  readonly targets: readonly SavedTarget[]
}

/** The text of a plan file, signed if there is a key. Throws `SecretExposed` if it would contain a secret of the run. */
export function savedPlanText({ plan, zones, targets }: PlanToSave, key: string | null, secrets: LoadedSecrets): string {
  const { format, version, created, tool, snapshot, zones: planned, ...rest } = planDocument(plan)
  const head = { format, version, created, tool, ...(snapshot === undefined ? {} : { snapshot }) }
  const body = {
    targets: targets.map(({ name, type, address }) => ({ name, type, address })),
    zones: planned.map((zone, index) => {
      const existing = zones[index]?.existing ?? null
      return existing === null || zone.changes.length === 0 ? zone : { ...zone, state: stateOf(existing) }
    }),
    ...rest,
  }
  // The signature covers everything except itself and the checksum; the checksum covers the signature too.
  const signature = key === null ? {} : { signature: signatureOf({ ...head, ...body }, key) }
  const document: SavedPlanDocument = { ...head, checksum: checksumOf({ ...head, ...signature, ...body }), ...signature, ...body }
  const text = planFileText(document)
  assertNoSecret(secrets, text, `the saved plan of ${planned.length === 1 ? planned[0]?.zone : `${planned.length} zones`}`)
  return text
}

const stateOf = ({ id, settings, records }: ExistingZone): SavedState => ({
  id: id ?? null,
  settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
  records: records.map(savedRecord),
})

const savedRecord = ({ id, name, type, ttl, data, settings }: ExistingRecord): SavedRecord =>
  settings === undefined ? [id ?? null, name, type, ttl, data] : [id ?? null, name, type, ttl, data, settings]
