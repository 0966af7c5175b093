/** Rules for targets of records. */
import { isIP } from 'node:net'
import { type DomainName, isAtOrBelow, isWildcard } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { hostOfUrl } from '../../dns/server-address.ts'
import { closestEncloser, existenceTest, nodesOf } from './existing-names.ts'
import { type Finding, HOST_TARGET, highestCut, type ZoneIndex } from './zone-index.ts'

/** Types that give a name addresses, directly or through another name. */
export const ADDRESS: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS', 'DNAME'])

/** Reports NS, MX (RFC 2181 section 10.3) and SRV records (RFC 2782) that point to a CNAME. SVCB and HTTPS records may do so (RFC 9460 section 3). */
export function* targetIsCname(index: ZoneIndex): Iterable<Finding> {
  const aliasAt = aliasFinder(index)
  for (const { record, target } of index.targets) {
    const cname = HOST_TARGET.has(record.type) ? aliasAt(target) : undefined
    if (!cname) continue
    yield {
      message: `${record.name} ${record.type} points to ${target}, which is a CNAME`,
      at: record.at,
      hint: `point to the host that has the addresses: ${targetName('CNAME', cname.data)}`,
      related: [{ message: `the CNAME of ${target}`, at: cname.at }],
    }
  }
}

/** Returns a function that finds the CNAME of a name, which may come from a wildcard. It finds none below a zone cut, where the child zone answers. */
function aliasFinder({ zone, byName, cnames, delegations }: ZoneIndex): (name: DomainName) => DefinedRecord | undefined {
  const hasWildcard = [...cnames.keys()].some(isWildcard)
  const nodes = hasWildcard ? nodesOf({ zone, byName }) : null
  return (name) => {
    if (highestCut(delegations, name, zone.name)) return undefined
    if (nodes === null || nodes.has(name) || !isAtOrBelow(name, zone.name)) return cnames.get(name)
    return cnames.get(`*.${closestEncloser(name, nodes)}` as DomainName)
  }
}

/** A quick first test: every address has a colon or ends with a digit. */
const MAYBE_ADDRESS = /:|[0-9]\.$/

/** Reports targets that are addresses: clients would look up a host named `192.0.2.1.`. */
export function* targetIsAddress({ targets }: ZoneIndex): Iterable<Finding> {
  for (const { record, target } of targets) {
    if (!MAYBE_ADDRESS.test(target) || isIP(target.slice(0, -1)) === 0) continue
    yield {
      message: `${record.name} ${record.type} points to the address ${target}; it needs a name`,
      at: record.at,
      hint: 'give the address a name with an A or AAAA record, and point to that name',
    }
  }
}

/** Reports targets that are URLs: clients would look up a host named `https://www.example.com/.`. */
export function* targetIsUrl({ targets }: ZoneIndex): Iterable<Finding> {
  for (const { record, target } of targets) {
    const host = hostOfUrl(target)
    if (host === null) continue
    yield {
      message: `${record.name} ${record.type} points to the URL ${target}; it needs a name`,
      at: record.at,
      hint: `write the host name alone: ${host}`,
    }
  }
}

/** Reports targets inside the zone that do not exist, or that need addresses and have none. */
export function* targetNonexistent(index: ZoneIndex): Iterable<Finding> {
  const { zone } = index
  let exists: ((target: DomainName, types: ReadonlySet<string> | null) => boolean) | null = null
  for (const { record, target } of index.targets) {
    if (target === '.' || !isAtOrBelow(target, zone.name) || hostOfUrl(target) !== null) continue
    exists ??= existenceTest(index)
    if (exists(target, HOST_TARGET.has(record.type) ? ADDRESS : null)) continue
    yield nonexistent(record, target, index)
  }
}

function nonexistent(record: DefinedRecord, target: DomainName, { byName, zone }: ZoneIndex): Finding {
  const why = byName.has(target) ? 'which has no addresses' : `which ${zone.name} does not have`
  return {
    message: `${record.name} ${record.type} points to ${target}, ${why}`,
    at: record.at,
    hint: 'add records for that name, point the record elsewhere, or end the target with a dot if it is outside the zone',
  }
}
