/**
 * Makes one call through a provider class. No class can state what it expects to find, so the zone is read immediately before: a record set that differs from
 * the plan is another client's work. octoDNS then plans from that reading with exactly the changes of the call, and the child refuses any other plan.
 */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { excerpt } from '../../base/text.ts'
import { octodnsValue, SINGLE_VALUE_TYPES, type YamlValue } from '../../definition/print/octodns-value.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { groupRrsets, rrsetKey } from '../../dns/record.ts'
import { type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import { type AppliedCall, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { masterZone } from '../zone-lists.ts'
import type { ClassChange, ClassSession, LoggedMessage } from './class-session.ts'
import type { ClassZone } from './read-records.ts'

export interface ClassTarget {
  /** The provider's name in the config. */
  readonly provider: string
  readonly session: ClassSession
  readonly rules: { readonly servesApexNs: boolean }
}

export function applyClassCall(
  target: ClassTarget,
  zone: ZoneReference | null,
  call: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { provider, session, rules } = target
  const [first] = call.changes
  if (first?.subject === 'domain' && first.action !== 'create') throw new Error('octoDNS neither deletes zones nor changes their settings')
  const creates = first?.subject === 'domain'
  const name = zone?.name ?? (first?.name as DomainName)
  if (creates && call.rrsets.length === 0)
    throw new ProviderError('provider-rejected', `${provider}: creating ${name}: octoDNS creates no zone without records`, {
      hint: 'define a record, or create the zone at the provider',
    })
  return session.inTurn(async (turn) => {
    const live = await turn.read(name, rules)
    if (creates === live.exists) throw conflict(provider, name, live.exists ? 'was created after the plan was made' : 'was deleted')
    refuseConflicts(provider, name, live, call.rrsets)
    const present = groupRrsets(live.records)
    const pending = call.rrsets.filter((rrset) => !sameImage(rrsetImage(present.get(rrsetKey(rrset)) ?? []), rrset.desired))
    const logs = pending.length === 0 ? [] : await turn.apply(name, pending.map(classChange))
    return { problems: logs.map((log) => problemOf(target, log)), ...(creates && { zone: masterZone(name, name) }) }
  }, options)
}

/** Throws unless every RRset is as expected, or already as desired. */
function refuseConflicts(provider: string, zone: DomainName, { records, unplanned }: ClassZone, rrsets: readonly RrsetChange[]): void {
  const present = groupRrsets(records)
  const held = new Map(unplanned.map((record) => [rrsetKey(record), record.reason]))
  for (const rrset of rrsets) {
    const reason = held.get(rrsetKey(rrset))
    if (reason !== undefined) throw conflict(provider, zone, `has a record set ${rrset.name} ${rrset.type} that ${reason}`)
    const now = rrsetImage(present.get(rrsetKey(rrset)) ?? [])
    if (sameImage(now, rrset.existing) || sameImage(now, rrset.desired)) continue
    const state = now === null ? 'was deleted' : `is ${excerpt(now.data.join(', '), 200)} (TTL ${now.ttl})`
    throw conflict(provider, zone, `was changed by another client: ${rrset.name} ${rrset.type} ${state}`)
  }
}

const conflict = (provider: string, zone: DomainName, what: string): ProviderError =>
  new ProviderError('provider-conflict', `${provider}: ${zone} ${what}`, { hint: 'plan again to see the change' })

function classChange({ name, type, desired }: RrsetChange): ClassChange {
  if (desired === null) return { name, type, data: null }
  const values = desired.data.map((data): YamlValue => {
    const value = octodnsValue(type, data)
    if (value.ok) return value.value
    throw new ProviderError('provider-rejected', `${name} ${type}: octoDNS cannot express ${value.message}`)
  })
  const isSingle = SINGLE_VALUE_TYPES.has(type)
  if (isSingle && values.length > 1)
    throw new ProviderError('provider-rejected', `${name} ${type}: octoDNS has only one value of this type`)
  return { name, type, data: { ttl: desired.ttl, ...(isSingle ? { value: values[0] } : { values }) } }
}

const problemOf = ({ provider }: ClassTarget, { message }: LoggedMessage): Diagnostic => ({
  severity: 'warning',
  code: 'provider-class',
  message: `${provider}: octoDNS warned: ${excerpt(message, 500)}`,
})
