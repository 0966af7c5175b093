/** The checks of `doctor` for Route 53: connection, credentials, zones, and the permission to change them. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { sendBatch } from './change-records.ts'
import { readSets } from './live-zone.ts'
import { nameToApi } from './rdata-format.ts'
import type { Route53 } from './route53.ts'

/** Maximum names in one finding, and zones whose permissions are tried. */
const MAX_LISTED = 5
const MAX_TRIED = 20

export async function examineRoute53(
  provider: Provider,
  route53: Route53,
  usage: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  try {
    const found = await provider.findZones(usage.zones, call)
    findings.push({ status: 'ok', check: 'connection', message: `${provider.address} responds` })
    findings.push({ status: 'ok', check: 'token', message: 'AWS accepts the credentials' })
    const missing = usage.zones.filter((zone) => !found.has(zone))
    if (usage.zones.length > 0) findings.push(zonesFinding(found.size, usage.zones.length, missing, provider))
    for (const zone of [...found.values()].slice(0, MAX_TRIED)) findings.push(...(await tryZone(route53, zone, call)))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    findings.push(findingOf(error))
  }
  return findings
}

function zonesFinding(found: number, all: number, missing: readonly string[], { capabilities }: Provider): DoctorFinding {
  const message = `${found} of ${counted(all, 'zone exists', 'zones exist')}`
  if (missing.length === 0) return { status: 'ok', check: 'zones', message }
  if (capabilities.createsZones)
    return { status: 'ok', check: 'zones', message: `${message}; an apply would create ${listed(missing, MAX_LISTED)}` }
  const hint = 'create them, or name the VPC of new private zones under vpc'
  return { status: 'error', check: 'zones', message: `${message}: not ${listed(missing, MAX_LISTED)}`, hint }
}

const CHECKS: Readonly<Record<string, DoctorFinding['check']>> = {
  'provider-unauthorized': 'token',
  'provider-forbidden': 'grants',
  'provider-unknown': 'config',
}

const findingOf = ({ code, message, hint }: ProviderError): DoctorFinding => ({
  status: 'error',
  check: CHECKS[code] ?? 'connection',
  message,
  hint,
})

/** Reads the zone, and asks for the deletion of a record set that does not exist: Route 53 refuses it, with another error if the permission is missing. */
async function tryZone(route53: Route53, zone: ZoneReference, call?: ProviderCallOptions): Promise<DoctorFinding[]> {
  try {
    await readSets(route53.api, zone, call, { from: zone.name, wanted: ({ name }) => name === zone.name })
    const set = {
      Name: `_zonewright-doctor.${nameToApi(zone.name)}`,
      Type: 'TXT',
      TTL: 1,
      ResourceRecords: [{ Value: '"no such record"' }],
    }
    await sendBatch(route53, zone, [{ Action: 'DELETE', ResourceRecordSet: set }], `trying a change of ${zone.name} without effect`, call)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (error.code !== 'provider-conflict') return [findingOf(error)]
  }
  return [{ status: 'ok', check: 'grants', message: `${zone.name}: the credentials may read and change it` }]
}
