/** Looks up SPF records. */
import { failure, ok, type Result } from '../base/result.ts'
import { parseTxtRdata } from '../dns/character-string.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { ServerAddress } from '../dns/server-address.ts'
import { queryDns } from './dns-client.ts'
import { isDnsFailure } from './dns-exchange.ts'

/** The SPF record of a name (RFC 7208 section 4.5), from the first resolver that answers. A failure is worded to follow the name. */
export async function querySpf(name: DomainName, resolvers: readonly ServerAddress[]): Promise<Result<string>> {
  let problem = 'cannot be queried: this machine has no resolver'
  for (const resolver of resolvers) {
    try {
      const { rcode, answers } = await queryDns(resolver, { name, type: 'TXT', recursion: true })
      if (rcode !== 'NOERROR') {
        problem = `was answered with ${rcode} by ${resolver.host}`
        continue
      }
      const texts = answers.flatMap(({ type, data }) => (type === 'TXT' ? Buffer.from(parseTxtRdata(data) ?? []).toString('utf8') : []))
      const [record, ...more] = texts.filter((text) => /^v=spf1(?: |$)/i.test(text))
      if (record === undefined) return failure('has no SPF record')
      return more.length > 0 ? failure('has several SPF records') : ok(record)
    } catch (error) {
      if (!isDnsFailure(error)) throw error
      problem = `cannot be queried: ${error.message}`
    }
  }
  return failure(problem)
}
