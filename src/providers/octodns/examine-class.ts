/** The checks of `doctor` for a provider class of octoDNS, which has been created already. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { createFindings, MAX_LISTED } from '../examine-zones.ts'
import type { Provider, ProviderCallOptions } from '../provider.ts'
import type { ClassFeatures } from './class-capabilities.ts'

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
  const { findings, add, attempt } = createFindings()
  add('ok', 'config', `${className} can be used: ${features.versions}`)
  if (features.readOnly !== null && zones.length > 0)
    add(features.isSource ? 'error' : 'warning', 'config', `no zone can be changed: ${features.readOnly.reason}`, features.readOnly.hint)
  if (zones.length === 0) {
    add('ok', 'zones', 'no selected zone is there, so nothing was read')
    return findings
  }
  await attempt(async () => {
    const found = await provider.findZones(zones, call)
    add('ok', 'connection', `it reads ${found.size} of ${counted(zones.length, 'zone')}; nothing shows whether it may change them`)
    const missing = zones.filter((zone) => !found.has(zone))
    if (missing.length > 0 && createsZones) add('ok', 'zones', `an apply would create ${listed(missing, MAX_LISTED)}`)
    else if (missing.length > 0) {
      const hint = 'create them there, or set "creates_zones: true" if the class creates zones'
      add('error', 'zones', `it does not have ${listed(missing, MAX_LISTED)}`, hint)
    }
    for (const zone of found.values())
      await attempt(
        async () => void (await provider.readZone(zone, call)),
        () => 'zones',
      )
  })
  return findings
}
