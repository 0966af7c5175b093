/** The checks of `doctor` for a PowerDNS server: connection, key, kind of server, TSIG keys and zones. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { type Provider, type ProviderCallOptions, ProviderError } from '../provider.ts'
import type { PowerDns } from './change-zone.ts'
import { keysShape, serverShape } from './powerdns-api.ts'

/** Maximum names in one finding. */
const MAX_LISTED = 5

export async function examinePowerDns(
  provider: Provider,
  { api, newZones }: PowerDns,
  usage: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  try {
    const value = await api.request({ method: 'GET', path: api.path, what: 'reading the server', ...call }, serverShape)
    if (value.program !== 'authoritative')
      return [
        {
          status: 'error',
          check: 'connection',
          message: `${provider.address} is PowerDNS ${value.program}, which has no zones to manage`,
          hint: 'set base_url to PowerDNS Authoritative',
        },
      ]
    findings.push({ status: 'ok', check: 'connection', message: `${provider.address} responds: PowerDNS Authoritative ${value.version}` })
    findings.push({ status: 'ok', check: 'token', message: 'the server accepts the key, which may change every zone' })
    findings.push(...(await missingKeys()))
    const found = await provider.findZones(usage.zones, call)
    const missing = usage.zones.filter((zone) => !found.has(zone))
    const message = `${found.size} of ${counted(usage.zones.length, 'zone exists', 'zones exist')}`
    if (usage.zones.length > 0)
      findings.push({
        status: 'ok',
        check: 'zones',
        message: missing.length === 0 ? message : `${message}; an apply would create ${listed(missing, MAX_LISTED)}`,
      })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    findings.push({ status: 'error', check: CHECKS[error.code] ?? 'connection', message: error.message, hint: error.hint })
  }
  return findings

  async function missingKeys(): Promise<DoctorFinding[]> {
    const wanted = [...newZones.primaryKeys, ...newZones.secondaryKeys]
    if (wanted.length === 0) return []
    const known = await api.request({ method: 'GET', path: `${api.path}/tsigkeys`, what: 'listing TSIG keys', ...call }, keysShape)
    return wanted
      .filter((key) => !known.includes(key.toLowerCase().replace(/\.$/, '')))
      .map((key) => ({
        status: 'error',
        check: 'config',
        message: `the server has no TSIG key ${JSON.stringify(key)}, so it can create no zone`,
        hint: 'create it with "pdnsutil import-tsig-key", or remove it from new_zones',
      }))
  }
}

const CHECKS: Readonly<Record<string, DoctorFinding['check']>> = { 'provider-unauthorized': 'token', 'provider-forbidden': 'token' }
