import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { ZoneIndex } from './zone-index.ts'

/** What may stand beside a CNAME: the records that sign it (RFC 4034 sections 3 and 4, RFC 2535 section 2.3.5). */
const BESIDE_CNAME: ReadonlySet<string> = new Set(['CNAME', 'RRSIG', 'NSEC', 'KEY', 'TYPE46', 'TYPE47', 'TYPE25'])

/** A name with a CNAME has no other data (RFC 1034 section 3.6.2, RFC 2181 section 10.1). */
export function cnameNotAlone({ byName, cnames }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const [name, cname] of cnames) {
    const others = (byName.get(name) ?? []).filter((record) => !BESIDE_CNAME.has(record.type))
    const first = others[0]
    if (!first) continue
    const types = [...new Set(others.map((record) => record.type))].sort().join(', ')
    diagnostics.push({
      severity: 'error',
      code: 'cname-not-alone',
      message: `${name} has a CNAME and also ${types}; a CNAME stands alone at its name`,
      at: cname.at,
      hint: 'remove the CNAME, or the other records and have them at its target',
      related: [{ message: `the ${first.type} record`, at: first.at }],
    })
  }
  return diagnostics
}

/** The apex has SOA and NS records, so it cannot have a CNAME. */
export function cnameAtApex({ zone, cnames }: ZoneIndex): Diagnostic[] {
  const cname = cnames.get(zone.name)
  if (!cname) return []
  return [
    {
      severity: 'error',
      code: 'cname-at-apex',
      message: `the apex of ${zone.name} has a CNAME; SOA and NS records are there already`,
      at: cname.at,
      hint: 'use A and AAAA records, or ALIAS where the target has it',
    },
  ]
}

/** CNAME records that lead back to themselves answer nothing. Every circle is told once, at its first name. */
export function cnameLoop({ cnames }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const walked = new Map<DomainName, number>()
  let walk = 0
  for (const start of cnames.keys()) {
    walk += 1
    let name: DomainName | null = start
    while (name !== null && cnames.has(name) && !walked.has(name)) {
      walked.set(name, walk)
      name = leadsTo(cnames.get(name) as DefinedRecord)
    }
    if (name === null || !cnames.has(name) || walked.get(name) !== walk) continue
    diagnostics.push(circleFrom(name, cnames))
  }
  return diagnostics
}

function circleFrom(first: DomainName, cnames: ReadonlyMap<DomainName, DefinedRecord>): Diagnostic {
  const circle: DefinedRecord[] = []
  let name = first
  do {
    const cname = cnames.get(name) as DefinedRecord
    circle.push(cname)
    name = leadsTo(cname) as DomainName
  } while (name !== first)
  const shown = circle.slice(0, 5).map((cname) => cname.name)
  const path = [...shown, ...(circle.length > shown.length ? ['…'] : []), first].join(' → ')
  return {
    severity: 'error',
    code: 'cname-loop',
    message: circle.length === 1 ? `the CNAME of ${first} leads to itself` : `CNAME records lead in a circle: ${path}`,
    at: circle[0]?.at,
    related: circle.slice(1, 5).map((cname) => ({ message: `the CNAME of ${cname.name}`, at: cname.at })),
  }
}

const leadsTo = (cname: DefinedRecord): DomainName | null => targetName('CNAME', cname.data)
