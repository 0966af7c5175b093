/** The checks of `doctor` for a name server: connection, key, and transfer of the zones that the config assigns to it. */
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { counted, listed } from '../../report/english.ts'
import { type Provider, ProviderError } from '../provider.ts'

/** Maximum names in one finding. */
const MAX_LISTED = 5

export async function examineServer(provider: Provider, server: string, isSigned: boolean, usage: ProviderUsage): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  if (!isSigned)
    findings.push({
      status: 'warning',
      check: 'token',
      message: `requests to ${server} are not signed: anybody who can send from this address can change the zones`,
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
        hint: 'create the zones on the server: dynamic update cannot',
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
