/** Rules for values of records. */
import { txtRdataToOctets } from '../../dns/character-string.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { timestampSeconds } from '../../dns/rdata/numbers.ts'
import { digestProblem } from '../../dns/rdata/rdata-problem.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { isNewerSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { Finding, ZoneIndex } from './zone-index.ts'

/** A kind of policy in TXT records of which a name may have only one. */
interface PolicyText {
  readonly called: string
  readonly owner: RegExp
  readonly text: RegExp
}

/** RFC 7208 section 4.5, RFC 7489 section 6.6.3, RFC 8461 section 3.1, RFC 8460 section 3. */
const POLICIES: readonly PolicyText[] = [
  { called: 'SPF', owner: /^/, text: /^v=spf1(?: |$)/i },
  { called: 'DMARC', owner: /^_dmarc\./, text: /^v *= *DMARC1 *(?:;|$)/ },
  { called: 'MTA-STS', owner: /^_mta-sts\./, text: /^v=STSv1 *;/ },
  { called: 'TLS reporting', owner: /^_smtp\._tls\./, text: /^v=TLSRPTv1 *;/ },
]

/** Whether the text, with one character per octet, is a policy at this name. */
export const isPolicyText = (name: DomainName, text: string): boolean => POLICIES.some((one) => one.owner.test(name) && one.text.test(text))

/** Reports names with two policies of one kind: receivers ignore both, or refuse them (SPF, RFC 7208 section 4.5). */
export function* policyMultiple({ rrsets }: ZoneIndex): Iterable<Finding> {
  for (const set of rrsets) {
    if (set[0]?.type !== 'TXT') continue
    for (const { called, owner, text } of POLICIES) {
      if (!owner.test(set[0].name)) continue
      const [first, ...rest] = set.filter((record) => text.test(textOf(record)))
      for (const record of rest) {
        yield {
          message: `${record.name} TXT: there is more than one ${called} policy, ${called === 'SPF' ? 'which receivers treat as an error' : 'so receivers ignore them all'}`,
          at: record.at,
          hint: 'merge them into one record',
          ...(first && { related: [{ message: 'the first policy', at: first.at }] }),
        }
      }
    }
  }
}

/** Reports texts in quotation marks: in a zone file those enclose a string, here they become part of the text. */
export function* txtQuoted({ ofType }: ZoneIndex): Iterable<Finding> {
  for (const { name, data, at } of ofType('TXT')) {
    if (data.length < 6 || !data.startsWith('"\\"') || !data.endsWith('\\""')) continue
    yield {
      message: `${name} TXT: the text begins and ends with a quotation mark`,
      at,
      hint: 'remove the inner quotation marks, unless they are part of the text',
    }
  }
}

/** The text of a TXT record. Octets that are not UTF-8 become U+FFFD. */
export const textOf = ({ data }: DefinedRecord): string => Buffer.from(txtRdataToOctets(data)).toString('utf8')

/** Reports digests of the wrong length for their type: they match no key and no certificate, and BIND refuses a zone with such a DS. */
export function* digestLength({ zone }: ZoneIndex): Iterable<Finding> {
  for (const { name, type, data, at } of zone.records) {
    const problem = digestProblem(type, data)
    if (problem === null) continue
    yield {
      message: `${name} ${type}: the digest ${problem.message}`,
      at,
      hint: 'copy the whole digest, or write the type of the digest that you have',
    }
  }
}

/** The fields of RRSIG and SIG with the times. */
const EXPIRATION = 4
const INCEPTION = 5

/** Reports signatures that expire before they begin. Times are serial numbers (RFC 4034 section 3.1.5), so the order holds around 2106 too. */
export function* signatureTimes({ ofType }: ZoneIndex): Iterable<Finding> {
  for (const { name, type, data, at } of [...ofType('RRSIG'), ...ofType('SIG')]) {
    if (data.startsWith('\\#')) continue
    const fields = data.split(' ', INCEPTION + 1)
    const timeOf = (field: number): SerialNumber => serialNumber(timestampSeconds(fields[field] ?? ''))
    if (!isNewerSerial(timeOf(INCEPTION), timeOf(EXPIRATION))) continue
    yield {
      message: `${name} ${type}: the signature expires (${fields[EXPIRATION]}) before it begins (${fields[INCEPTION]}), so it is never valid`,
      at,
      hint: 'sign the zone again, or remove the signature',
    }
  }
}
