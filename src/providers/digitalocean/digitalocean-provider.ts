/** A provider that reads and changes the domains of a DigitalOcean account. */
import { nullIfMissing } from '../api-errors.ts'
import { hostedProvider, snapshotOf } from '../hosted-service.ts'
import type { ApiConnection } from '../json-api.ts'
import type { Provider } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone } from '../zone-lists.ts'
import { DIGITALOCEAN_CAPABILITIES } from './capabilities.ts'
import { changeRecord, createDomain, type DigitalOcean, deleteDomain } from './change-record.ts'
import { createDigitalOceanApi, domainShape, PER_PAGE } from './digitalocean-api.ts'
import { findDomain, readRecords } from './live-zone.ts'

/** Owners whose records are read one by one. For more, the whole domain is read. */
const MAX_SINGLE_OWNERS = 10

export function createDigitalOceanProvider(connection: ApiConnection): Provider {
  const api = createDigitalOceanApi(connection)
  const digitalOcean: DigitalOcean = { api, name: connection.provider, created: new Map() }
  const list = { key: 'domains', perPage: PER_PAGE, shape: domainShape, idOf: ({ name }: { name: string }) => name }
  return hostedProvider(connection, {
    type: 'digitalocean',
    service: 'DigitalOcean',
    missing: 'the token needs domain:create for that',
    capabilities: DIGITALOCEAN_CAPABILITIES,
    list: (options) => api.list(reading('/domains', 'listing domains', options), list),
    find: (zone, options) => findDomain(api, zone, options),
    referenceTo: (_, name) => masterZone(name),
    read: (zone, options) => readRecords(api, zone, {}, options),
    create: ({ name }, _, options) => createDomain(digitalOcean, name, options),
    remove: (zone, _, __, options) => deleteDomain(digitalOcean, zone, options),
    change: (zone, call, options) => changeRecord(digitalOcean, zone, call, options),
    close: api.close,
    features: {
      async readNamedZone(name, options) {
        if (name === '.') return null
        const zone = masterZone(name)
        return nullIfMissing(readRecords(api, zone, {}, options).then((live) => snapshotOf(zone, live)))
      },
      async findRecords(zone, like, options) {
        const owners = [...new Set(like.map((record) => record.name))]
        const filters = owners.length > MAX_SINGLE_OWNERS ? [{}] : owners.map((name) => ({ name }))
        return (await Promise.all(filters.map((filter) => readRecords(api, zone, filter, options)))).flatMap(({ records }) => records)
      },
    },
  })
}
