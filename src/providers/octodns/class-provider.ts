/** A provider that reads and changes zones through a provider class of octoDNS in a child process. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { counted, listed } from '../../base/english.ts'
import { excerpt } from '../../base/text.ts'
import { octodnsValue, SINGLE_VALUE_TYPES, type YamlValue } from '../../definition/print/octodns-value.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { groupRrsets, rrsetKey } from '../../dns/record.ts'
import { type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import type { BridgeSession, LoggedMessage } from '../bridge-session.ts'
import { bridgedZones } from '../bridge-zones.ts'
import { createFindings, MAX_LISTED } from '../examine-zones.ts'
import {
  type AppliedCall,
  assertMayWrite,
  type Provider,
  type ProviderCall,
  type ProviderCallOptions,
  ProviderError,
  type ZoneReference,
  type ZoneSnapshot,
} from '../provider.ts'
import { masterZone, zoneListOf } from '../zone-lists.ts'
import { type ClassFeatures, type ClassSettings, classCapabilities, factsOf } from './class-capabilities.ts'
import { applyClassChanges, type ClassChange, type ClassRules, type LoggedZone, readClassZone } from './class-session.ts'
import type { ClassZone } from './read-records.ts'

export interface ClassProviderOptions extends ClassSettings {
  /** The provider's name in the config. */
  readonly provider: string
  readonly className: string
  readonly address: string
  readonly features: ClassFeatures
  readonly session: BridgeSession
  readonly redact: (text: string) => string
  /** Milliseconds that a call may take. */
  readonly timeout: number
}

/** Messages of the class about one zone that a plan shows. */
const MAX_WARNINGS = 5

export function createClassProvider(options: ClassProviderOptions): Provider {
  const { provider, className, features, session, redact } = options
  const capabilities = classCapabilities(options, features)
  const rules: ClassRules = { provider, className, redact, servesApexNs: capabilities.servesApexNs }
  const zones = bridgedZones(provider, (name, call) => session.inTurn((ask) => readClassZone(ask, name, rules), call))
  const provided: Provider = {
    name: provider,
    type: 'octodns',
    address: options.address,
    capabilities,
    capabilityFacts: () => factsOf(features),
    parallelism: 1,
    pythonPackages: features.packages,
    findZones: zones.find,
    async listZones(call) {
      if (!features.listsZones)
        throw new ProviderError('provider-rejected', `${provider}: ${className} has no list of its zones`, { hint: 'name the zones' })
      const names = (await session.inTurn((ask) => ask('listing zones', { op: 'list' }, { key: 'zones' }), call)).items
      const listed = names.map((name) => ({ name: String(name) }))
      return zoneListOf(listed, (_, name) => referenceTo(name), { twice: () => 'has the name of another zone' })
    },
    async readZone(reference, call) {
      return { ...snapshot(reference, await zones.read(reference, call)), ...(features.readOnly && { readOnly: features.readOnly }) }
    },
    examine: (usage, _, call) => examineClass(provided, options, usage, call),
    async apply(zone, call, more) {
      await assertMayWrite(provider, more, options.timeout)
      zones.forget()
      return applyClassCall({ session, rules }, zone, call, more)
    },
    close: () => session.close(),
  }
  return provided
}

const referenceTo = (name: DomainName) => masterZone(name, name)

const snapshot = ({ name }: ZoneReference, { records, unplanned, logs }: LoggedZone): ZoneSnapshot => ({
  ...referenceTo(name),
  records,
  unplanned,
  warnings: logs.slice(0, MAX_WARNINGS).map(
    ({ message }): Diagnostic => ({
      severity: 'notice',
      code: 'provider-class',
      message: `reading ${name}: octoDNS warned: ${excerpt(message, 300)}`,
    }),
  ),
})

interface ExaminedClass {
  readonly className: string
  readonly features: ClassFeatures
  readonly createsZones: boolean
}

async function examineClass(
  provider: Provider,
  { className, features, createsZones }: ExaminedClass,
  { zones }: ProviderUsage,
  call?: ProviderCallOptions,
): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  add('ok', 'config', `${className} can be used: ${features.versions}`)
  if (features.readOnly !== null && zones.length > 0)
    add(features.isSource ? 'error' : 'warning', 'config', `no zone can be changed: ${features.readOnly.reason}`, features.readOnly.hint)
  if (zones.length === 0) {
    add('ok', 'zones', 'no selected zone is there, so nothing was read')
    return findings
  }
  await attempt(async () => {
    const found = await provider.findZones(zones, call)
    add('ok', 'connection', `it reads ${found.size} of ${counted(zones.length, 'zone')}; nothing shows whether it may change them`)
    const missing = zones.filter((zone) => !found.has(zone))
    if (missing.length > 0 && createsZones) add('ok', 'zones', `an apply would create ${listed(missing, MAX_LISTED)}`)
    else if (missing.length > 0) {
      const hint = 'create them there, or set "creates_zones: true" if the class creates zones'
      add('error', 'zones', `it does not have ${listed(missing, MAX_LISTED)}`, hint)
    }
    for (const zone of found.values())
      await attempt(
        async () => void (await provider.readZone(zone, call)),
        () => 'zones',
      )
  })
  return findings
}

interface ClassTarget {
  readonly session: BridgeSession
  readonly rules: ClassRules
}

/**
 * Makes one call. No class can state what it expects to find, so the zone is read immediately before: a record set that differs from the plan is another
 * client's work. octoDNS then plans from that reading with exactly the changes of the call, and the child refuses any other plan.
 */
function applyClassCall(
  target: ClassTarget,
  zone: ZoneReference | null,
  call: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { session, rules } = target
  const { provider } = rules
  const [first] = call.changes
  if (first?.subject === 'domain' && first.action !== 'create') throw new Error('octoDNS neither deletes zones nor changes their settings')
  const creates = first?.subject === 'domain'
  const name = zone?.name ?? (first?.name as DomainName)
  if (creates && call.rrsets.length === 0)
    throw new ProviderError('provider-rejected', `${provider}: creating ${name}: octoDNS creates no zone without records`, {
      hint: 'define a record, or create the zone at the provider',
    })
  return session.inTurn(async (ask) => {
    const live = await readClassZone(ask, name, rules)
    if (creates === live.exists) throw conflict(provider, name, live.exists ? 'was created after the plan was made' : 'was deleted')
    refuseConflicts(provider, name, live, call.rrsets)
    const present = groupRrsets(live.records)
    const pending = call.rrsets.filter((rrset) => !sameImage(rrsetImage(present.get(rrsetKey(rrset)) ?? []), rrset.desired))
    const logs = pending.length === 0 ? [] : await applyClassChanges(ask, name, pending.map(classChange))
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

const problemOf = ({ rules: { provider } }: ClassTarget, { message }: LoggedMessage): Diagnostic => ({
  severity: 'warning',
  code: 'provider-class',
  message: `${provider}: octoDNS warned: ${excerpt(message, 500)}`,
})
