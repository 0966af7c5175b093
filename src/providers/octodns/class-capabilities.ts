/** What a provider class of octoDNS supports. */
import { OCTODNS_TYPES, SINGLE_VALUE_TYPES } from '../../definition/print/octodns-value.ts'
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import type { ReadOnlyReason } from '../../plan/make-plan.ts'
import type { Message } from '../bridge-process.ts'
import type { CapabilityFacts } from '../provider.ts'
import { refuseIf } from '../record-rules.ts'
import { OCTODNS_CAPABILITIES } from './capabilities.ts'

/** What a class says about itself. */
export interface ClassFeatures {
  readonly types: ReadonlySet<string>
  /** Whether plans can change the apex NS records. */
  readonly hasRootNs: boolean
  readonly hasMultivaluePtr: boolean
  readonly listsZones: boolean
  /** Why no zone can be changed; null if zones can. */
  readonly readOnly: ReadOnlyReason | null
  /** Whether it is a source, which is no target for any zone. */
  readonly isSource: boolean
  /** For people: `octodns-bind 1.1.0, octoDNS 1.22.0, Python 3.11.7`. */
  readonly versions: string
  /** What pip installs for it: `octodns==1.22.0`. Modules that are not of octoDNS are left out: the registry may have a stranger's package with their name. */
  readonly packages: readonly string[]
}

/** The settings of the provider that capabilities depend on. */
export interface ClassSettings {
  readonly changesPerCall: number
  readonly createsZones: boolean
}

export const DEFAULT_CHANGES_PER_CALL = 1000

/** What any class can do, before it has been asked. */
const ANY_CLASS: ClassFeatures = {
  types: OCTODNS_TYPES,
  hasRootNs: true,
  hasMultivaluePtr: true,
  listsZones: true,
  readOnly: null,
  isSource: false,
  versions: '',
  packages: [],
}

/** Types that a module writes and cannot read again, so that the whole zone becomes unreadable for it. */
const UNREADABLE: Readonly<Record<string, readonly string[]>> = { octodns_bind: ['LOC'] }

/** The features that capabilities depend on. */
export const factsOf = ({ types, hasRootNs, hasMultivaluePtr }: ClassFeatures): CapabilityFacts => ({
  types: [...types].sort(),
  hasRootNs,
  hasMultivaluePtr,
})

/** The features in the facts of an earlier run; undefined if it has none. */
export function featuresOf(facts: CapabilityFacts | undefined): ClassFeatures | undefined {
  const types = facts?.['types']
  if (facts === undefined || !Array.isArray(types)) return undefined
  return {
    ...ANY_CLASS,
    types: new Set(types.map(String).filter((type) => OCTODNS_TYPES.has(type))),
    hasRootNs: facts['hasRootNs'] === true,
    hasMultivaluePtr: facts['hasMultivaluePtr'] === true,
  }
}

const DISABLED: ReadOnlyReason = { reason: '"apply_disabled" is set for octoDNS', hint: 'remove it from "options"' }

/** Null if the message is not that of our child. */
export function readFeatures(className: string, message: unknown): ClassFeatures | null {
  const { types, root_ns, multivalue_ptr, lists, reads_only, disabled, version, octodns, python } = (message ?? {}) as Message
  const module = className.split('.')[0] ?? ''
  const isSource = reads_only === true
  if (!Array.isArray(types)) return null
  const requirement = (name: string, stated: unknown): string[] =>
    /^octodns(?:-[a-z0-9-]{1,60})?$/.test(name) && /^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,39}$/.test(String(stated ?? ''))
      ? [`${name}==${stated}`]
      : []
  const own = version === '' ? [] : [`${module.replaceAll('_', '-')} ${String(version)}`]
  return {
    // The types of a source say nothing about a target.
    types: isSource
      ? OCTODNS_TYPES
      : new Set(types.map(String).filter((type) => OCTODNS_TYPES.has(type) && !UNREADABLE[module]?.includes(type))),
    hasRootNs: root_ns === true,
    hasMultivaluePtr: multivalue_ptr === true,
    listsZones: lists === true,
    readOnly: isSource
      ? { reason: `${className} only reads zones`, hint: 'give the zone another target; "import --from" takes over its records' }
      : disabled === true
        ? DISABLED
        : null,
    isSource,
    versions: [...own, `octoDNS ${String(octodns)}`, `Python ${String(python)}`].join(', '),
    packages: [...requirement('octodns', octodns), ...(module === 'octodns' ? [] : requirement(module.replaceAll('_', '-'), version))],
  }
}

/**
 * octoDNS takes an empty text for none, removes a quote at the beginning with the last character, and removes quotes with a blank in between. Some of its classes
 * take a backslash for itself, and others for an escape.
 */
const texts = refuseIf(({ type, data }) => {
  if (type !== 'TXT' && type !== 'SPF') return null
  const text = Buffer.from(txtRdataToOctets(data)).toString('latin1')
  if (text === '') return 'octoDNS has no empty texts'
  return /^"|" "|\\/.test(text) ? 'octoDNS may change this text, which has quotes or backslashes' : null
})

export function classCapabilities({ changesPerCall, createsZones }: ClassSettings, features = ANY_CLASS): Capabilities {
  return {
    ...RRSET_STORE,
    readOnly: features.isSource,
    calls: {
      ...RRSET_STORE.calls,
      maxUnits: changesPerCall,
      // A class makes its changes as it likes, often one by one, and says nothing about them if one fails.
      atomic: false,
      ordersChanges: true,
      createsZoneWithRecords: createsZones,
    },
    types: features.types,
    fallbackTtl: OCTODNS_CAPABILITIES.fallbackTtl,
    singleValueTypes: features.hasMultivaluePtr ? SINGLE_VALUE_TYPES : new Set([...SINGLE_VALUE_TYPES, 'PTR']),
    createsZones,
    deletesZones: false,
    canCreateZone: () => createsZones,
    servesApexNs: !features.hasRootNs,
    rules: [...OCTODNS_CAPABILITIES.rules, texts],
  }
}
