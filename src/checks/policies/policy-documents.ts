/** The documents that policies see, and their keys. They resemble the plan document of `schemas/plan.schema.json`. */
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

/** The keys that a document, or a part of it, can have; `any` if they are not known. */
export type Shape = { readonly keys: Readonly<Record<string, Shape>> } | { readonly items: Shape } | 'any'

/** A zone as the definitions describe it. */
export interface ZoneDocument {
  readonly zone: string
  /** That of the record set, or else of its zone; null if neither the definition nor the config names one. */
  readonly owner: string | null
  /** The day from whose begin it has expired; null if none is set. */
  readonly expires: string | null
  /** The names of its providers. */
  readonly targets: readonly string[]
  /** With its `type`, and the other settings that are stated. */
  readonly settings: ZoneSettings
  readonly recordSets: readonly RecordSetDocument[]
}

export interface RecordSetDocument extends Pick<ZoneDocument, 'zone' | 'owner' | 'expires' | 'targets'> {
  readonly name: string
  /** `''` at the apex. */
  readonly relativeName: string
  readonly type: string
  /** In seconds; null if neither the definition nor the config states one. */
  readonly ttl: number | null
  /** The canonical text of each record, as zone files have it. Empty while values are not read from their source. */
  readonly data: readonly string[]
  /** Each record as definitions have it: `{preference: 10, exchange: mail}`, or text. */
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

/** A record, or the settings of the zone itself. */
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

/** What the document of a zone is made from. */
export interface ZoneContents {
  readonly name: DomainName
  readonly owner: string | null
  readonly targets: readonly string[]
  readonly expires?: string | undefined
  readonly settings: ZoneSettings
  /** For records without a TTL. */
  readonly defaultTtl: Ttl | null
  readonly records: readonly (ResourceRecord & Ownership)[]
  /** Record sets whose values are not known yet. */
  readonly sourced?: readonly SourcedRrset[] | undefined
  /** Whether more record sets are read when the zone is planned; false if absent. */
  readonly isPartial?: boolean | undefined
  /** What is not known of a record set (by owner and type), or of the zone (null). Nothing if absent. */
  readonly unknownOf?: ((set: string | null) => readonly UnknownProperty[]) | undefined
}

/** What definitions say, and the zones and plans of a provider do not. */
export type UnknownProperty = 'owner' | 'expires' | 'targets'

/** Thrown when a rule looks at a property whose value is not known. */
export const UNKNOWN = new Error('the value of the property is not known')

const unknown = {
  enumerable: true,
  get: (): never => {
    throw UNKNOWN
  },
}

const withoutUnknown = <Document extends object>(document: Document, names: readonly UnknownProperty[] = []): Document =>
  Object.defineProperties(document, Object.fromEntries(names.map((name) => [name, unknown])))

/** The document of a zone. Its record sets are in the order of the definition, those with unknown values at the end. */
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
      // Few rules need them, and some take long to print.
      get values() {
        values ??= data.map((one) => definedValue(type, one, zone))
        return values
      },
    }
    return unknownOf === undefined ? document : withoutUnknown(document, unknownOf(rrsetKey({ name, type })))
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
  return withoutUnknown(document, unknownOf?.(null))
}

/** The value as definitions have it. Data of a provider that has no such form, in a saved plan, stays as it is. */
function definedValue(type: string, data: string, zone: DomainName): YamlData {
  try {
    return printValue(type, data, zone)
  } catch {
    return data
  }
}

const ZONE = 'example.com.'

/** The document of a test, with neutral values for the keys that it leaves out: the zone is `example.com.`, and a record set is at its apex. */
export function completeDocument(each: PolicySubject, given: Readonly<Record<string, unknown>>, zone: unknown = ZONE): object {
  const listOf = (key: string, part: PolicySubject, inner: unknown): unknown[] =>
    (Array.isArray(given[key]) ? given[key] : []).map((one) => completeDocument(part, one, inner))
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
        ...STATES,
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

const STATES = { existing: null, desired: null, fields: [], after: [], id: null, call: 0 }

/** A name relative to a zone; `''` if it is not a name of the zone. */
function relativeTo(name: unknown, zone: unknown): string {
  const end = `.${zone}`
  return typeof name === 'string' && name.endsWith(end) ? name.slice(0, -end.length) : ''
}
