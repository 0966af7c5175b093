/** The checks of `doctor` for Route 53: connection, credentials, zones, and the permission to change them. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { createFindings, existingZones, MAX_LISTED } from '../examine-zones.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { sendBatch } from './change-records.ts'
import { readSets } from './live-zone.ts'
import { nameToApi } from './rdata-format.ts'
import type { Route53 } from './route53.ts'

/** Maximum zones whose permissions are tried. */
const MAX_TRIED = 20

const CHECKS: Readonly<Record<string, DoctorFinding['check']>> = {
  'provider-unauthorized': 'token',
  'provider-forbidden': 'grants',
  'provider-unknown': 'config',
}
const checkOf = (code: string): DoctorFinding['check'] => CHECKS[code] ?? 'connection'

export async function examineRoute53(
  provider: Provider,
  route53: Route53,
  { zones }: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  await attempt(async () => {
    const found = await provider.findZones(zones, call)
    add('ok', 'connection', `${provider.address} responds`)
    add('ok', 'token', 'AWS accepts the credentials')
    const missing = zones.filter((zone) => !found.has(zone))
    if (missing.length > 0 && !provider.capabilities.createsZones) {
      const message = `${found.size} of ${counted(zones.length, 'zone exists', 'zones exist')}: not ${listed(missing, MAX_LISTED)}`
      add('error', 'zones', message, 'create them, or name the VPC of new private zones under vpc')
    } else if (zones.length > 0) add('ok', 'zones', existingZones(zones, found))
    for (const zone of [...found.values()].slice(0, MAX_TRIED)) await attempt(() => tryZone(zone), checkOf)
  }, checkOf)
  return findings

  /** Reads the zone, and asks for the deletion of a record set that does not exist: Route 53 refuses it, with another error if the permission is missing. */
  async function tryZone(zone: ZoneReference): Promise<void> {
    await readSets(route53.api, zone, call, { from: zone.name, wanted: ({ name }) => name === zone.name })
    const set = {
      Name: `_zonewright-doctor.${nameToApi(zone.name)}`,
      Type: 'TXT',
      TTL: 1,
      ResourceRecords: [{ Value: '"no such record"' }],
    }
    const change = { Action: 'DELETE', ResourceRecordSet: set } as const
    await sendBatch(route53, zone, [change], `trying a change of ${zone.name} without effect`, call).catch((error: unknown) => {
      if (!(error instanceof ProviderError) || error.code !== 'provider-conflict') throw error
    })
    add('ok', 'grants', `${zone.name}: the credentials may read and change it`)
  }
}
