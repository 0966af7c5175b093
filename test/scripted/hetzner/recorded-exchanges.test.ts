/** The scripted Hetzner answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import type { HetznerRrset } from './rrsets.ts'
import { createHetzner } from './service.ts'
import type { HetznerZone } from './zones.ts'

const TIMED: Readonly<Record<string, RegExp>> = {
  started: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  finished: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  'ratelimit-remaining': /^\d{1,4}$/,
  'ratelimit-reset': /^\d{10}$/,
}

interface Body {
  readonly zone: HetznerZone
  readonly rrsets: readonly HetznerRrset[]
  readonly action: { readonly id: number; readonly progress: number }
}

replayTests({
  name: 'hetzner',
  size: [23, 360],
  generated: {
    pattern: (field, value) => (field === 'id' && typeof value === 'number' ? /^\d+$/ : null),
    timed: (field) => TIMED[field] ?? null,
  },
  seed(cases) {
    const exchanges = cases.flatMap((one) => one.exchanges).map((one) => ({ ...one, body: JSON.parse(one.response) as Body }))
    const [first] = exchanges
    if (first === undefined) throw new Error('the recording is empty')
    const { zone } = first.body
    const pathOf = ({ uri }: { readonly uri: string }): string => new URL(uri).pathname + new URL(uri).search
    const changes = exchanges.filter(({ method }) => method !== 'GET')
    const created = new Set(changes.map((one) => pathOf(one).split('/').slice(5, 7).join('/')))
    const list = exchanges.findIndex((one) => pathOf(one) === `/v1/zones/${zone.id}/rrsets`)
    const before = exchanges.slice(0, list).filter(({ method }) => method !== 'GET').length
    const rrsets = (exchanges[list]?.body.rrsets ?? [])
      .filter(({ id }) => !created.has(id))
      .map((rrset) => {
        if (rrset.type !== 'SOA') return rrset
        // Each change has raised the serial by one.
        const records = rrset.records.map((one) => ({
          ...one,
          value: one.value.replace(/\d{10}/, (serial) => String(Number(serial) - before)),
        }))
        return { ...rrset, records }
      })
    /** The progress that the reads of each action showed, the last one excepted, which showed its end. */
    const steps = changes.map(({ body: { action } }) =>
      exchanges
        .filter(({ method, body }) => method === 'GET' && body.action?.id === action.id)
        .map(({ body }) => body.action.progress)
        .slice(0, -1),
    )
    const { service } = createHetzner({ token: 'test-token', zones: [zone], rrsets, stepsOf: (_, count) => steps[count] ?? [] })
    return { service, headers: { authorization: 'Bearer test-token' }, shared: [zone.id] }
  },
})
