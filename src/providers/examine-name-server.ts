/** The checks of `doctor` for a name server: connection, key, and for each zone that the config assigns to it the transfer and the permission to update it. */
import { counted, listed } from '../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import { formatServer } from '../transport/dns-exchange.ts'
import type { NameServer } from './name-server.ts'
import { type Provider, ProviderError, type ZoneReference } from './provider.ts'

/** Maximum names in one finding. */
const MAX_LISTED = 5

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
  const findings: DoctorFinding[] = []
  if (key === null && unsigned !== null)
    findings.push({
      status: 'warning',
      check: 'token',
      message: `requests to ${server} are not signed: ${unsigned}`,
      hint: 'set "tsig"',
    })
  if (usage.zones.length === 0)
    return [...findings, { status: 'ok', check: 'zones', message: 'no selected zone is there, so the server was not asked' }]
  let found: ReadonlyMap<string, ZoneReference>
  try {
    found = await provider.findZones(usage.zones)
  } catch (error) {
    return [...findings, failed(error, 'token')]
  }
  findings.push({ status: 'ok', check: 'connection', message: `${server} responds` })
  const missing = usage.zones.filter((zone) => !found.has(zone))
  if (missing.length > 0)
    findings.push({ status: 'error', check: 'zones', message: `${server} does not have ${listed(missing, MAX_LISTED)}`, hint: missingHint })
  for (const zone of found.values()) {
    try {
      const { records } = await provider.readZone(zone)
      findings.push({ status: 'ok', check: 'zones', message: `${zone.name}: ${counted(records.length, 'record')} by transfer` })
    } catch (error) {
      findings.push(failed(error, 'grants'))
    }
    try {
      await tryUpdate?.(zone)
      const message = tryUpdate === null ? 'can only be read' : 'the server accepts updates'
      findings.push({ status: 'ok', check: 'grants', message: `${zone.name}: ${message}` })
    } catch (error) {
      findings.push(failed(error, 'grants'))
    }
  }
  return findings
}

const REFUSALS: ReadonlySet<string> = new Set(['provider-unauthorized', 'provider-forbidden', 'provider-rejected'])

/** The finding of a failure. `refused`: the check that a refusal belongs to. Throws any error that is not a `ProviderError`. */
function failed(error: unknown, refused: DoctorFinding['check']): DoctorFinding {
  if (!(error instanceof ProviderError)) throw error
  const { code, message, hint } = error
  return { status: 'error', check: REFUSALS.has(code) ? refused : 'connection', message, hint }
}
