/** The checks of `doctor` for a provider class of octoDNS, which has been created already. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { type Provider, type ProviderCallOptions, ProviderError } from '../provider.ts'
import type { ClassFeatures } from './class-capabilities.ts'

/** Maximum names in one finding. */
const MAX_LISTED = 5

interface ExaminedClass {
  readonly className: string
  readonly features: ClassFeatures
  readonly createsZones: boolean
}

export async function examineClass(
  provider: Provider,
  { className, features, createsZones }: ExaminedClass,
  { zones }: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [{ status: 'ok', check: 'config', message: `${className} can be used: ${features.versions}` }]
  const add = (status: DoctorFinding['status'], check: DoctorFinding['check'], message: string, hint?: string): void =>
    void findings.push({ status, check, message, hint })
  if (features.readOnly !== null && zones.length > 0)
    add(features.isSource ? 'error' : 'warning', 'config', `no zone can be changed: ${features.readOnly.reason}`, features.readOnly.hint)
  if (zones.length === 0) {
    add('ok', 'zones', 'no selected zone is there, so nothing was read')
    return findings
  }
  try {
    const found = await provider.findZones(zones, call)
    add('ok', 'connection', `it reads ${found.size} of ${counted(zones.length, 'zone')}; nothing shows whether it may change them`)
    const missing = zones.filter((zone) => !found.has(zone))
    if (missing.length > 0 && createsZones) add('ok', 'zones', `an apply would create ${listed(missing, MAX_LISTED)}`)
    else if (missing.length > 0)
      add(
        'error',
        'zones',
        `it does not have ${listed(missing, MAX_LISTED)}`,
        'create them there, or set "creates_zones: true" if the class creates zones',
      )
    for (const zone of found.values()) {
      try {
        await provider.readZone(zone, call)
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        add('error', 'zones', error.message, error.hint)
      }
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const check = error.code === 'provider-unauthorized' || error.code === 'provider-forbidden' ? 'token' : 'connection'
    add('error', check, error.message, error.hint)
  }
  return findings
}
