/** The scripted Route 53 answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import { readRecordSet } from './record-sets.ts'
import { createRoute53 } from './service.ts'
import { elementAt, parseXml, textAt, xmlToJson } from './xml.ts'

const KEY = 'AKIAIOSFODNN7EXAMPLE'

const PATTERNS: Readonly<Record<string, RegExp>> = {
  Id: /^\/(?:change\/C|hostedzone\/Z)[A-Z0-9]{20}$/,
  SubmittedAt: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  RequestId: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
}

replayTests({
  name: 'route53',
  size: [28, 124],
  generated: { pattern: (field) => PATTERNS[field] ?? null, parse: xmlToJson },
  last: ['test_provider_authenticate_private_zone_false', 'test_provider_authenticate_private_zone_only'],
  seed(cases) {
    const exchanges = cases.flatMap((one) => one.exchanges)
    const read = (element: string) => {
      const { response } = exchanges.find(
        (one) => one.status === 200 && one.response.includes(`<${element}>`),
      ) as (typeof exchanges)[number]
      return elementAt(parseXml(response), element)
    }
    const zone = elementAt(read('HostedZones'), 'HostedZone')
    const id = (textAt(zone, 'Id') ?? '').replace('/hostedzone/', '')
    const name = textAt(zone, 'Name') ?? ''
    const all = (read('ResourceRecordSets')?.children ?? []).map((element) => readRecordSet(element, name))
    const { service } = createRoute53({
      key: { id: KEY, secret: null },
      zones: [
        {
          id,
          name,
          callerReference: textAt(zone, 'CallerReference') ?? '',
          comment: textAt(zone, 'Config', 'Comment') ?? '',
          sets: all.filter((set) => set.name !== name),
        },
      ],
    })
    const authorization = `AWS4-HMAC-SHA256 Credential=${KEY}/20220419/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=00`
    return { service, headers: { authorization }, shared: [`/hostedzone/${id}`] }
  },
})
