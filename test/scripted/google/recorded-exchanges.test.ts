/** The scripted Cloud DNS answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import type { GoogleRrset } from './rrsets.ts'
import { createGoogle, type GoogleZone } from './service.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

replayTests({
  name: 'googleclouddns',
  size: [26, 129],
  generated: { pattern: (field) => (field === 'startTime' ? TIME : null) },
  seed(cases) {
    const exchanges = cases.flatMap((one) => one.exchanges)
    const answers = exchanges.map(({ response }) => JSON.parse(response))
    const [first] = exchanges
    const zones = answers[0].managedZones as readonly GoogleZone[]
    const [zone] = zones
    const [list] = answers.flatMap((answer) => (answer.rrsets?.length > 1 ? [answer.rrsets as readonly GoogleRrset[]] : []))
    const { service } = createGoogle({
      project: /projects\/([^/]+)/.exec(first?.uri ?? '')?.[1] ?? '',
      token: 'test-token',
      zones,
      rrsets: new Map([[zone?.id ?? '', (list ?? []).slice(0, 2)]]),
      firstChange: Number(answers.find(({ kind }) => kind === 'dns#change').id),
    })
    return { service, headers: { authorization: 'Bearer test-token' }, shared: [] }
  },
})
