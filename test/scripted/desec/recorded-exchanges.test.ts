/** The scripted deSEC answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import type { DesecRrset } from './rrsets.ts'
import { createDesec } from './service.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const DOMAIN = 'desec.lexicon'

replayTests({
  name: 'desec',
  size: [26, 123],
  generated: {
    pattern: (field) => (field === 'created' || field === 'touched' ? TIME : null),
    isUnordered: (field) => field === 'records',
  },
  // The recording has no content of the domain, which has keys.
  isRemoved: ({ uri, response }) => uri.endsWith(`/domains/${DOMAIN}/`) && response === '{}',
  seed(cases) {
    const lists = cases.flatMap(({ exchanges }) =>
      exchanges
        .filter(({ method, uri }) => method === 'GET' && uri.endsWith('/rrsets//'))
        .map(({ response }) => JSON.parse(response) as DesecRrset[]),
    )
    // The only RRset that no client created.
    const rrsets = (lists[0] ?? []).filter(({ type, subname }) => type === 'NS' && subname === '')
    const { service } = createDesec({ token: 'test-token', domains: [{ name: DOMAIN, rrsets }] })
    return {
      service,
      headers: { authorization: 'Token test-token' },
      shared: rrsets.flatMap(({ created, touched }) => [created, touched]),
    }
  },
})
