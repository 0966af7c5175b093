import type { DomainName } from '../dns/domain-name.ts'
import { emailToName } from '../dns/mailbox.ts'
import type { ExistingZone, Policy, ZoneSettings } from '../dns/zone.ts'
import type { DomainChange } from './plan.ts'

type Field = keyof ZoneSettings

/** Lists whose order and letter case carry no meaning at the provider. */
const CASELESS_LISTS: ReadonlySet<Field> = new Set<Field>(['tags'])
const LISTS: ReadonlySet<Field> = new Set<Field>(['tags', 'axfr_ips', 'master_ips'])

/** The settings that differ between what a zone has and what it should have. What is not desired is not compared. */
export function differingSettings(existing: ZoneSettings, desired: ZoneSettings): Field[] {
  const fields: Field[] = []
  for (const key of Object.keys(desired) as Field[]) {
    const wanted = desired[key]
    if (wanted === undefined) continue
    if (settingKey(key, existing[key]) !== settingKey(key, wanted)) fields.push(key)
  }
  return fields.sort()
}

function settingKey(field: Field, value: ZoneSettings[Field]): string {
  // The host of an address is a domain name: its case and form carry no meaning.
  if (field === 'soa_email' && typeof value === 'string') return JSON.stringify(emailToName(value) ?? value)
  if (!LISTS.has(field)) return JSON.stringify(value ?? null)
  const list = (value ?? []) as readonly string[]
  const items = CASELESS_LISTS.has(field) ? list.map((item) => item.toLowerCase()) : [...list]
  return JSON.stringify([...new Set(items)].sort())
}

/** The change to the zone itself: creation, update of what differs, deletion, or none. */
export function domainChange(
  name: DomainName,
  existing: ExistingZone | null,
  desired: ZoneSettings,
  absent: boolean,
  policy: Policy,
): DomainChange | null {
  const common = { subject: 'domain', name, type: null, after: [] } as const
  if (existing === null) {
    if (absent) return null
    const created: ZoneSettings = { type: 'master', ...desired }
    return { ...common, action: 'create', id: null, existing: null, desired: created, fields: Object.keys(created).sort() as Field[] }
  }
  const id = existing.id ?? null
  if (absent && policy !== 'sync') return null
  if (absent) return { ...common, action: 'delete', id, existing: existing.settings, desired: null, fields: [] }
  const fields = differingSettings(existing.settings, desired)
  if (fields.length === 0 || policy === 'create-only') return null
  return { ...common, action: 'update', id, existing: pick(existing.settings, fields), desired: pick(desired, fields), fields }
}

const pick = (settings: ZoneSettings, fields: readonly Field[]): ZoneSettings =>
  Object.fromEntries(fields.map((field) => [field, settings[field]]))
