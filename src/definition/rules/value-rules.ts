import { txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { digestProblem } from '../../dns/rdata/rdata-problem.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { ZoneIndex } from './zone-index.ts'

/** A text that is somebody's policy, and is none where a name has two. */
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

/** Who finds two of these policies at a name takes neither. */
export function policyMultiple({ rrsets }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const set of rrsets.values()) {
    if (set.length === 1 || set[0]?.type !== 'TXT') continue
    for (const { called, owner, text } of POLICIES) {
      if (!owner.test(set[0].name)) continue
      const [first, ...rest] = set.filter((record) => text.test(textOf(record)))
      for (const record of rest) {
        diagnostics.push({
          severity: 'warning',
          code: 'policy-multiple',
          message: `${record.name} has more than one ${called} policy, so that none counts`,
          at: record.at,
          hint: 'make one of them',
          ...(first && { related: [{ message: 'the first', at: first.at }] }),
        })
      }
    }
  }
  return diagnostics
}

/** In a zone file quotation marks are around a string; here they are part of the text, which is seldom meant. */
export function txtQuoted({ zone }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const { type, name, data, at } of zone.records) {
    if (type !== 'TXT' || data.length < 6 || !data.startsWith('"\\"') || !data.endsWith('\\""')) continue
    diagnostics.push({
      severity: 'warning',
      code: 'txt-quoted',
      message: `the text of the TXT record of ${name} begins and ends with a quotation mark`,
      at,
      hint: 'take the inner quotation marks away, unless they are part of the text',
    })
  }
  return diagnostics
}

const textOf = ({ data }: DefinedRecord): string => Buffer.from(txtRdataToOctets(data)).toString('latin1')

/** A digest that is longer or shorter than its type makes it fits no key and no certificate; BIND loads no zone with such a DS record. */
export function digestLength({ zone }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const { name, type, data, at } of zone.records) {
    const problem = digestProblem(type, data)
    if (problem === null) continue
    diagnostics.push({
      severity: 'warning',
      code: 'digest-length',
      message: `${name} ${type}: the digest ${problem.message}`,
      at,
      hint: 'copy all of it, or write the type that it is of',
    })
  }
  return diagnostics
}
