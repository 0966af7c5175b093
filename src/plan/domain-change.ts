/** The change to a zone itself and its settings, and the errors that speak against it. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { emailToName } from '../dns/mailbox.ts'
import type { DesiredZone, ExistingZone, Policy, ZoneSettings } from '../dns/zone.ts'
import type { Capabilities } from './capabilities.ts'
import type { DomainChange } from './plan.ts'

type Field = keyof ZoneSettings

/** Lists in which the order, and for the first also the letter case, have no meaning at the provider. */
const CASELESS_LISTS: ReadonlySet<Field> = new Set<Field>(['tags'])
const LISTS: ReadonlySet<Field> = new Set<Field>(['tags', 'axfr_ips', 'master_ips'])

/** The desired settings that differ from the existing ones. */
export const differingSettings = (existing: ZoneSettings, desired: ZoneSettings): Field[] =>
  (Object.keys(desired) as Field[])
    .filter((key) => desired[key] !== undefined && settingKey(key, existing[key]) !== settingKey(key, desired[key]))
    .sort()

function settingKey(field: Field, value: ZoneSettings[Field]): string {
  // The host of a mail address is a domain name: letter case and spelling have no meaning.
  if (field === 'soa_email' && typeof value === 'string') return JSON.stringify(emailToName(value) ?? value)
  if (!LISTS.has(field)) return JSON.stringify(value ?? null)
  const list = (value ?? []) as readonly string[]
  const items = CASELESS_LISTS.has(field) ? list.map((item) => item.toLowerCase()) : [...list]
  return JSON.stringify([...new Set(items)].sort())
}

/** The creation, update or deletion of the zone itself; null if it stays as it is. */
export function domainChange(
  name: DomainName,
  existing: ExistingZone | null,
  desired: ZoneSettings,
  absent: boolean,
  policy: Policy,
): DomainChange | null {
  const common = { subject: 'domain', name, type: null, call: 0, after: [] } as const
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

export interface DomainTarget {
  readonly desired: DesiredZone
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
}

/** Errors of a domain change that the target would refuse. */
export function domainProblems(change: DomainChange, domain: DomainTarget): Diagnostic[] {
  const { createsZones, deletesZones = createsZones } = domain.capabilities
  if (change.action === 'delete' ? !deletesZones : change.action === 'create' && !createsZones) return [fixedZones(change, domain)]
  if (change.action === 'create') return [...nameProblems(domain), ...missingSettings(change, domain)]
  return change.action === 'update' ? fixedSettings(change, domain) : []
}

/** An error at a target whose zones are created and deleted by its administrator. */
function fixedZones({ action }: DomainChange, { desired, target }: DomainTarget): Diagnostic {
  const message =
    action === 'create'
      ? `${desired.name} does not exist at ${target}, where a plan cannot create zones`
      : `${target} has ${desired.name}, and a plan cannot delete zones there`
  return { severity: 'error', code: 'zone-fixed', message, at: desired.at, hint: `${action} the zone on the server first` }
}

function nameProblems({ desired, target, capabilities }: DomainTarget): Diagnostic[] {
  if (capabilities.canCreateZone(desired.name)) return []
  const message = `${target} cannot have a zone named ${desired.name}`
  return [{ severity: 'error', code: 'zone-name', message, at: desired.at, hint: 'assign the definition to a target that can' }]
}

function missingSettings({ desired: settings }: DomainChange, { desired, target, capabilities }: DomainTarget): Diagnostic[] {
  const needed = capabilities.neededToCreate[settings?.type ?? 'master'].filter((field) => isBlank(settings?.[field]))
  return needed.map((field) => ({
    severity: 'error',
    code: 'schema-missing-key',
    message: `${desired.name} is new at ${target}, which needs ${field} to create it`,
    at: desired.at,
    hint: `set "${field}" in the definition, or under "defaults" in the config`,
  }))
}

const isBlank = (value: unknown): boolean => value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

const fixedSettings = (
  { fields, existing, desired: settings }: DomainChange,
  { desired, target, capabilities }: DomainTarget,
): Diagnostic[] =>
  fields
    .filter((field) => capabilities.fixedSettings.has(field))
    .map((field) => ({
      severity: 'error',
      code: 'setting-invalid',
      message: `${desired.name} is ${field} ${JSON.stringify(existing?.[field])} at ${target}, which cannot become ${JSON.stringify(settings?.[field])}`,
      at: desired.settingPositions?.[field] ?? desired.at,
      hint: 'delete the zone there and create it again, or keep the present value',
    }))
