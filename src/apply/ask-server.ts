import type { DomainName } from '../dns/domain-name.ts'
import type { AnswerDifference, NameServerVerification } from '../report/verification.ts'
import { createDnsClient, type DnsAnswer } from '../transport/dns-client.ts'
import type { DnsServer } from '../transport/dns-exchange.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import type { ExpectedSet } from './expected-sets.ts'

/** Differences kept for a report. */
const MAX_DIFFERENCES = 100

/** Unanswered questions after which a server is given up. */
const MAX_UNANSWERED = 3

/** A server and what it is asked as: one that has the zone, or a resolver, which finds out from those that have it, or remembers. */
export interface AskedServer {
  readonly server: DnsServer
  readonly role: 'authoritative' | 'resolver'
}

/** Holds the answers of one server against what they should be. A resolver is not asked about delegations: it says what the child has. */
export async function askServer({ server, role }: AskedServer, all: readonly ExpectedSet[]): Promise<NameServerVerification> {
  const resolves = role === 'resolver'
  const sets = resolves ? all.filter((set) => !set.referral) : all
  const client = createDnsClient(server)
  const differences: AnswerDifference[] = []
  const covered: DomainName[] = []
  let agreed = 0
  let unanswered = 0
  let failure: string | null = null
  try {
    await Promise.all(
      sets.map(async (set) => {
        if (failure !== null) return
        try {
          const answer = await client.query({ name: set.name, type: set.type, recursion: resolves })
          if (set.referral && answer.authoritative && answer.answers.length > 0) {
            covered.push(set.name)
            return
          }
          const difference = resolves ? compareResolved(set, answer) : compareAnswer(set, answer)
          if (difference === null) agreed += 1
          else if (differences.length < MAX_DIFFERENCES) differences.push(difference)
        } catch (error) {
          if (!isDnsFailure(error)) throw error
          unanswered += 1
          if (unanswered >= MAX_UNANSWERED || unanswered === sets.length) {
            failure ??= error.message
            // The other questions would wait as long each; there may be thousands.
            client.close()
          } else differences.push({ name: set.name, type: set.type, expected: set.lines, answered: [], note: error.message })
        }
      }),
    )
  } finally {
    client.close()
  }
  differences.sort((a, b) => (`${a.name} ${a.type}` < `${b.name} ${b.type}` ? -1 : 1))
  return {
    server: server.host.includes(':') ? `[${server.host}]:${server.port}` : `${server.host}:${server.port}`,
    asked: sets.length - covered.length,
    agreed,
    differences,
    covered: covered.sort(),
    failure,
  }
}

function compareAnswer(set: ExpectedSet, answer: DnsAnswer): AnswerDifference | null {
  const { name, type, referral, ttls } = set
  const section = (referral ? answer.authorities : answer.answers).filter((record) => record.name === name && record.type === type)
  const answered = section.map((record) => `${record.ttl} ${record.data}`).sort()
  const difference = (note?: string): AnswerDifference => ({ name, type, expected: set.lines, answered, note })
  if (answer.rcode !== 'NOERROR') return difference(`the server says ${answer.rcode}`)
  if (!referral && !answer.authoritative) return difference('the server answers without authority')
  const lowest = Math.min(...ttls)
  const comparable = section.map((record) => `${record.ttl !== null && ttls.has(record.ttl) ? lowest : record.ttl} ${record.data}`).sort()
  return JSON.stringify(comparable) === JSON.stringify(set.lines) ? null : difference()
}

/** What a resolver remembers has less of its TTL left, and may be what stood before. */
function compareResolved({ name, type, ttls, lines }: ExpectedSet, { rcode, answers }: DnsAnswer): AnswerDifference | null {
  const section = answers.filter((record) => record.name === name && record.type === type)
  const lineOf = new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line]))
  const answered = section.map(({ ttl, data }) => lineOf.get(data) ?? `${ttl} ${data}`).sort()
  const difference = (note?: string): AnswerDifference => ({ name, type, expected: lines, answered, note })
  if (rcode !== 'NOERROR') return difference(`the resolver says ${rcode}`)
  if (section.length === 0) return difference('the resolver has no such records')
  const wanted = [...lineOf.keys()].sort()
  const found = [...new Set(section.map(({ data }) => data))].sort()
  const longest = Math.max(...section.map(({ ttl }) => ttl ?? 0))
  if (JSON.stringify(found) !== JSON.stringify(wanted)) return difference(`the resolver keeps its answer for ${longest} s more`)
  if (longest > Math.max(...ttls)) return difference('the resolver has a longer TTL')
  return null
}
