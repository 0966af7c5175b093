import { assertNoSecret, type LoadedSecrets } from '../../definition/load/loaded-secrets.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { Plan } from '../../plan/plan.ts'
import { planDocument } from '../../report/plan-document.ts'
import { checksumOf, planFileText, signatureOf } from './plan-json.ts'
import type { SavedPlanDocument, SavedRecord, SavedState, SavedTarget, SavedZone } from './saved-plan.ts'

/** What is saved of a run that planned. */
export interface PlanToSave {
  readonly plan: Plan
  /** In the order of the plan. */
  readonly zones: readonly SavedZone[]
  /** Every target of the zones. */
  readonly targets: readonly SavedTarget[]
}

/** The text of a plan file. With a key it is signed; the key is not in it. Throws `SecretExposed` rather than write down a secret of the run. */
export function savedPlanText({ plan, zones, targets }: PlanToSave, key: string | null, secrets: LoadedSecrets): string {
  const { format, version, created, tool, zones: planned, ...rest } = planDocument(plan)
  const head = { format, version, created, tool }
  const body = {
    targets: targets.map(({ name, type, address }) => ({ name, type, address })),
    zones: planned.map((zone, index) => {
      const existing = zones[index]?.existing ?? null
      return existing === null || zone.changes.length === 0 ? zone : { ...zone, state: stateOf(existing) }
    }),
    ...rest,
  }
  const seal = key === null ? {} : { signature: signatureOf({ ...head, ...body }, key) }
  const document: SavedPlanDocument = { ...head, checksum: checksumOf({ ...head, ...seal, ...body }), ...seal, ...body }
  const text = planFileText(document)
  assertNoSecret(secrets, text, `the saved plan of ${planned.length === 1 ? planned[0]?.zone : `${planned.length} zones`}`)
  return text
}

const stateOf = ({ id, settings, records }: ExistingZone): SavedState => ({
  id: id ?? null,
  settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
  records: records.map(savedRecord),
})

const savedRecord = ({ id, name, type, ttl, data }: ExistingRecord): SavedRecord => [id ?? null, name, type, ttl, data]
