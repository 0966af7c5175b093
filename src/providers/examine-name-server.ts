/** The checks of `doctor` for a name server: connection, key, and transfer of the zones that the config assigns to it. */
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import { counted, listed } from '../report/english.ts'
import { formatServer } from '../transport/dns-exchange.ts'
import type { NameServer } from './name-server.ts'
import { type Provider, ProviderError } from './provider.ts'

/** Maximum names in one finding. */
const MAX_LISTED = 5

/** What is wrong with missing zones and unsigned requests, for the hints of findings. */
export interface NameServerWords {
  /** Why unsigned requests are a risk; null if they are none. */
  readonly unsigned: string | null
  /** What to do about missing zones. */
  readonly missing: string
}

export async function examineNameServer(
  provider: Provider,
  { server: address, key }: NameServer,
  words: NameServerWords,
  usage: ProviderUsage,
): Promise<DoctorFinding[]> {
  const server = formatServer(address)
  const findings: DoctorFinding[] = []
  if (key === null && words.unsigned !== null)
    findings.push({
      status: 'warning',
      check: 'token',
      message: `requests to ${server} are not signed: ${words.unsigned}`,
      hint: 'set "tsig"',
    })
  try {
    const found = await provider.findZones(usage.zones)
    findings.push({ status: 'ok', check: 'connection', message: `${server} responds` })
    const missing = usage.zones.filter((zone) => !found.has(zone))
    if (missing.length > 0)
      findings.push({
        status: 'error',
        check: 'zones',
        message: `${server} does not have ${listed(missing, MAX_LISTED)}`,
        hint: words.missing,
      })
    for (const zone of found.values()) {
      const { records } = await provider.readZone(zone)
      findings.push({ status: 'ok', check: 'zones', message: `${zone.name}: ${counted(records.length, 'record')} by transfer` })
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    findings.push({ status: 'error', check: 'connection', message: error.message, hint: error.hint })
  }
  return findings
}
