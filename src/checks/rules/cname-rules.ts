/** Rules for CNAME records. */
import type { DomainName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { type DefinedRecord, mayBeBesideCname } from '../../dns/record.ts'
import type { Finding, ZoneIndex } from './zone-index.ts'

/** Types allowed at the name of a CNAME: the DNSSEC types (RFC 4034 sections 3 and 4, RFC 2535 section 2.3.5). */
const ALLOWED_WITH_CNAME: ReadonlySet<string> = new Set(['CNAME', 'RRSIG', 'NSEC', 'KEY', 'TYPE46', 'TYPE47', 'TYPE25'])

/**
 * Reports names that have a CNAME and other records (RFC 1034 section 3.6.2, RFC 2181 section 10.1). Records that Cloudflare allows beside a proxied CNAME
 * are accepted here; plans refuse them at all other targets.
 */
export function* cnameNotAlone({ zone, byName, cnames }: Pick<ZoneIndex, 'zone' | 'byName' | 'cnames'>): Iterable<Finding> {
  for (const [name, cname] of cnames) {
    const settings = cname.settings ?? cname.providerSettings?.['cloudflare']
    const others = (byName.get(name) ?? []).filter(({ type }) => !ALLOWED_WITH_CNAME.has(type) && !mayBeBesideCname(type, { settings }))
    const first = others[0]
    if (!first) continue
    const types = [...new Set(others.map((record) => record.type))].sort().join(', ')
    const [also, instead] =
      name === zone.name ? [', and the apex has SOA and NS records', AT_APEX] : ['', 'move the other records to its target']
    yield {
      message: `${name} cannot have a CNAME and also ${types} records: a CNAME must be alone at its name${also}`,
      at: cname.at,
      hint: `remove the CNAME, or ${instead}`,
      related: [{ message: `the ${first.type} record`, at: first.at }],
    }
  }
}

const AT_APEX = 'replace it and any A and AAAA records by an ALIAS if the target supports it'

/** Reports a CNAME at the apex, which always has SOA and NS records. `cnameNotAlone` reports one beside other records. */
export function* cnameAtApex({ zone, byName, cnames }: ZoneIndex): Iterable<Finding> {
  const cname = cnames.get(zone.name)
  if (!cname || [...cnameNotAlone({ zone, byName, cnames: new Map([[zone.name, cname]]) })].length > 0) return
  yield {
    message: `${zone.name} CNAME: the apex cannot have a CNAME, since it has SOA and NS records`,
    at: cname.at,
    hint: 'use A and AAAA records, or ALIAS if the target supports it',
  }
}

/** Reports each cycle of CNAME records once, at its first name: such names never resolve. */
export function* cnameLoop({ cnames }: ZoneIndex): Iterable<Finding> {
  const walked = new Map<DomainName, number>()
  let walk = 0
  for (const start of cnames.keys()) {
    walk += 1
    let name: DomainName | null = start
    while (name !== null && cnames.has(name) && !walked.has(name)) {
      walked.set(name, walk)
      name = targetOf(cnames.get(name) as DefinedRecord)
    }
    if (name === null || !cnames.has(name) || walked.get(name) !== walk) continue
    yield cycleFrom(name, cnames)
  }
}

function cycleFrom(first: DomainName, cnames: ReadonlyMap<DomainName, DefinedRecord>): Finding {
  const cycle: DefinedRecord[] = []
  let name = first
  do {
    const cname = cnames.get(name) as DefinedRecord
    cycle.push(cname)
    name = targetOf(cname) as DomainName
  } while (name !== first)
  const shown = cycle.slice(0, 5).map((cname) => cname.name)
  const path = [...shown, ...(cycle.length > shown.length ? ['…'] : []), first].join(' → ')
  return {
    message: cycle.length === 1 ? `${first} CNAME: the record points to itself` : `${first} CNAME: the records form a loop: ${path}`,
    at: cycle[0]?.at,
    hint: `point ${cycle.length === 1 ? 'it' : 'one of these CNAME records'} to a name that has addresses`,
    related: cycle.slice(1, 5).map((cname) => ({ message: `the CNAME of ${cname.name}`, at: cname.at })),
  }
}

const targetOf = (cname: DefinedRecord): DomainName | null => targetName('CNAME', cname.data)
