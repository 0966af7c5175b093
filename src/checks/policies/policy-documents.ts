/** The documents that policies check, and the keys of these documents. They resemble the plan document of `schemas/plan.schema.json`. */
import { printValue } from '../../definition/print/print-value.ts'
import type { YamlData } from '../../definition/yaml/print-yaml.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { isAtOrBelow, relativeName } from '../../dns/domain-name.ts'
import type { Ownership } from '../../dns/ownership.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { ZONE_SETTINGS, type ZoneSettings } from '../../dns/zone.ts'
import type { SourcedRrset } from '../../dns/zone-source.ts'
import type { PolicySubject } from './policy-rule.ts'

/** The possible keys of a document or of a part of it; `any` if the keys are unknown. */
export type Shape = { readonly keys: Readonly<Record<string, Shape>> } | { readonly items: Shape } | 'any'

/** A zone as its definition describes it. */
export interface ZoneDocument {
  readonly zone: string
  /** The owner of the record set if it has its own, otherwise the owner of the zone; null if neither the definition nor the config names one. */
  readonly owner: string | null
  /** The first day on which it has expired (`2027-03-31`); null if none is set. */
  readonly expires: string | null
  /** The names of the providers that it is planned for. */
  readonly targets: readonly string[]
  /** The `type` of the zone, and the other settings in its definition. */
  readonly settings: ZoneSettings
  readonly recordSets: readonly RecordSetDocument[]
}

export interface RecordSetDocument extends Pick<ZoneDocument, 'zone' | 'owner' | 'expires' | 'targets'> {
  readonly name: string
  /** The name relative to the zone; `''` at the apex. */
  readonly relativeName: string
  readonly type: string
  /** In seconds; null if neither the definition nor the config states one. */
  readonly ttl: number | null
  /** The data of each record as in a zone file, in canonical form. Empty until the values have been read from their source. */
  readonly data: readonly string[]
  /** Each record in the syntax of definitions: `{preference: 10, exchange: mail}`, or a text. */
  readonly values: readonly YamlData[]
}

const SCALAR: Shape = { keys: {} }
const LIST: Shape = { items: SCALAR }

const scalars = (...names: readonly string[]): Record<string, Shape> => Object.fromEntries(names.map((name) => [name, SCALAR]))

const RECORD_SET: Shape = {
  keys: {
    ...scalars('zone', 'owner', 'expires', 'name', 'relativeName', 'type', 'ttl'),
    targets: LIST,
    data: LIST,
    values: { items: 'any' },
  },
}

const SETTINGS: Record<string, Shape> = {
  ...scalars(...ZONE_SETTINGS),
  tags: LIST,
  master_ips: LIST,
  axfr_ips: LIST,
}

/** The state before or after a change: a record, or the settings of the zone. */
const STATE: Shape = { keys: { ...SETTINGS, ...scalars('name', 'type', 'ttl', 'data', 'source'), settings: 'any' } }

const CHANGE: Shape = {
  keys: {
    ...scalars('zone', 'target', 'owner', 'action', 'subject', 'name', 'relativeName', 'type', 'id', 'call', 'split'),
    existing: STATE,
    desired: STATE,
    fields: LIST,
    after: LIST,
  },
}

const COUNTS = ['errors', 'refusedZones', 'create', 'update', 'delete', 'unchanged', 'zones', 'changedZones', 'calls'] as const

/** The keys of the document of each subject. */
export const SHAPES: Readonly<Record<PolicySubject, Shape>> = {
  zone: {
    keys: { ...scalars('zone', 'owner', 'expires'), targets: LIST, settings: { keys: SETTINGS }, recordSets: { items: RECORD_SET } },
  },
  record_set: RECORD_SET,
  change: CHANGE,
  plan: {
    keys: {
      ...scalars('format', 'version', 'created', 'tool'),
      snapshot: 'any',
      base: 'any',
      keepsGoing: SCALAR,
      zones: { items: 'any' },
      diagnostics: { items: 'any' },
      changes: { items: CHANGE },
      summary: { keys: scalars(...COUNTS) },
    },
  },
}

/** The data for the document of a zone. */
export interface ZoneContents {
  readonly name: DomainName
  readonly owner: string | null
  readonly targets: readonly string[]
  readonly expires?: string | undefined
  readonly settings: ZoneSettings
  /** The TTL of records without their own; null if it is unknown. */
  readonly defaultTtl: Ttl | null
  readonly records: readonly (ResourceRecord & Ownership)[]
  /** Record sets with values that have not been read from their source yet. */
  readonly sourced?: readonly SourcedRrset[] | undefined
  /** Whether planning the zone reads more record sets; false if absent. */
  readonly isPartial?: boolean | undefined
  /** Returns the unknown properties of a record set (given by `rrsetKey`) or of the zone (null). If absent, all properties are known. */
  readonly unknownOf?: ((set: string | null) => readonly UnknownProperty[]) | undefined
}

/** A property that a definition states, and that the zones and plans of a provider lack. */
export type UnknownProperty = 'owner' | 'expires' | 'targets'

/** Thrown when a rule reads a property with an unknown value. */
export const UNKNOWN = new Error('the value of the property is not known')

const unknown = {
  enumerable: true,
  get: (): never => {
    throw UNKNOWN
  },
}

/** The document itself, with the named properties changed to throw `UNKNOWN` when they are read. */
const guardUnknown = <Document extends object>(document: Document, names: readonly UnknownProperty[] = []): Document =>
  Object.defineProperties(document, Object.fromEntries(names.map((name) => [name, unknown])))

/** The document of a zone. Its record sets have the order of the definition; those with unread values follow at the end. */
export function zoneDocument({
  name: zone,
  owner,
  expires,
  targets,
  settings,
  defaultTtl,
  records,
  sourced = [],
  unknownOf,
}: ZoneContents): ZoneDocument {
  const setOf = (
    { name, type, ttl, ...own }: Pick<ResourceRecord, 'name' | 'type' | 'ttl'> & Ownership,
    data: readonly string[],
  ): RecordSetDocument => {
    let values: readonly YamlData[] | null = null
    const document = {
      zone,
      owner: own.owner ?? owner,
      expires: own.expires ?? expires ?? null,
      targets,
      name,
      relativeName: isAtOrBelow(name, zone) ? relativeName(name, zone) : '',
      type,
      ttl: ttl ?? defaultTtl,
      data,
      // Printed on first use: few rules read the values, and some values take long to print.
      get values() {
        values ??= data.map((one) => definedValue(type, one, zone))
        return values
      },
    }
    return unknownOf === undefined ? document : guardUnknown(document, unknownOf(rrsetKey({ name, type })))
  }
  const sets = [...groupRrsets(records).values()].map((set) =>
    setOf(
      set[0] as ResourceRecord,
      set.map(({ data }) => data),
    ),
  )
  const document = {
    zone,
    owner,
    expires: expires ?? null,
    targets,
    settings: { type: 'master', ...settings } as ZoneSettings,
    recordSets: [...sets, ...sourced.map((set) => setOf(set, []))],
  }
  return guardUnknown(document, unknownOf?.(null))
}

/** The value in the syntax of definitions. A saved plan may have data from a provider that this syntax cannot express: then the data itself. */
function definedValue(type: string, data: string, zone: DomainName): YamlData {
  try {
    return printValue(type, data, zone)
  } catch {
    return data
  }
}

const ZONE = 'example.com.'

/** Completes the document of a policy test with neutral values: by default, the zone is `example.com.` and a record set is at its apex. */
export function completeTestDocument(each: PolicySubject, given: Readonly<Record<string, unknown>>, zone: unknown = ZONE): object {
  const listOf = (key: string, part: PolicySubject, inner: unknown): unknown[] =>
    (Array.isArray(given[key]) ? given[key] : []).map((one) => completeTestDocument(part, one, inner))
  const own = typeof given['zone'] === 'string' ? given['zone'] : zone
  const named = { name: own, ...given, relativeName: given['relativeName'] ?? relativeTo(given['name'] ?? own, own) }
  switch (each) {
    case 'zone':
      return {
        ...{ zone: own, owner: null, expires: null, targets: [] },
        ...given,
        settings: { type: 'master', ...(given['settings'] as object | undefined) },
        recordSets: listOf('recordSets', 'record_set', own),
      }
    case 'record_set':
      return { zone: own, owner: null, expires: null, targets: [], type: 'A', ttl: null, data: [], values: [], ...named }
    case 'change': {
      const isZone = given['subject'] === 'domain'
      return {
        zone: own,
        target: 'cloud',
        owner: null,
        action: 'update',
        subject: 'record',
        type: isZone ? null : 'A',
        ...NEUTRAL_CHANGE,
        ...named,
      }
    }
    case 'plan': {
      const changes = listOf('changes', 'change', ZONE) as { readonly action?: unknown }[]
      const count = (action: string): number => changes.filter((change) => change.action === action).length
      const counted = { create: count('create'), update: count('update'), delete: count('delete') }
      const summary = { ...Object.fromEntries(COUNTS.map((key) => [key, 0])), ...counted, ...(given['summary'] as object | undefined) }
      return { zones: [], diagnostics: [], ...given, changes, summary }
    }
  }
}

const NEUTRAL_CHANGE = { existing: null, desired: null, fields: [], after: [], id: null, call: 0 }

/** A name relative to a zone; `''` if it is not below the zone. */
function relativeTo(name: unknown, zone: unknown): string {
  const end = `.${zone}`
  return typeof name === 'string' && name.endsWith(end) ? name.slice(0, -end.length) : ''
}
