/** The checks of `doctor` for a PowerDNS server: connection, key, kind of server, TSIG keys and zones. */
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { createFindings, existingZones } from '../examine-zones.ts'
import type { Provider, ProviderCallOptions } from '../provider.ts'
import { reading } from '../send-request.ts'
import { missingKeys, type PowerDns } from './change-zone.ts'
import { serverShape } from './powerdns-api.ts'

export async function examinePowerDns(
  provider: Provider,
  powerDns: PowerDns,
  { zones }: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  const { address } = provider
  await attempt(async () => {
    const { program, version } = await powerDns.api.request(reading(powerDns.api.path, 'reading the server', call), serverShape)
    if (program !== 'authoritative') {
      add(
        'error',
        'connection',
        `${address} is PowerDNS ${program}, which has no zones to manage`,
        'set base_url to PowerDNS Authoritative',
      )
      return
    }
    add('ok', 'connection', `${address} responds: PowerDNS Authoritative ${version}`)
    add('ok', 'token', 'the server accepts the key, which may change every zone')
    for (const key of await missingKeys(powerDns, call)) {
      const message = `the server has no TSIG key ${JSON.stringify(key)}, so it can create no zone`
      add('error', 'config', message, 'create it with "pdnsutil import-tsig-key", or remove it from new_zones')
    }
    const found = await provider.findZones(zones, call)
    if (zones.length > 0) add('ok', 'zones', existingZones(zones, found))
  })
  return findings
}
