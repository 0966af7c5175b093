/** The checks of `doctor` for a folder of octoDNS's zone files. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { createFindings, MAX_LISTED } from '../examine-zones.ts'
import type { Provider } from '../provider.ts'
import { isWritableFolder } from '../replace-file.ts'

/** `directory`: the absolute path of the folder. */
export async function examineFolder(provider: Provider, directory: string, { zones }: ProviderUsage): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  await attempt(
    async () => {
      const found = await provider.findZones(zones)
      const { zones: all } = await provider.listZones()
      add('ok', 'connection', `${provider.address} has ${counted(all.length, 'zone file')}`)
      if (!isWritableFolder(directory))
        add('error', 'connection', `${provider.address} cannot be written`, 'give this user the permission to write into it')
      const missing = zones.filter((zone) => !found.has(zone))
      if (missing.length > 0) add('ok', 'zones', `an apply would create ${listed(missing, MAX_LISTED)}`)
      for (const zone of found.values())
        await attempt(
          async () => {
            const { readOnly } = await provider.readZone(zone)
            if (readOnly) add('warning', 'zones', `${zone.name} cannot be changed: ${readOnly.reason}`, readOnly.hint)
          },
          () => 'zones',
        )
    },
    () => 'connection',
  )
  return findings
}
