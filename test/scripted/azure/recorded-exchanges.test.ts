/** The scripted Azure DNS answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import type { Fields } from '../base.ts'
import type { RecordSet } from './record-sets.ts'
import { createAzure } from './service.ts'

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

interface Recorded {
  readonly name: string
  readonly type: string
  readonly etag: string
  readonly properties: Fields & { readonly TTL: number }
}

replayTests({
  name: 'azure',
  size: [26, 129],
  generated: { pattern: (field) => (field === 'etag' ? UUID : null) },
  seed(cases) {
    const exchanges = cases.flatMap((one) => one.exchanges)
    const lists = exchanges.flatMap(({ method, response }) => (method === 'GET' ? [JSON.parse(response).value as readonly Recorded[]] : []))
    const [zone] = lists[0] ?? []
    const sets = (lists.find((list) => list.some(({ type }) => type.endsWith('/SOA'))) ?? []).slice(0, 2).map((set): RecordSet => {
      const type = set.type.split('/').at(-1) ?? ''
      const records = type === 'SOA' ? [set.properties['SOARecord'] as Fields] : (set.properties['NSRecords'] as readonly Fields[])
      return { name: set.name, type, etag: set.etag, ttl: set.properties.TTL, records, metadata: undefined, targetResource: {} }
    })
    const [, subscription = '', resourceGroup = ''] = /subscriptions\/([^/]+)\/resourceGroups\/([^/]+)/.exec(exchanges[0]?.uri ?? '') ?? []
    const { service } = createAzure({
      subscription,
      resourceGroup,
      token: 'test-token',
      zones: [{ name: zone?.name ?? '', etag: zone?.etag ?? '', sets }],
    })
    const shared = [zone?.etag ?? '', ...sets.map(({ etag }) => etag)]
    return { service, headers: { authorization: 'Bearer test-token' }, shared }
  },
})
