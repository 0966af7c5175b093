/** A batch that a service refuses because of one record: the others are changed, except at the same name and after the refused one. */
import { expect, test } from 'vitest'
import { jsonResponse } from '../scripted/base.ts'
import type { ScriptedResponse } from '../scripted/scripted-server.ts'
import type { CloudType } from '../scripted/services.ts'
import { APPLY, hostLines, startCloudScene } from './scripted-scene.ts'

const INVALID_BATCH = `<?xml version="1.0"?>
<ErrorResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Error><Type>Sender</Type><Code>InvalidChangeBatch</Code><Message>[Invalid Resource Record]</Message></Error><RequestId>1</RequestId></ErrorResponse>`

/** The other form of Route 53. */
const INVALID_BATCH_ALONE = `<?xml version="1.0"?>
<InvalidChangeBatch xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Messages><Message>Invalid Resource Record</Message></Messages><RequestId>1</RequestId></InvalidChangeBatch>`

/** How each service with batches refuses the content of one. */
const REFUSALS: readonly (readonly [type: CloudType, response: ScriptedResponse])[] = [
  ['cloudflare', jsonResponse(400, { result: null, success: false, errors: [{ code: 9005, message: 'It is invalid.' }], messages: [] })],
  ['desec', jsonResponse(400, [{}, { non_field_errors: ['Record content malformed.'] }])],
  [
    'google',
    jsonResponse(400, {
      error: { code: 400, message: 'Invalid value', errors: [{ domain: 'global', reason: 'invalid', message: 'Invalid value' }] },
    }),
  ],
  ['route53', { status: 400, headers: { 'content-type': 'text/xml' }, body: INVALID_BATCH }],
  ['route53', { status: 400, headers: { 'content-type': 'text/xml' }, body: INVALID_BATCH_ALONE }],
  ['scaleway', jsonResponse(400, { details: [], message: 'invalid argument(s)', type: 'invalid_arguments' })],
]

type ReportedChange = { readonly name: string; readonly type: string; readonly outcome: { readonly state: string } }

const DEFINITION = `${hostLines(20)}  odd: [{type: A, value: 192.0.2.1}, {type: AAAA, value: '2001:db8::1'}, {type: TXT, value: refused}]
  alias: {type: CNAME, value: odd}
`

test.each(REFUSALS)('%s', async (type, response) => {
  let isStrict = true
  const scene = await startCloudScene(type, {
    definition: DEFINITION,
    respond: ({ method, body }) => (method !== 'GET' && isStrict && body.includes('refused') ? response : undefined),
  })
  const { status, stdout, stderr } = await scene.run([...APPLY, '--format', 'json'])
  const [{ changes }] = JSON.parse(stdout).zones as [{ changes: readonly ReportedChange[] }]
  const inState = (state: string): string[] =>
    changes.flatMap(({ name, type: of, outcome }) => (outcome.state === state ? [`${name.split('.')[0]} ${of}`] : [])).sort()
  expect([status, inState('applied').length], stderr).toEqual([4, 20])
  expect([inState('failed'), inState('skipped')]).toEqual([['odd A', 'odd AAAA', 'odd TXT'], ['alias CNAME']])
  expect(scene.server.requests.filter(({ method }) => method !== 'GET').length).toBeLessThan(14)
  isStrict = false
  expect((await scene.run(APPLY)).status).toBe(0)
})
