/** The rule by which a name server has probably refused the update of one RRset, although it accepts others. */
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { RrsetChange } from '../../plan/changesets.ts'

/** A host name (RFC 952, RFC 1123 section 2.1), with a leading `*` at most. */
const HOST = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*$/

/** What to check, in words that name the options of servers. */
export function likelyRule({ name, type, desired }: RrsetChange, zone: DomainName): string {
  const targets = (desired?.data ?? []).flatMap((data) => (/^(?:MX|NS|SRV)$/.test(type) ? (targetName(type, data) ?? []) : []))
  const noHost = [...(/^(?:A|AAAA|MX)$/.test(type) ? [name] : []), ...targets].find((host) => !HOST.test(host))
  if (desired !== null && noHost !== undefined)
    return `${noHost} is not the name of a host, which "check-names" of BIND refuses: use letters, digits and hyphens, or set "check-names ignore"`
  const inside = targets.filter((target) => type !== 'SRV' && isAtOrBelow(target, zone))
  if (inside.length > 0)
    return `servers refuse an ${type} record whose target in the zone is an alias or has no address: check the A and AAAA records of ${inside.join(', ')}`
  return 'the key may not be allowed to change this record set ("update-policy" in BIND, "update-owner" and "update-type" in Knot)'
}
