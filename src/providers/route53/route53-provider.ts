/** A provider that reads and changes the hosted zones of an AWS account. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import { createFindings, existingZones, MAX_LISTED } from '../examine-zones.ts'
import { hostedProvider } from '../hosted-service.ts'
import { type Provider, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { route53Capabilities } from './capabilities.ts'
import { changeRecords, sendBatch } from './change-records.ts'
import { createZone, deleteZone, listingOf, readZones, referenceTo } from './hosted-zones.ts'
import { liveZone, readSets } from './live-zone.ts'
import { nameToApi } from './rdata-format.ts'
import type { Route53, Route53Options } from './route53.ts'
import { createRoute53Api, type Route53Connection } from './route53-api.ts'

export function createRoute53Provider(connection: Route53Connection, options: Route53Options): Provider {
  const route53: Route53 = { ...options, api: createRoute53Api(connection), memories: new Map() }
  const provider: Provider = hostedProvider(connection, {
    type: 'route53',
    service: 'AWS',
    capabilities: route53Capabilities(options.aliasZones, !options.isPrivate || options.vpc !== null),
    list: (call) => readZones(route53, call),
    find: (name, call) => readZones(route53, call, name),
    referenceTo,
    listing: listingOf(options),
    async read({ id, name }, call) {
      const sets = await readSets(route53.api, { id, name }, call)
      const live = liveZone(sets, name, String(id), options.aliasZones)
      route53.memories.set(String(id), live.memory)
      return { ...live, sets }
    },
    create: ({ name }, call, more) => createZone(route53, name, call, more),
    remove: (zone, { sets }, _, more) => deleteZone(route53, zone, sets, more),
    change: async (zone, { rrsets }, more) => ({ problems: await changeRecords(route53, zone, rrsets, more) }),
    close: route53.api.close,
    features: { examine: (usage, _, call) => examineRoute53(provider, route53, usage, call) },
  })
  return provider
}

/** Maximum zones whose permissions are tried. */
const MAX_TRIED = 20

const CHECKS: Readonly<Record<string, DoctorFinding['check']>> = {
  'provider-unauthorized': 'token',
  'provider-forbidden': 'grants',
}
const checkOf = (code: string): DoctorFinding['check'] => CHECKS[code] ?? 'connection'

async function examineRoute53(
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
