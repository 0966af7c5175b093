import type { PlannedRun, PlannedZone } from '../apply/plan-zones.ts'
import { isAtOrBelow } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { createDnsClient } from '../transport/dns-client.ts'
import type { DnsServer } from '../transport/dns-exchange.ts'

interface Question {
  readonly name: string
  readonly type: string
}

/** Kinds of questions that show something, by what in a zone they are about; of each the first record is taken. */
const KINDS: readonly ((record: ResourceRecord, zone: PlannedZone) => Question | null)[] = [
  // An alias inside the zone: the answer has the whole chain.
  ({ name, type, data }, { plan }) =>
    type === 'CNAME' && !name.startsWith('*') && isAtOrBelow(data as typeof name, plan.zone) ? { name, type: 'A' } : null,
  ({ name, type }) =>
    name.startsWith('*.') && (type === 'A' || type === 'CNAME') ? { name: `anything.${name.slice(2)}`, type: 'A' } : null,
  ({ name, type }) => (type === 'MX' ? { name, type } : null),
  ({ name, type }) => (type === 'PTR' ? { name, type } : null),
]

/** Asks a few telling questions about each zone over the wire, and prints each with its answer as dig would. */
export async function showAnswers({ zones }: PlannedRun, server: DnsServer, print: (text: string) => void): Promise<void> {
  const client = createDnsClient(server)
  try {
    for (const [index, { name, type }] of zones.flatMap(questionsOf).entries()) {
      const { answers, rcode } = await client.query({ name: name as ResourceRecord['name'], type })
      const lines = answers.map((record) => `  ${record.name}  ${record.ttl}  IN  ${record.type}  ${record.data}\n`)
      print(`${index === 0 ? '' : '\n'}  $ dig @${server.host} -p ${server.port} ${name} ${type}\n`)
      print(lines.length === 0 ? `  ${rcode}, no records\n` : lines.join(''))
    }
  } finally {
    client.close()
  }
}

function questionsOf(zone: PlannedZone): Question[] {
  const records = zone.existing?.records ?? []
  const found = KINDS.flatMap((kind) => {
    for (const record of records) {
      const question = kind(record, zone)
      if (question !== null) return [question]
    }
    return []
  })
  const distinct = new Map(found.map((question) => [`${question.name} ${question.type}`, question]))
  return [...distinct.values()]
}
