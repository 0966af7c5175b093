/** The checks of `doctor` for a name server: connection, key, and for each zone that the config assigns to it the transfer and the permission to update it. */
import { counted, listed } from '../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import { formatServer } from '../transport/dns-exchange.ts'
import { createFindings, MAX_LISTED } from './examine-zones.ts'
import type { NameServer } from './name-server.ts'
import type { Provider, ZoneReference } from './provider.ts'

/** What differs between providers that talk to one name server. */
export interface NameServerChecks {
  /** Why unsigned requests are a risk; null if they are none. */
  readonly unsigned: string | null
  /** What to do about missing zones. */
  readonly missing: string
  /** Throws a `ProviderError` if the server refuses updates of the zone; null if the provider only reads. Changes nothing. */
  readonly tryUpdate: ((zone: ZoneReference) => Promise<void>) | null
}

export async function examineNameServer(
  provider: Provider,
  { server: address, key }: NameServer,
  { unsigned, missing: missingHint, tryUpdate }: NameServerChecks,
  usage: ProviderUsage,
): Promise<DoctorFinding[]> {
  const server = formatServer(address)
  const { findings, add, attempt } = createFindings()
  if (key === null && unsigned !== null) add('warning', 'token', `requests to ${server} are not signed: ${unsigned}`, 'set "tsig"')
  if (usage.zones.length === 0) {
    add('ok', 'zones', 'no selected zone is there, so the server was not asked')
    return findings
  }
  await attempt(async () => {
    const found = await provider.findZones(usage.zones)
    add('ok', 'connection', `${server} responds`)
    const missing = usage.zones.filter((zone) => !found.has(zone))
    if (missing.length > 0) add('error', 'zones', `${server} does not have ${listed(missing, MAX_LISTED)}`, missingHint)
    for (const zone of found.values()) {
      await attempt(async () => {
        const { records } = await provider.readZone(zone)
        add('ok', 'zones', `${zone.name}: ${counted(records.length, 'record')} by transfer`)
      }, refusalIs('grants'))
      await attempt(async () => {
        await tryUpdate?.(zone)
        add('ok', 'grants', `${zone.name}: ${tryUpdate === null ? 'can only be read' : 'the server accepts updates'}`)
      }, refusalIs('grants'))
    }
  }, refusalIs('token'))
  return findings
}

const REFUSALS: ReadonlySet<string> = new Set(['provider-unauthorized', 'provider-forbidden', 'provider-rejected'])

const refusalIs =
  (check: DoctorFinding['check']) =>
  (code: string): DoctorFinding['check'] =>
    REFUSALS.has(code) ? check : 'connection'
