import type { CallRules, Capabilities } from '../../src/plan/capabilities.ts'
import { makeZonePlan, type PlanInput } from '../../src/plan/make-plan.ts'
import type { RecordChange, ZonePlan } from '../../src/plan/plan.ts'
import { DEFAULT_THRESHOLDS } from '../../src/plan/safety-limits.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { desiredZone, existingZone, name } from './records.ts'

export const ORIGIN = name('example.com.')

/** Records in which `A 1` is written for `A 192.0.2.1`, so that a case fits on a line. */
export const withAddresses = (text: string): string => text.replace(/ A (\d)\b/g, ' A 192.0.2.$1')

/** What one call carries at the kinds of targets. */
export const CALL_RULES = {
  record: { unit: 'record', maxUnits: 1, maxOctets: null, atomic: true, hasPrecondition: false, createsZoneWithRecords: false },
  rrset: { unit: 'rrset', maxUnits: 1, maxOctets: null, atomic: true, hasPrecondition: false, createsZoneWithRecords: false },
  message: { unit: 'rrset', maxUnits: null, maxOctets: 60_000, atomic: true, hasPrecondition: true, createsZoneWithRecords: false },
  zone: { unit: 'rrset', maxUnits: null, maxOctets: null, atomic: true, hasPrecondition: true, createsZoneWithRecords: true },
} as const satisfies Record<string, CallRules>

/** The cloud's capabilities with every type and any data. */
export const ANY_DATA: Capabilities = { ...CLOUD_CAPABILITIES, types: null, rules: [] }

/** The plan from one zone text to another at a target with the cloud's capabilities. */
export function planOf(existing: string | null, desired: string, more: Partial<PlanInput> = {}): ZonePlan {
  return makeZonePlan({
    desired: desiredZone(ORIGIN, desired),
    existing: existing === null ? null : existingZone(ORIGIN, existing),
    target: 'cloud',
    capabilities: CLOUD_CAPABILITIES,
    policy: 'sync',
    thresholds: DEFAULT_THRESHOLDS,
    allow: new Set(),
    rendered: 'match',
    servedApexNs: null,
    ...more,
  })
}

/** A change of the zone itself. */
export const zoneChange = <T extends object>(more: T) =>
  ({ subject: 'domain', name: ORIGIN, type: null, id: 1, existing: null, desired: null, fields: [], call: 0, after: [], ...more }) as const

/** Changes as text: `+ www A 192.0.2.1`, `~ www A 192.0.2.1 -> www A 192.0.2.2`; `< 0,1` lists the changes that it waits for. */
export function changesOf(plan: ZonePlan): string[] {
  return plan.changes.map((change) => {
    const after = change.after.length > 0 ? ` < ${change.after.join(',')}` : ''
    if (change.subject === 'domain') return `${change.action} zone [${change.fields.join(' ')}]${after}`
    const { existing, desired } = change
    if (existing && desired) return `~ ${text(existing)} -> ${text(desired)}${after}`
    return `${existing ? '-' : '+'} ${text((existing ?? desired) as NonNullable<RecordChange['existing']>)}${after}`
  })
}

const text = (record: NonNullable<RecordChange['existing']>): string => {
  const owner = record.name === ORIGIN ? '@' : record.name.slice(0, -ORIGIN.length - 1)
  return `${owner} ${record.ttl === null ? '' : `${record.ttl} `}${record.type} ${record.data}`
}
