/** Whether the name servers of two sides give the same answers. */
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { groupRrsets, isApexNs, type ResourceRecord } from '../../dns/record.ts'
import { typeCode } from '../../dns/record-type.ts'
import { createDnsClient, type DnsAnswer, type DnsClient } from '../../transport/dns-client.ts'
import { type DnsServer, formatServer, isDnsFailure } from '../../transport/dns-exchange.ts'

interface AnswerDifference {
  readonly name: DomainName
  readonly type: string
  readonly server: string
  /** The answer of the previous side, and of the server. */
  readonly former: string
  readonly now: string
}

type Comparison =
  | { readonly ok: true; readonly asked: number; readonly differences: readonly AnswerDifference[] }
  | { readonly ok: false; readonly message: string }

/** Maximum differences collected. */
const MAX_DIFFERENCES = 100

/**
 * Asks the first server of `former` and every server of `other` for each RRset of the zone. TTLs may differ; the apex NS records name the servers of a provider
 * and are left out, like `isLeftOut` RRsets.
 */
export async function compareSides(
  zone: DomainName,
  records: readonly ResourceRecord[],
  former: readonly DnsServer[],
  other: readonly DnsServer[],
  isLeftOut: (record: ResourceRecord) => boolean,
): Promise<Comparison> {
  const [reference] = former
  if (reference === undefined || other.length === 0) return { ok: false, message: 'a side has no name server to ask' }
  const sets = [...groupRrsets(records).values()]
    .map(([first]) => first as ResourceRecord)
    // No query can ask for a type that has no number.
    .filter((record) => !isApexNs(record, zone) && !isLeftOut(record) && typeCode(record.type) !== null)
  const clients = [reference, ...other].map((server) => ({ server, client: createDnsClient(server) }))
  const [left, ...right] = clients as [Side, ...Side[]]
  const differences: AnswerDifference[] = []
  try {
    await Promise.all(
      sets.map(async ({ name, type }) => {
        const expected = await contentOf(left.client, name, type)
        for (const { server, client } of right) {
          const found = await contentOf(client, name, type)
          if ((found.text !== expected.text || !found.isAnswer) && differences.length < MAX_DIFFERENCES)
            differences.push({ name, type, server: formatServer(server), former: expected.text, now: found.text })
        }
      }),
    )
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return { ok: false, message: error.message }
  } finally {
    for (const { client } of clients) client.close()
  }
  return { ok: true, asked: sets.length, differences }
}

interface Side {
  readonly server: DnsServer
  readonly client: DnsClient
}

interface Content {
  readonly text: string
  /** Whether the server says what the records are. Two servers that fail do not agree. */
  readonly isAnswer: boolean
}

/** The data of an answer: the records, or the response code. A referral has its records in the authority section. */
async function contentOf(client: DnsClient, name: DomainName, type: string): Promise<Content> {
  const { rcode, answers, authorities, authoritative }: DnsAnswer = await client.query({ name, type })
  if (rcode !== 'NOERROR') return { text: rcode, isAnswer: rcode === 'NXDOMAIN' }
  const isReferral = !authoritative && answers.length === 0
  if (!isReferral && !authoritative) return { text: 'no authoritative answer', isAnswer: false }
  const section = isReferral ? authorities.filter((record) => record.type === 'NS' && isAtOrBelow(name, record.name)) : answers
  const data = section.map((record) => `${record.type} ${record.data}`)
  const text = data.length === 0 ? 'no records' : `${isReferral ? 'delegation: ' : ''}${[...new Set(data)].sort().join(', ')}`
  return { text, isAnswer: !isReferral || data.length > 0 }
}
