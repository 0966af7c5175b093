/** A provider that changes zones by dynamic update (RFC 2136) and reads them by transfer (AXFR, IXFR), over TCP only. */
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { serialOf } from '../../dns/soa.ts'
import { createUpdate, type Message, RCODE, type UpdateContent, type UpdatePart } from '../../dns/wire/message.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import {
  addressOf,
  examineNameServer,
  exchange,
  findServedZones,
  type NameServer,
  noZoneList,
  readServed,
  refusal,
} from '../name-server.ts'
import {
  assertMayWrite,
  type Provider,
  type ProviderCall,
  type ProviderCallOptions,
  ProviderError,
  type ZoneReference,
} from '../provider.ts'
import { createTransferReader } from '../transfer-reader.ts'
import { RFC2136_CAPABILITIES } from './capabilities.ts'
import { examineCatalog, previewCatalog, type ServedCatalog, updateCatalog } from './catalog.ts'

const UNSIGNED = 'anybody who can send from this address can change the zones'

/** `catalog` is the catalog zone that lists the zones of the server; null for none. */
export function createRfc2136Provider(options: NameServer, catalog: DomainName | null): Provider {
  const { provider, parallelism } = options
  const reader = createTransferReader(options)
  /** The zones of this run that the server serves. */
  const served = new Set<DomainName>()
  const own: ServedCatalog | null = catalog === null ? null : { server: options, reader, catalog, served }
  const provided: Provider = {
    name: provider,
    type: 'rfc2136',
    address: addressOf(options),
    capabilities: RFC2136_CAPABILITIES,
    parallelism,
    async findZones(names, call) {
      const candidates = names.filter((name) => name !== catalog)
      const found = await findServedZones(options, candidates, call)
      for (const name of found) served.add(name)
      return new Map(found.map((name) => [name, referenceTo(name)]))
    },
    async listZones() {
      throw noZoneList(provider)
    },
    async readZone(zone, call) {
      const { soa, records, signerRecords } = await reader.read(zone.name, call)
      return { ...referenceTo(zone.name), records, serial: serialOf(soa), signerRecords }
    },
    async readNamedZone(zone, call) {
      if (zone === catalog) return null
      const snapshot = await readServed(options, zone, () => provided.readZone(referenceTo(zone), call), call)
      if (snapshot !== null) served.add(zone)
      return snapshot
    },
    async examine(usage, _now, call) {
      const words = {
        unsigned: UNSIGNED,
        missing: 'create the zones on the server: dynamic update cannot',
        tryUpdate: (zone: ZoneReference) => tryUpdate(options, zone.name),
      }
      const findings = await examineNameServer(provided, options, words, usage)
      if (catalog === null || usage.zones.length === 0) return findings
      return [...findings, ...(await examineCatalog(options, catalog, (zone) => tryUpdate(options, zone), call))]
    },
    apply(zone, call, more) {
      if (zone !== null) reader.noteChange(zone.name)
      return applyUpdate(options, zone, call, more)
    },
    ...(own === null
      ? {}
      : {
          completeCalls: (call) => updateCatalog(own, call),
          previewCompletion: (call) => previewCatalog(own, call),
        }),
    close: async () => undefined,
  }
  return provided
}

/** A name that no zone has, for updates without effect. */
const PROBE = '_zonewright-doctor'

/**
 * Sends an update that deletes a record set on condition that it does not exist. A server checks the permission and changes nothing. Throws the error of the
 * refusal.
 */
async function tryUpdate(options: NameServer, zone: DomainName): Promise<void> {
  const name = (zone === '.' ? `${PROBE}.` : `${PROBE}.${zone}`) as DomainName
  const rrset = { name, type: 'TXT' } as const
  const content: UpdateContent = { prerequisites: [{ ...rrset, data: [] }], updates: [{ action: 'delete-rrset', ...rrset }] }
  const what = `an update of ${zone} without effect`
  const { rcode } = await exchange(options, createUpdate(0, zone, content), what)
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.YXRRSET) throw refusal(options, rcode, what)
}

const referenceTo = (name: DomainName): ZoneReference & { readonly id: string } => ({ name, id: name, settings: {} })

async function applyUpdate(
  options: NameServer,
  zone: ZoneReference | null,
  { changes, rrsets }: ProviderCall,
  call?: ProviderCallOptions,
): Promise<Record<string, never>> {
  if (zone === null || changes.some(({ subject }) => subject === 'domain'))
    throw new Error('a dynamic update neither creates nor deletes zones')
  const what = `updating ${zone.name}`
  const message = createUpdate(0, zone.name, updateContent(rrsets, zone.name))
  await assertMayWrite(options.provider, call, options.timeout)
  let response: Message
  try {
    response = await exchange(options, message, what, call)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const largest = rrsets.map(({ name, type }) => `${name} ${type}`).slice(0, 3)
    throw new ProviderError('limit-exceeded', `${options.provider}: ${what}: ${largest.join(', ')} do not fit into one message`, {
      cause: error,
    })
  }
  if (response.rcode === RCODE.NOERROR) return {}
  const error = refusal(options, response.rcode, what)
  if (response.rcode !== RCODE.REFUSED) throw error
  // A server that accepts an update without content (RFC 2136 section 3.3) has refused this one because of what it changes.
  const empty = await exchange(options, createUpdate(0, zone.name, { prerequisites: [], updates: [] }), what, call)
  if (empty.rcode !== RCODE.NOERROR) throw error
  const [first, ...others] = rrsets
  const hint = first === undefined || others.length > 0 ? undefined : likelyRule(first, zone.name)
  throw new ProviderError('provider-rejected', error.message, { status: 'REFUSED', hint })
}

/** A host name (RFC 952, RFC 1123 section 2.1), with a leading `*` at most. */
const HOST = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*$/

/** The rule by which a server that accepts other updates has probably refused this one: what to check, in words that name the options of servers. */
function likelyRule({ name, type, desired }: RrsetChange, zone: DomainName): string {
  const targets = (desired?.data ?? []).flatMap((data) => (/^(?:MX|NS|SRV)$/.test(type) ? (targetName(type, data) ?? []) : []))
  const noHost = [...(/^(?:A|AAAA|MX)$/.test(type) ? [name] : []), ...targets].find((host) => !HOST.test(host))
  if (desired !== null && noHost !== undefined)
    return `${noHost} is not the name of a host, which "check-names" of BIND refuses: use letters, digits and hyphens, or set "check-names ignore"`
  const inside = targets.filter((target) => type !== 'SRV' && isAtOrBelow(target, zone))
  if (inside.length > 0)
    return `servers refuse an ${type} record whose target in the zone is an alias or has no address: check the A and AAAA records of ${inside.join(', ')}`
  return 'the key may not be allowed to change this record set ("update-policy" in BIND, "update-owner" and "update-type" in Knot)'
}

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
