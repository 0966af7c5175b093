/** `Stops answering` is true: NSD, asked before and after each plan, has an answer only before. */
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { type Message, rcodeName } from '../../src/dns/wire/message.ts'
import { askAll } from '../service/nameserver/comparison.ts'
import { startNsd } from '../support/dns-servers.ts'
import { ANY_DATA, ORIGIN, planOf } from '../support/plan.ts'
import { type Random, rounds, seededRandom, suiteSeed } from '../support/random.ts'
import { describeWithTools } from '../support/skip.ts'
import { isSound, isUnmanaged, randomCase, tradingCase } from '../support/zone-cases.ts'

const SOA = '@ 300 SOA ns.example.net. h.example.net. 1 7200 3600 1209600 300'
const APEX = ['@ 300 NS ns.example.net.', '@ 300 A 192.0.2.7', 'ns1 300 A 192.0.2.8']

describeWithTools(['nsd'], 'names that stop answering', () => {
  test('have an answer before a plan and none after it', async () => {
    const random = seededRandom(suiteSeed + 5)
    const plans = Array.from({ length: rounds(500) }, () => planned(random))
    const zones = plans.flatMap(({ existing, desired }, index) =>
      [existing, desired].map((text, side) => {
        const name = zoneName(index, side)
        return { name, text: `$ORIGIN ${name}.\n$TTL 300\n${SOA}\n${text}\n` }
      }),
    )
    const server = await startNsd({ zones })
    const wrong: string[] = []
    let named = 0
    for (const [index, { existing, desired, impact }] of plans.entries())
      for (const { name, types } of impact?.stopsAnswering ?? [])
        for (const type of types) {
          named += 1
          // An alias answers any type.
          const asked = type === 'CNAME' ? ANY_TYPE : [type]
          const [before, after] = (await Promise.all([0, 1].map((side) => answered(server.port, name, asked, zoneName(index, side))))) as [
            boolean[],
            boolean[],
          ]
          if (!asked.some((_, at) => before[at] && !after[at])) wrong.push(`${name} ${type}\n${existing}\n--\n${desired}`)
        }
    expect(named).toBeGreaterThan(plans.length / 2)
    expect(wrong).toEqual([])
    await server.stop()
  })
})

const NAMES = ['@', 'a', 'b', 'c', 'd.a', '*', '*.a']

function planned(random: Random) {
  for (;;) {
    const { existing, desired } = random.chance(0.6) ? randomCase(random, NAMES, 9) : tradingCase(random, NAMES)
    // No server knows ALIAS, a record of providers; NSD takes DNAME in few places; NS at a wildcard is undefined (RFC 4592 section 4.2).
    const [before, after] = [existing, [...desired, ...existing.filter(isUnmanaged)]].map((lines) => [
      ...APEX,
      ...lines.filter((line) => !/ (ALIAS|DNAME) |^\*.* NS /.test(line)),
    ]) as [string[], string[]]
    if (!isSound({ existing: before, desired: after, limit: null })) continue
    const texts = { existing: before.join('\n'), desired: after.join('\n') }
    return { ...texts, impact: planOf(texts.existing, texts.desired, { capabilities: { ...ANY_DATA, servesApexNs: true } }).impact }
  }
}

const zoneName = (index: number, side: number): string => `${'ba'[side]}${index}.test`
const ANY_TYPE = ['CNAME', 'A', 'AAAA', 'MX', 'TXT', 'SRV', 'NS']

/** Whether the name has each type, a referral, or an alias that leaves the zone. */
async function answered(port: number, name: DomainName, types: readonly string[], zone: string): Promise<boolean[]> {
  const here = `${name.slice(0, -ORIGIN.length)}${zone}.` as DomainName
  const messages = await askAll(
    port,
    types.map((type) => ({ name: here, type, size: 1232 })),
  )
  return messages.map((message, index) => hasAnswer(message, types[index] as string, zone))
}

function hasAnswer({ rcode, answers, authorities }: Message, type: string, zone: string): boolean {
  const alias = answers.findLast((record) => record.type === 'CNAME')
  // A delegation that becomes an alias is gone, also if the alias leads to other NS records.
  if (type === 'NS' && alias !== undefined) return false
  if (authorities.some((record) => record.type === 'NS' && record.name !== `${zone}.`)) return true
  if (rcodeName(rcode) !== 'NOERROR' && answers.length === 0) return false
  return answers.some((record) => record.type === type) || (alias !== undefined && !`.${alias.data}`.endsWith(`.${zone}.`))
}
