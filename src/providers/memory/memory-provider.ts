/**
 * A provider whose zones are in this process, for tests of the flow. Its capabilities are its settings: what one call carries, whether it is atomic and states
 * what it expects, limits, types, TTLs. It refuses what a service with these capabilities refuses, and stores what such a service stores. Latency, lost
 * answers, refusals and other clients are options. `test/providers/memory/memory-provider.test.ts` compares it with recordings of real services.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets, type ResourceRecord, recordKey, rrsetKey } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { type RrsetChange, rrsetImage } from '../../plan/changesets.ts'
import { storedTtl } from '../../plan/fit-to-target.ts'
import type { Change, DomainChange } from '../../plan/plan.ts'
import { isOfNewZone, refuseChangedZone, refuseConflicts } from '../changed-rrsets.ts'
import {
  type AppliedChange,
  assertMayWrite,
  type Provider,
  type ProviderCall,
  type ProviderCallOptions,
  type ProviderContext,
  ProviderError,
  type ProviderType,
  type ZoneReference,
  type ZoneSnapshot,
} from '../provider.ts'

/** A request that arrives. */
export interface MemoryRequest {
  readonly kind: 'list' | 'look-up' | 'read' | 'rendered' | 'write'
  readonly zone: DomainName | null
  /** The changes of a write. */
  readonly changes: readonly Change[]
  /** Among the requests of its kind, from 1. */
  readonly nth: number
}

/** What goes wrong with a request. */
export type MemoryFault =
  /** It is refused and not carried out. */
  | { readonly kind: 'refused'; readonly code: DiagnosticCode; readonly message: string; readonly status?: string }
  /** No answer comes. The request is carried out before that, never, or milliseconds later. */
  | { readonly kind: 'lost'; readonly carriedOut: boolean | number }

/** Decides the fault of a request before it is carried out, and may act as another client; null for none. */
export type FaultChoice = (request: MemoryRequest, memory: InMemoryProvider) => MemoryFault | null | Promise<MemoryFault | null>

export interface MemoryOptions {
  readonly capabilities: Capabilities
  /** The records of each zone as text of a zone file, relative to the zone. */
  readonly zones?: Readonly<Record<string, string>>
  /** The settings of these zones. */
  readonly settings?: ZoneSettings
  /** The settings that the target stores for the given ones; the given ones if absent. */
  readonly storedSettings?: (settings: ZoneSettings) => ZoneSettings
  /** The NS records that a new zone gets if the capabilities say that the target assigns them, and those of rendered files. */
  readonly nameservers?: readonly string[]
  readonly parallelism?: number
  /** Milliseconds that each request takes; one turn of the event loop if absent. */
  readonly latency?: number
  readonly fault?: FaultChoice | undefined
  /** Whether answers to writes state the stored records. */
  readonly statesRecords?: boolean
  /** Whether a name leads to a zone without a look-up. */
  readonly readsByName?: boolean
  /** The clock in milliseconds since 1970 by which the provider says when a zone last changed; absent if it does not say that. */
  readonly clock?: () => number
}

/** A provider whose zones are in this process, to give to a run instead of one of its config. It contacts nobody and needs no secret. */
export interface InMemoryProvider {
  readonly kind: 'memory'
  /** All requests so far, refused ones included. */
  readonly requests: readonly MemoryRequest[]
  /** One line per write that arrived, carried out or not: `create www.example.com. A 192.0.2.1; …`. */
  writes(): string[]
  /** The most requests at a time so far. */
  mostAtOnce(): number
  /** `www.example.com. 300 A 192.0.2.1`, sorted; null if the zone does not exist. A record without a TTL has `-`. */
  zone(name: string): string[] | null
  settingsOf(name: string): ZoneSettings | undefined
  /** Replaces the records of a zone, as another client does; creates the zone if it does not exist. */
  set(name: string, text: string): void
  /** Adds a record as another client does. */
  add(name: string, line: string): void
  /** Removes the records of an owner, and of a type if one is given. */
  remove(name: string, owner: string, type?: string): void
  /** Replaces the TTL and data of a record of the same owner and type, which keeps its identifier. */
  change(name: string, line: string): void
  changeSettings(name: string, settings: ZoneSettings): void
  removeZone(name: string): void
  /** Sets the fault of later requests. */
  use(fault: FaultChoice | undefined): void
}

export interface Memory extends InMemoryProvider {
  /** The type of every config entry that it replaces, whatever the settings of the entry are. */
  readonly providerType: ProviderType
  /** A provider for these zones under a name of the config. Several have the same zones. */
  open(name?: string, context?: Pick<ProviderContext, 'parallelism' | 'onRequest'>): Provider
  /** The type of a config entry with these zones: that of `type`, with its settings and their checks, except that it contacts nobody. */
  as(type: ProviderType): ProviderType
}

interface StoredZone {
  readonly reference: ZoneReference
  readonly records: readonly ExistingRecord[]
  /** Milliseconds since 1970; null without a clock. */
  readonly changed: number | null
}

export function createMemory(options: MemoryOptions): Memory {
  const { capabilities, latency, clock, storedSettings = (settings) => settings } = options
  const { calls } = capabilities
  const zones = new Map<DomainName, StoredZone>()
  const requests: MemoryRequest[] = []
  const counts = new Map<MemoryRequest['kind'], number>()
  const nameservers = (options.nameservers ?? []).map(nameOf).sort()
  let { fault } = options
  let lastId = 0
  let [atOnce, most, writing] = [0, 0, 0]

  const withId = (record: ResourceRecord): ExistingRecord => {
    lastId += 1
    const { name: owner, type: ofType, ttl, data, settings } = record
    const stored = { name: owner, type: ofType, ttl, data, ...(settings && { settings }) }
    return calls.unit === 'record' ? { ...stored, id: lastId } : stored
  }
  const store = (reference: ZoneReference, records: readonly ExistingRecord[]): StoredZone => {
    const stored = { reference, records, changed: clock?.() ?? null }
    zones.set(reference.name, stored)
    return stored
  }
  const referenceTo = (zone: DomainName, settings: ZoneSettings): ZoneReference => {
    lastId += 1
    return { name: zone, id: lastId, settings: storedSettings({ type: 'master', ...settings }), updated: clock?.() }
  }
  const existing = (zone: string): StoredZone => {
    const found = zones.get(nameOf(zone))
    if (found === undefined) throw new Error(`there is no zone ${zone}`)
    return found
  }

  const open: Memory['open'] = (name = 'memory', context = {}) => {
    /** Counts a request, and carries it out unless its fault says otherwise. */
    async function request<T>(
      { kind, zone = null, changes = [] }: Pick<MemoryRequest, 'kind'> & Partial<MemoryRequest>,
      call: ProviderCallOptions | undefined,
      work: () => T,
    ): Promise<T> {
      const what = wordsOf(kind, zone, changes)
      const stopped = (): ProviderError => new ProviderError('provider-stopped', `${name}: the run was stopped`, { notSent: true })
      if (call?.stop?.aborted || call?.signal?.aborted) throw stopped()
      if (kind === 'write') await assertMayWrite(name, call, latency ?? 1)
      if (call?.stop?.aborted || call?.signal?.aborted) throw stopped()
      const one = { kind, zone, changes, nth: (counts.get(kind) ?? 0) + 1 }
      counts.set(kind, one.nth)
      requests.push(one)
      context.onRequest?.(name, false)
      atOnce += 1
      most = Math.max(most, atOnce)
      if (kind === 'write') writing += 1
      try {
        await wait(latency ?? 0, undefined, { signal: call?.signal }).catch(() => {
          const message = `${name}: ${what}: the request was aborted`
          throw new ProviderError('provider-stopped', message, { ambiguous: kind === 'write', mayCompleteLater: kind === 'write' })
        })
        const wrong = (await fault?.(one, memory)) ?? null
        if (kind === 'write' && calls.oneAtATime && writing > 1) reject(what, 'another call is being carried out')
        if (wrong?.kind === 'refused') throw new ProviderError(wrong.code, `${name}: ${what}: ${wrong.message}`, { status: wrong.status })
        if (wrong === null) return work()
        if (wrong.carriedOut === true) work()
        const isLater = typeof wrong.carriedOut === 'number'
        if (isLater)
          void wait(wrong.carriedOut as number)
            .then(work)
            .catch(() => undefined)
        const message = `${name}: ${what}: the connection was reset`
        throw new ProviderError('provider-failed', message, { ambiguous: kind === 'write', mayCompleteLater: kind === 'write' && isLater })
      } finally {
        atOnce -= 1
        if (kind === 'write') writing -= 1
      }
    }

    const snapshot = ({ reference, records, changed }: StoredZone): ZoneSnapshot => ({
      ...reference,
      records: reference.settings.type === 'slave' ? [] : records,
      millisecondsSinceLastChange: changed === null || clock === undefined ? undefined : Math.max(0, clock() - changed),
    })
    const readSnapshot = (zone: DomainName): ZoneSnapshot => {
      const found = zones.get(zone)
      if (found === undefined) throw refusal('provider-not-found', `reading ${zone}: 404 Not found`, '404')
      return snapshot(found)
    }
    const refusal = (code: DiagnosticCode, message: string, status = '400'): ProviderError =>
      new ProviderError(code, `${name}: ${message}`, { status })
    const reject = (what: string, why: string): never => {
      throw refusal('provider-rejected', `${what}: 400 ${why}`)
    }

    /** The record as the target stores it. Throws if the target does not support it. */
    function storedRecord(record: ResourceRecord, zone: DomainName, what: string): ResourceRecord {
      if (capabilities.types !== null && !capabilities.types.has(record.type)) reject(what, `there is no type ${record.type}`)
      let fitted: DefinedRecord = { ...record, at: { file: name, line: 1, column: 1 } }
      for (const rule of capabilities.rules) {
        const ruled = rule(fitted, zone)
        if (ruled.record === null) reject(what, ruled.diagnostics[0]?.message ?? 'invalid record')
        else fitted = ruled.record
      }
      if (record.ttl === null && !capabilities.ttlDefault) reject(what, 'a record needs a TTL')
      const ttl = fitted.ttl === null ? null : (storedTtl(fitted.ttl, capabilities) as Ttl)
      return { name: record.name, type: record.type, ttl, data: fitted.data, ...(record.settings && { settings: record.settings }) }
    }

    /** Throws if the target does not accept these records beside each other. */
    function checkTogether(records: readonly ResourceRecord[], touched: ReadonlySet<DomainName>, what: string): void {
      if (capabilities.maxRecords !== null && records.length > capabilities.maxRecords)
        throw refusal('limit-exceeded', `${what}: 400 a zone has at most ${capabilities.maxRecords} records`)
      const seen = new Set<string>()
      const typesOf = new Map<DomainName, string[]>()
      // Nearly all names are others: the comparison with one is much faster than the look-up.
      const [one] = touched
      for (const record of records) {
        if (touched.size === 1 ? record.name !== one : !touched.has(record.name)) continue
        if (seen.has(recordKey(record))) reject(what, `${recordKey(record)} exists`)
        seen.add(recordKey(record))
        typesOf.set(record.name, [...(typesOf.get(record.name) ?? []), record.type])
      }
      for (const [owner, types] of typesOf) {
        if (capabilities.cnameExclusive && types.includes('CNAME') && types.length > 1)
          reject(what, `${owner} has a CNAME and other records`)
        if (capabilities.aliasExclusive && types.includes('ALIAS') && (types.includes('A') || types.includes('AAAA')))
          reject(what, `${owner} has an ALIAS and addresses`)
        for (const single of capabilities.singleValueTypes ?? [])
          if (types.filter((one) => one === single).length > 1) reject(what, `${owner} has two ${single} records`)
      }
    }

    /** Changes the zone itself; null after its deletion. */
    function changeZone(change: DomainChange, { rrsets }: ProviderCall): StoredZone | null {
      const { action, name: zone } = change
      const what = `${action === 'create' ? 'creating' : action === 'delete' ? 'deleting' : 'updating'} ${zone}`
      const found = zones.get(zone)
      if (action === 'create') {
        if (found !== undefined) reject(what, `${zone} exists`)
        if (!capabilities.createsZones || !capabilities.canCreateZone(zone)) reject(what, 'this zone cannot be created')
        const settings: ZoneSettings = { type: 'master', ...change.desired }
        const missing = capabilities.neededToCreate[settings.type ?? 'master'].find((key) => settings[key] === undefined)
        if (missing !== undefined) reject(what, `${missing} is required`)
        checkSettings(settings, what)
        const given = capabilities.assignsNameservers ? nameservers : []
        const ttl = (capabilities.fallbackTtl ?? 3600) as Ttl
        return store(
          referenceTo(zone, settings),
          given.map((data) => withId({ name: zone, type: 'NS', ttl, data })),
        )
      }
      if (found === undefined) throw refusal('provider-not-found', `${what}: 404 Not found`, '404')
      if (action === 'delete') {
        if (!(capabilities.deletesZones ?? capabilities.createsZones)) reject(what, 'zones cannot be deleted')
        if (calls.hasPrecondition) refuseChangedZone(name, rrsets, found)
        zones.delete(zone)
        return null
      }
      const fixed = change.fields.find((field) => capabilities.fixedSettings.has(field) || !capabilities.settings.has(field))
      if (fixed !== undefined) reject(what, `${fixed} cannot be changed`)
      checkSettings(change.desired ?? {}, what)
      const settings = storedSettings({ ...found.reference.settings, ...change.desired })
      return store({ ...found.reference, settings, updated: clock?.() }, found.records)
    }

    function checkSettings(settings: ZoneSettings, what: string): void {
      const [problem] = capabilities.settingProblems(settings)
      if (problem !== undefined) reject(what, problem.message)
    }

    /** The records after one change of a single record, and what it stored. */
    function changeRecord(change: Change, records: readonly ExistingRecord[], zone: DomainName) {
      if (change.subject !== 'record') throw new Error('a change of a zone is alone in its call')
      const what = `${{ create: 'creating', update: 'updating', delete: 'deleting' }[change.action]} ${change.name} ${change.type}`
      const at = change.action === 'create' ? -1 : records.findIndex(({ id }) => id === change.id)
      if (change.action !== 'create' && at === -1) throw refusal('provider-not-found', `${what}: 404 Not found`, '404')
      const others = at === -1 ? records : [...records.slice(0, at), ...records.slice(at + 1)]
      const { desired } = change
      if (desired === null) return { records: others, result: {} }
      const fitted = storedRecord(desired, zone, what)
      const record = at === -1 ? withId(fitted) : { ...records[at], ...fitted, id: records[at]?.id }
      const changed = [...others, record]
      checkTogether(changed, new Set([record.name]), what)
      const isAsSent = record.ttl === desired.ttl && record.data === desired.data
      return { records: changed, result: { id: record.id, ...(isAsSent ? {} : { stored: fitted }) } }
    }

    /** Carries out one call: as a whole, or change by change until one is refused. */
    function carryOut(reference: ZoneReference | null, call: ProviderCall): Awaited<ReturnType<Provider['apply']>> {
      const [first] = call.changes
      let stored = reference === null ? undefined : zones.get(reference.name)
      const results: AppliedChange[] = []
      const before = new Map(zones)
      try {
        if (capabilities.readOnly) reject(`changing ${reference?.name ?? first?.name}`, 'zones are only read')
        if (first?.subject === 'domain') {
          const changed = changeZone(first, call)
          results.push(changed === null ? {} : { id: changed.reference.id })
          if (changed === null) return { changes: results }
          stored = changed
          if (call.changes.length > 1 && !calls.createsZoneWithRecords) throw new Error('records are not in the call that creates a zone')
        }
        if (stored === undefined) throw refusal('provider-not-found', `changing ${reference?.name}: 404 Not found`, '404')
        const { reference: zone } = stored
        const changes = call.changes.filter(({ subject }) => subject === 'record')
        const what = `changing ${zone.name}`
        if (zone.settings.type === 'slave' && changes.length > 0) reject(what, 'the records of a slave zone come from its masters')
        if (calls.unit === 'record') {
          if (calls.maxUnits !== null && changes.length > calls.maxUnits) reject(what, `a request has at most ${calls.maxUnits} records`)
          const offset = results.length
          // A batch that is carried out as a whole begins with its deletions, as at Cloudflare.
          const isFirst = (change: Change): boolean => calls.atomic && change.action === 'delete'
          for (const change of changes.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))) {
            const { records, result } = changeRecord(change, zones.get(zone.name)?.records ?? [], zone.name)
            results[offset + changes.indexOf(change)] = result
            store(zone, records)
          }
        } else if (call.rrsets.length > 0) {
          if (calls.maxUnits !== null && call.rrsets.length > calls.maxUnits)
            reject(what, `a request has at most ${calls.maxUnits} record sets`)
          const owners = new Set(call.rrsets.map((rrset) => rrset.name))
          const present = groupRrsets(stored.records.filter((record) => owners.has(record.name)))
          if (calls.hasPrecondition)
            refuseConflicts(
              name,
              call.rrsets.filter((rrset) => !isOfNewZone(rrset, zone.name, rrsetImage(present.get(rrsetKey(rrset)) ?? []), nameservers)),
              (rrset) => rrsetImage(present.get(rrsetKey(rrset)) ?? []),
            )
          const sent = (index: number): readonly ResourceRecord[] => {
            const { name: owner, type: ofType, desired } = call.rrsets[index] as RrsetChange
            const at = `changing ${owner} ${ofType}`
            const settings = changes.flatMap((one) =>
              one.subject === 'record' && one.desired?.name === owner && one.type === ofType ? [one.desired] : [],
            )
            return (desired?.data ?? []).map((data) =>
              storedRecord(
                { ...settings.find((one) => one.data === data), name: owner, type: ofType, ttl: desired?.ttl ?? null, data },
                zone.name,
                at,
              ),
            )
          }
          const put = (some: readonly number[]): void => {
            const keys = new Set(some.map((index) => rrsetKey(call.rrsets[index] as RrsetChange)))
            const kept = (zones.get(zone.name)?.records ?? []).filter((record) => !owners.has(record.name) || !keys.has(rrsetKey(record)))
            const all = [...kept, ...some.flatMap(sent).map(withId)]
            checkTogether(all, new Set(some.map((index) => (call.rrsets[index] as RrsetChange).name)), what)
            store(zone, all)
          }
          const all = call.rrsets.map((_, index) => index)
          // Deletions first: neither a CNAME nor a limit may stop what follows.
          const inOrder = all.toSorted((a, b) => Number(call.rrsets[a]?.desired !== null) - Number(call.rrsets[b]?.desired !== null))
          if (calls.atomic || calls.ordersChanges) put(inOrder)
          else for (const index of inOrder) put([index])
        }
        const after = zones.get(zone.name) as StoredZone
        const [owned, keys] = [new Set(call.rrsets.map((rrset) => rrset.name)), new Set(call.rrsets.map(rrsetKey))]
        return {
          ...(calls.unit === 'record' && { changes: results }),
          ...(first?.subject === 'domain' && { zone: after.reference, changes: results }),
          ...(options.statesRecords && {
            storedRecords: after.records.filter((record) => owned.has(record.name) && keys.has(rrsetKey(record))),
          }),
        }
      } catch (error) {
        // What a refused call has done so far stays only if calls are not carried out as a whole.
        if (calls.atomic) {
          zones.clear()
          for (const [zone, value] of before) zones.set(zone, value)
        }
        throw error
      }
    }

    /** The rendered file of a target that adds SOA and apex NS records itself. */
    function renderedLines({ reference, records }: StoredZone): string[] {
      const ttl = reference.settings.ttl_sec || capabilities.fallbackTtl || 3600
      const frame = [
        `${reference.name} ${ttl} IN SOA ns1.memory.test. hostmaster.memory.test. 1 2 3 4 5`,
        ...(nameservers.length === 0 ? ['ns1.memory.test.'] : nameservers).map((target) => `${reference.name} ${ttl} IN NS ${target}`),
      ]
      return [...frame, ...records.map((record) => `${record.name} ${record.ttl ?? ttl} IN ${record.type} ${record.data}`)]
    }

    return {
      name,
      type: 'memory',
      address: 'memory:',
      capabilities,
      parallelism: context.parallelism ?? options.parallelism ?? 4,
      findZones: (names, call) =>
        request(
          { kind: 'look-up' },
          call,
          () => new Map(names.flatMap((one) => (zones.has(one) ? [[one, existing(one).reference] as const] : []))),
        ),
      listZones: (call) =>
        request({ kind: 'list' }, call, () => ({ zones: [...zones.values()].map(({ reference }) => reference), unusable: [] })),
      readZone: (zone, call) => request({ kind: 'read', zone: zone.name }, call, () => readSnapshot(zone.name)),
      ...(options.readsByName && {
        readNamedZone: (zone, call) => request({ kind: 'read', zone }, call, () => (zones.has(zone) ? readSnapshot(zone) : null)),
      }),
      readRendered: async (zone, call) =>
        capabilities.servesApexNs
          ? request({ kind: 'rendered', zone: zone.name }, call, () => ({ lines: renderedLines(existing(zone.name)) }))
          : null,
      findRecords: (zone, like, call) =>
        request({ kind: 'read', zone: zone.name }, call, () => {
          const wanted = new Set(like.map(rrsetKey))
          return readSnapshot(zone.name).records.filter((record) => wanted.has(rrsetKey(record)))
        }),
      apply: (zone, call, more) =>
        request({ kind: 'write', zone: zone?.name ?? call.changes[0]?.name ?? null, changes: call.changes }, more, () =>
          carryOut(zone, call),
        ),
      close: async () => undefined,
    }
  }

  const memory: Memory = {
    kind: 'memory',
    providerType: {
      capabilities,
      checkSettings: () => [],
      endpoints: () => [],
      create: async ({ name }, context) => ({ provider: open(name, context), diagnostics: [] }),
    },
    open,
    as: (type) => ({
      ...type,
      capabilities,
      capabilitiesFor: () => capabilities,
      async create(config, context) {
        const { provider, diagnostics } = await type.create(config, context)
        await provider?.close()
        return { provider: provider && { ...open(config.name, context), type: provider.type, address: provider.address }, diagnostics }
      },
    }),
    requests,
    writes: () => requests.filter(({ kind }) => kind === 'write').map(({ changes }) => changes.map(lineOfChange).join('; ')),
    mostAtOnce: () => most,
    zone: (zone) =>
      zones
        .get(nameOf(zone))
        ?.records.map((one) => `${one.name} ${one.ttl ?? '-'} ${one.type} ${one.data}`)
        .sort() ?? null,
    settingsOf: (zone) => zones.get(nameOf(zone))?.reference.settings,
    set(zone, text) {
      const reference = zones.get(nameOf(zone))?.reference ?? referenceTo(nameOf(zone), options.settings ?? {})
      store(reference, recordsOf(nameOf(zone), text, capabilities).map(withId))
    },
    add(zone, line) {
      const { reference, records } = existing(zone)
      store(reference, [...records, ...recordsOf(reference.name, line, capabilities).map(withId)])
    },
    remove(zone, owner, ofType) {
      const { reference, records } = existing(zone)
      const gone = ({ name: of, type: is }: ResourceRecord): boolean => of === nameOf(owner) && (ofType ?? is) === is
      store(
        reference,
        records.filter((record) => !gone(record)),
      )
    },
    change(zone, line) {
      const { reference, records } = existing(zone)
      const [next] = recordsOf(reference.name, line, capabilities)
      const at = records.findIndex((record) => next !== undefined && rrsetKey(record) === rrsetKey(next))
      if (next === undefined || at === -1) throw new Error(`${zone} has no such record: ${line}`)
      store(reference, records.with(at, { ...(records[at] as ExistingRecord), ttl: next.ttl, data: next.data }))
    },
    changeSettings(zone, settings) {
      const { reference, records } = existing(zone)
      store({ ...reference, settings: { ...reference.settings, ...settings }, updated: clock?.() }, records)
    },
    removeZone: (zone) => void zones.delete(nameOf(zone)),
    use: (next) => {
      fault = next
    },
  }
  for (const [zone, text] of Object.entries(options.zones ?? {})) memory.set(zone, text)
  return memory
}

function nameOf(text: string): DomainName {
  const parsed = parseAbsoluteName(text)
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`)
  return parsed.value
}

/** Records of zone-file text; a record without a TTL follows the default of the zone if the target has one. */
function recordsOf(zone: DomainName, text: string, { ttlDefault, fallbackTtl = 3600 }: Capabilities): readonly ResourceRecord[] {
  const withoutTtl = ttlDefault ? '' : `$TTL ${fallbackTtl}\n`
  const { records, diagnostics } = parseZoneFile(`${withoutTtl}${text}\n`, { origin: zone, zone, file: zone })
  const [error] = diagnostics.filter(({ severity }) => severity === 'error')
  if (error !== undefined) throw new Error(`${zone}: ${error.message}`)
  return records
}

/** What a request does, as messages name it. */
function wordsOf(kind: MemoryRequest['kind'], zone: DomainName | null, [first, ...more]: readonly Change[]): string {
  if (kind === 'list') return 'listing zones'
  if (kind === 'look-up') return 'looking up zones'
  if (kind === 'read') return `reading the records of ${zone}`
  if (kind === 'rendered') return `reading the rendered zone file of ${zone}`
  if (first === undefined || (more.length > 0 && first.subject === 'record')) return `changing ${zone}`
  const verb = { create: 'creating', update: 'updating', delete: 'deleting' }[first.action]
  return first.subject === 'domain' ? `${verb} ${first.name}` : `${verb} ${first.name} ${first.type}`
}

function lineOfChange(change: Change): string {
  if (change.subject === 'domain') return `${change.action} ${change.name}`
  const { action, name, type, desired } = change
  return `${action} ${name} ${type}${desired === null ? '' : ` ${desired.data}`}`
}
