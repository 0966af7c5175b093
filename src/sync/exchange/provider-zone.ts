import type { Config } from '../../definitions/config.ts'
import { presentationTokens } from '../../formats/definition/presentation-tokens.ts'
import { isMailAddress } from '../../formats/definition/read-settings.ts'
import type { Diagnostic } from '../../model/diagnostic.ts'
import { type DomainName, labelsOf, parseDomainName } from '../../model/domain-name.ts'
import type { ExchangedRecord, ImportedZone, LostItem, ZoneComment } from '../../model/exchange.ts'
import { parseIpv4, parseIpv6 } from '../../model/ip-address.ts'
import { canonicalRdata } from '../../model/rdata/canonical.ts'
import { type ExistingRecord, recordKey } from '../../model/record.ts'
import type { Ttl } from '../../model/ttl.ts'
import { type ExistingZone, ZONE_SETTINGS, type ZoneSettings } from '../../model/zone.ts'

export interface ProviderZone {
  readonly zone: ImportedZone
  readonly lost: readonly LostItem[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * A zone as a provider holds it, to be defined so that a plan of the definition is empty: what the config's defaults would add is said
 * otherwise, what is said by saying nothing is left out.
 */
export function zoneOfProvider(existing: ExistingZone, config: Pick<Config, 'defaults'>): ProviderZone {
  const { name } = existing
  const { settings, lost } = definable(name, settingsOf(existing.settings, config.defaults.settings))
  // The records of a slave are its master's.
  if (settings.type === 'slave') return { zone: { name, settings, records: [] }, lost, diagnostics: [] }
  const records: ExchangedRecord[] = []
  const diagnostics: Diagnostic[] = []
  const known = new Set<string>()
  for (const record of existing.records) {
    const key = recordKey(record)
    if (!isDefinable(record))
      lost.push({ zone: name, name: record.name, type: record.type, what: `data that are not valid: ${record.data}` })
    else if (known.has(key)) diagnostics.push(duplicate(name, record))
    else records.push({ name: record.name, type: record.type, ttl: ttlOf(record, config.defaults.ttl), data: record.data })
    known.add(key)
  }
  return { zone: { name, settings, records, comments: guesses(records) }, lost, diagnostics }
}

/** Without a TTL a record would get the config's; 0 is no TTL of its own either, where there are defaults. */
const ttlOf = ({ ttl }: ExistingRecord, defaultTtl: Ttl | null): Ttl | null => (ttl === null && defaultTtl !== null ? (0 as Ttl) : ttl)

function settingsOf(existing: ZoneSettings, defaults: ZoneSettings): ZoneSettings {
  const settings = Object.fromEntries(
    ZONE_SETTINGS.flatMap((key) => {
      const value = existing[key]
      return value === undefined || (isUnsaid(key, value) && defaults[key] === undefined) ? [] : [[key, value]]
    }),
  ) as ZoneSettings
  // An empty address cannot be said.
  const { soa_email: email, ...others } = settings
  return email === '' || email === undefined ? others : settings
}

/** Settings without what is neither a mail address nor an address: providers may have taken it from somebody who did not look. */
function definable(zone: DomainName, settings: ZoneSettings): { readonly settings: ZoneSettings; readonly lost: LostItem[] } {
  const { soa_email: email, axfr_ips: addresses, ...others } = settings
  const lose = (key: string, value: string): LostItem => ({ zone, name: null, type: null, what: `the setting ${key}: ${value}` })
  const isMail = email === undefined || isMailAddress(email)
  const strange = addresses?.filter((text) => !parseIpv4(text).ok && !parseIpv6(text).ok) ?? []
  const lost = [...(isMail ? [] : [lose('soa_email', email)]), ...strange.map((text) => lose('axfr_ips', text))]
  if (lost.length === 0) return { settings, lost }
  const sound = addresses?.filter((text) => !strange.includes(text))
  return { settings: { ...others, ...(isMail && email !== undefined && { soa_email: email }), ...(sound && { axfr_ips: sound }) }, lost }
}

function isUnsaid(key: keyof ZoneSettings, value: unknown): boolean {
  if (key === 'type') return value === 'master'
  if (key === 'status') return value === 'active'
  return value === '' || value === 0 || (Array.isArray(value) && value.length === 0)
}

/** Whether the record is one that a definition can have: providers may hold what is no record of the DNS. */
function isDefinable({ type, data }: ExistingRecord): boolean {
  const tokens = presentationTokens(data)
  const canonical = tokens.ok ? canonicalRdata(type, tokens.value, (text) => parseDomainName(text)) : tokens
  return canonical.ok && canonical.value === data
}

const duplicate = (zone: DomainName, { name, type }: ExistingRecord): Diagnostic => ({
  severity: 'warning',
  code: 'surplus-duplicate',
  message: `${zone} holds ${name} ${type} more than once; the definition has it once, and a plan will remove the others`,
})

const ACME = '_acme-challenge'

/** Words about records that are perhaps somebody else's, with the setting that leaves them alone. */
function guesses(records: readonly ExchangedRecord[]): ZoneComment[] {
  const isChallenge = ({ type, name }: ExchangedRecord): boolean =>
    type === 'TXT' && Buffer.from(labelsOf(name)[0] ?? []).toString('latin1') === ACME
  if (!records.some(isChallenge)) return []
  const text = `Records at ${ACME} are mostly those of a certificate client. If they are, take them out of "records"
and the number sign off this line, and they are never touched and never counted:
unmanaged: [{name: '${ACME}*', type: TXT}]`
  return [{ name: null, text }]
}
