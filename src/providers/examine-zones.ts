/** The checks of `doctor` for services with a token: the connection, the token, and which zones it may read. Nothing shows whether it may change them. */
import { counted, listed } from '../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../dns/doctor-finding.ts'
import { type Provider, type ProviderCallOptions, ProviderError } from './provider.ts'

/** Maximum names in one finding. */
const MAX_LISTED = 5

export interface ExaminedService {
  readonly service: string
  /** Advice about zones that the token may not read, and that an apply creates if the provider can. */
  readonly missing?: string | undefined
}

export async function examineZones(
  provider: Provider,
  usage: ProviderUsage,
  { service, missing: advice }: ExaminedService,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  try {
    const found = await provider.findZones(usage.zones, call)
    if (usage.zones.length === 0) await provider.listZones(call)
    findings.push({ status: 'ok', check: 'connection', message: `${provider.address} responds` })
    findings.push({ status: 'ok', check: 'token', message: `${service} accepts the token` })
    const missing = usage.zones.filter((zone) => !found.has(zone))
    const message = `the token may read ${found.size} of ${counted(usage.zones.length, 'zone')}`
    if (missing.length > 0 && provider.capabilities.createsZones)
      findings.push({
        status: 'ok',
        check: 'zones',
        message: `${message}; an apply would create ${listed(missing, MAX_LISTED)}`,
        hint: advice,
      })
    else if (missing.length > 0)
      findings.push({ status: 'error', check: 'zones', message: `${message}: not ${listed(missing, MAX_LISTED)}`, hint: advice })
    else if (usage.zones.length > 0) findings.push({ status: 'ok', check: 'zones', message })
    const [zone] = found.values()
    if (zone !== undefined) await provider.readZone(zone, call)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const check = error.code === 'provider-unauthorized' || error.code === 'provider-forbidden' ? 'token' : 'connection'
    findings.push({ status: 'error', check, message: error.message, hint: error.hint })
  }
  return findings
}
