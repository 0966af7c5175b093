/** The content of an UPDATE message (RFC 2136 section 2) that replaces RRsets. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { UpdateContent, UpdatePart } from '../../dns/wire/message.ts'
import type { RrsetChange } from '../../plan/changesets.ts'

/**
 * Every RRset is a prerequisite, so concurrent changes are not overwritten. Deletions come first, because a server ignores records beside a CNAME (RFC 2136
 * section 3.4.2.2). Apex NS records are the exception: they are added first and then deleted one by one, because a server ignores the deletion of all of them
 * (section 3.4.2.4).
 *
 * An RRset that loses a record or changes its TTL is deleted and added again. PowerDNS ignores the deletion of single records of some types, such as SVCB and RP.
 * Adding the records alone changes the TTL in BIND, as the RFC says, but not in Knot DNS. Apex NS records cannot be deleted all at once, but Knot DNS gives
 * all of them the TTL of a new one: if none is new, the message adds one and deletes it again.
 */
export function updateContent(rrsets: readonly RrsetChange[], zone: DomainName): UpdateContent {
  const isApexNs = ({ name, type }: RrsetChange): boolean => type === 'NS' && name === zone
  const apexNs = rrsets.filter(isApexNs).map(apexNsParts)
  const others = rrsets.filter((rrset) => !isApexNs(rrset)).map((rrset) => (onlyGrows(rrset) ? recordParts(rrset) : rrsetParts(rrset)))
  return {
    prerequisites: rrsets.map(({ name, type, existing }) => ({ name, type, data: existing?.data ?? [] })),
    updates: [
      ...apexNs.flatMap(({ adds, deletes }) => [...adds, ...deletes]),
      ...others.flatMap(({ deletes }) => deletes),
      ...others.flatMap(({ adds }) => adds),
    ],
  }
}

interface UpdateParts {
  readonly deletes: readonly UpdatePart[]
  readonly adds: readonly UpdatePart[]
}

const changesTtl = ({ existing, desired }: RrsetChange): boolean =>
  existing !== null && desired !== null && (existing.ttl !== desired.ttl || existing.hasOtherTtls)

function onlyGrows(rrset: RrsetChange): boolean {
  const desired = rrset.desired?.data ?? []
  return desired.length > 0 && !changesTtl(rrset) && (rrset.existing?.data ?? []).every((data) => desired.includes(data))
}

const rrsetParts = ({ name, type, desired }: RrsetChange): UpdateParts => ({
  deletes: [{ action: 'delete-rrset', name, type }],
  adds: (desired?.data ?? []).map((data) => ({ action: 'add', record: { name, type, ttl: desired?.ttl ?? null, data } })),
})

/** A name server that does not exist (RFC 6761 section 6.4). No query sees it: a message takes effect as a whole. */
const TEMPORARY = 'ttl.invalid.'

function apexNsParts(rrset: RrsetChange): UpdateParts {
  const { name, type, existing, desired } = rrset
  const { deletes, adds } = recordParts(rrset)
  if (!changesTtl(rrset) || desired?.data.some((data) => !existing?.data.includes(data))) return { deletes, adds }
  const record = { name, type, ttl: desired?.ttl ?? null, data: TEMPORARY }
  return { deletes: [...deletes, { action: 'delete', record: { ...record, ttl: null } }], adds: [...adds, { action: 'add', record }] }
}

function recordParts(rrset: RrsetChange): UpdateParts {
  const { name, type, existing, desired } = rrset
  const [before, after] = [existing?.data ?? [], desired?.data ?? []]
  const removed = before.filter((data) => !after.includes(data))
  const added = after.filter((data) => changesTtl(rrset) || !before.includes(data))
  return {
    deletes: removed.map((data) => ({ action: 'delete', record: { name, type, ttl: null, data } })),
    adds: added.map((data) => ({ action: 'add', record: { name, type, ttl: desired?.ttl ?? null, data } })),
  }
}
