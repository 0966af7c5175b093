/** A provider package as an author outside of Zonewright writes one: zones of PowerDNS through its HTTP API, without retries. */

const SERVER = '/api/v1/servers/localhost/zones'

/** An error with the fields of a `ProviderError`. */
const failure = (code, message, more = {}) => Object.assign(new Error(message), { code, ...more })

export const provider = {
  apiVersion: 1,
  settings: {
    type: 'object',
    required: ['url', 'key'],
    properties: { url: { type: 'string' }, key: { type: 'string' }, milliseconds: { type: 'integer' } },
    additionalProperties: false,
  },
  capabilities: {
    calls: { unit: 'rrset', maxUnits: 5, maxOctets: null, atomic: true, hasPrecondition: false, createsZoneWithRecords: false },
  },
  hosts: ({ url }) => [url],
  async create({ name, settings, resolveSecret, onThrottled }) {
    const { url, milliseconds = 5000 } = settings
    const key = await resolveSecret(settings.key)

    const send = async (method, path, signal, body) => {
      const mayChange = method !== 'GET'
      const limit = AbortSignal.timeout(milliseconds)
      try {
        const answer = await fetch(url + SERVER + path, {
          method,
          headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
          body: body === undefined ? null : JSON.stringify(body),
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        })
        const text = await answer.text()
        if (answer.status === 204 && mayChange) return null
        if (answer.status === 200 && !mayChange) return JSON.parse(text)
        if (answer.status === 429) {
          onThrottled(1000)
          throw failure('provider-rate-limited', `${name}: too many requests`)
        }
        // Any other success is a gateway's, which does not say whether the server got the request.
        if (answer.status < 300 || answer.status >= 500 || answer.status === 408) throw failure('provider-failed', `${name}: status ${answer.status}`, { ambiguous: mayChange })
        throw failure('provider-rejected', `${name}: status ${answer.status}`)
      } catch (error) {
        if (typeof error.code === 'string' && error.code.startsWith('provider-')) throw error
        // The request may be on its way.
        throw failure('provider-unreachable', `${name}: no answer`, { ambiguous: mayChange, mayCompleteLater: mayChange })
      }
    }

    return {
      address: url,
      listZones: async ({ signal } = {}) => (await send('GET', '', signal)).map((zone) => ({ name: zone.name })),
      async readZone(zone, { signal } = {}) {
        const { rrsets } = await send('GET', `/${zone.name}`, signal)
        return rrsets.flatMap((rrset) =>
          rrset.type === 'SOA'
            ? []
            : rrset.records.map(({ content }) => ({ name: rrset.name, type: rrset.type, ttl: rrset.ttl, data: content })),
        )
      },
      async apply(zone, { rrsets }, { signal } = {}) {
        // PowerDNS refuses a CNAME beside a record that a later entry deletes.
        const ordered = [...rrsets.filter(({ desired }) => desired === null), ...rrsets.filter(({ desired }) => desired !== null)]
        const changed = ordered.map(({ name: owner, type, desired }) =>
          desired === null
            ? { name: owner, type, changetype: 'DELETE' }
            : { name: owner, type, ttl: desired.ttl, changetype: 'REPLACE', records: desired.data.map((content) => ({ content, disabled: false })) },
        )
        await send('PATCH', `/${zone.name}`, signal, { rrsets: changed })
        return undefined
      },
    }
  },
}
