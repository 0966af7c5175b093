/** A provider that reads and changes zones through a provider class of octoDNS in a child process. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { counted, listed } from '../../base/english.ts'
import { excerpt } from '../../base/text.ts'
import { octodnsValue, SINGLE_VALUE_TYPES, type YamlValue } from '../../definition/print/octodns-value.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { groupRrsets, rrsetKey } from '../../dns/record.ts'
import { type RrsetChange, rrsetImage, sameImage } from '../../plan/changesets.ts'
import { sleep } from '../../transport/retry.ts'
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
import type { ClassChange, ClassSession, LoggedMessage } from './class-session.ts'
import type { ClassZone } from './read-records.ts'

export interface ClassProviderOptions extends ClassSettings {
  /** The provider's name in the config. */
  readonly provider: string
  readonly className: string
  readonly address: string
  readonly features: ClassFeatures
  readonly session: ClassSession
  /** Milliseconds that a call may take. */
  readonly timeout: number
}

/** Milliseconds for which a zone that was read to find it is used instead of another read. */
const FRESH_FOR = 600_000
/** Milliseconds before a failed read is repeated. */
const READ_PAUSE = 500
/** Messages of the class about one zone that a plan shows. */
const MAX_WARNINGS = 5

interface Reading {
  readonly at: number
  readonly zone: (ClassZone & { readonly logs: readonly LoggedMessage[] }) | ProviderError
}

export function createClassProvider(options: ClassProviderOptions): Provider {
  const { provider, className, features, session } = options
  const capabilities = classCapabilities(options, features)
  const rules = { servesApexNs: capabilities.servesApexNs }
  /** Zones that were read to find them, until they are read. */
  const readings = new Map<DomainName, Reading>()

  /** Many classes repeat nothing, so a read that failed for the moment is repeated once. */
  async function read(name: DomainName, call?: ProviderCallOptions) {
    try {
      return await session.inTurn((turn) => turn.read(name, rules), call)
    } catch (error) {
      if (!(error instanceof ProviderError) || !isTransient(error)) throw error
      await sleep(READ_PAUSE, call?.stop ?? call?.signal).catch(() => undefined)
      return session.inTurn((turn) => turn.read(name, rules), call)
    }
  }

  /** A class has no other way to find a zone than to read it. The error of one zone does not hide the others. */
  async function find(name: DomainName, call?: ProviderCallOptions): Promise<Reading['zone']> {
    try {
      return await read(name, call)
    } catch (error) {
      if (!(error instanceof ProviderError) || ENDING.has(error.code)) throw error
      return error
    }
  }

  const provided: Provider = {
    name: provider,
    type: 'octodns',
    address: options.address,
    capabilities,
    capabilityFacts: () => factsOf(features),
    parallelism: 1,
    pythonPackages: features.packages,
    async findZones(names, call) {
      const found = new Map<DomainName, ZoneReference>()
      const errors: ProviderError[] = []
      for (const name of new Set(names)) {
        const zone = await find(name, call)
        if (zone instanceof ProviderError) errors.push(zone)
        else if (!zone.exists) continue
        readings.set(name, { at: performance.now(), zone })
        found.set(name, referenceTo(name))
      }
      const [error] = errors
      if (error !== undefined && errors.length === found.size) throw error
      return found
    },
    async listZones(call) {
      if (!features.listsZones)
        throw new ProviderError('provider-rejected', `${provider}: ${className} has no list of its zones`, { hint: 'name the zones' })
      const names = await session.inTurn((turn) => turn.list(), call)
      const zones = names.map((name) => ({ name }))
      return zoneListOf(zones, (_, name) => referenceTo(name), { twice: () => 'has the name of another zone' })
    },
    async readZone(reference, call) {
      const { name } = reference
      const known = readings.get(name)
      readings.delete(name)
      const zone = known !== undefined && performance.now() - known.at < FRESH_FOR ? known.zone : await read(name, call)
      if (zone instanceof ProviderError) throw zone
      if (!zone.exists) throw new ProviderError('provider-not-found', `${provider}: reading ${name}: the zone does not exist`)
      return { ...snapshot(reference, zone), ...(features.readOnly && { readOnly: features.readOnly }) }
    },
    examine: (usage, _, call) => examineClass(provided, options, usage, call),
    async apply(zone, call, more) {
      await assertMayWrite(provider, more, options.timeout)
      readings.clear()
      return applyClassCall({ provider, session, rules }, zone, call, more)
    },
    close: () => session.close(),
  }
  return provided
}

const isTransient = ({ code, status }: ProviderError): boolean => code === 'provider-unreachable' || (status !== null && status >= '500')

/** Errors that reading any other zone would meet, too. */
const ENDING: ReadonlySet<string> = new Set([
  'provider-unreachable',
  'provider-timeout',
  'provider-unauthorized',
  'provider-stopped',
  'provider-class',
])

const referenceTo = (name: DomainName) => masterZone(name, name)

const snapshot = ({ name }: ZoneReference, { records, unplanned, logs }: Exclude<Reading['zone'], ProviderError>): ZoneSnapshot => ({
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
  /** The provider's name in the config. */
  readonly provider: string
  readonly session: ClassSession
  readonly rules: { readonly servesApexNs: boolean }
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
