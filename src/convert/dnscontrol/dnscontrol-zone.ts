import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import { withoutRepeats } from '../../definition/load/repeated-records.ts'
import { settingsOfSoa } from '../../definition/load/zone-file-definition.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { Policy, UnmanagedSelector, ZoneSettings } from '../../dns/zone.ts'
import { checkSoaSettings } from '../check-soa-settings.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import { recordsWithinRules } from '../definable-records.ts'
import { excerpt } from '../excerpt.ts'
import { type DerivedSelectors, isExposed, unmanagedSelectorsFor } from '../unmanaged-selectors.ts'
import type { UnsupportedRecord } from './json-input.ts'

/** A zone as one of DNSControl's formats has it. */
export interface ZoneToConvert {
  readonly name: DomainName
  readonly records: readonly ImportedRecord[]
  readonly unknownSettings?: readonly UnsupportedRecord[]
  readonly unmanaged?: readonly UnmanagedSelector[]
  /** How careful plans are to be; all that differs is changed where it is absent or null. */
  readonly policy?: Policy | null
  /** Where they are known apart from an SOA record. */
  readonly settings?: ZoneSettings
  /** Warnings of what is said of the zone and not of its records. */
  readonly asides?: readonly Diagnostic[]
}

export interface DnscontrolZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The zone as a definition can have it: its SOA record is settings. A record that a definition cannot have is named, and selectors leave it
 * alone where it is; so is one that is of what `IGNORE` leaves to others, which DNSControl allows where its check is switched off.
 */
export function zoneOfDnscontrol(read: ZoneToConvert, file: string): DnscontrolZone {
  const { name, unknownSettings = [], unmanaged = [], settings } = read
  const at = { file, line: 1, column: 1 }
  const soa = read.records.find((record) => record.type === 'SOA' && record.name === name)
  const { records: all, diagnostics } = withoutRepeats(
    read.records.filter((record) => record !== soa).map((record) => ({ ...record, at: record.at ?? at })),
  )
  const isIgnored = unmanagedTest(unmanaged, name)
  const ignored = all.filter(isIgnored)
  const { records, others } = recordsWithinRules(
    name,
    all.filter((record) => !isIgnored(record)),
  )
  const undefinable: readonly UnsupportedRecord[] = [...unknownSettings, ...others]
  const left = unmanagedSelectorsFor(name, { records, others: undefinable })
  const checked = checkSoaSettings({
    name,
    settings: settings ?? (soa ? settingsOfSoa(soa) : {}),
    records,
    unmanaged: [...unmanaged, ...left.selectors],
    ...(read.policy && { policy: read.policy }),
  })
  return {
    zone: checked.zone,
    dropped: [
      ...checked.dropped,
      ...ignored.map((record) => lostRecord(name, record, 'an IGNORE leaves it to others', LEFT)),
      ...undefinable.map(({ record, why }) => lostRecord(name, record, why, outcomeOf(record, left))),
    ],
    diagnostics: [...diagnostics, ...(read.asides ?? [])],
  }
}

const LEFT = 'it is left out, and "unmanaged" leaves it as it is'

const outcomeOf = (record: ImportedRecord, left: DerivedSelectors): string =>
  isExposed(record, left) ? 'it is left out; no selector of "unmanaged" tells it from others, so that plans delete it' : LEFT

const lostRecord = (zone: DomainName, { name, type, data, at }: ImportedRecord, why: string, outcome: string): UnsupportedFeature => ({
  zone,
  name,
  type,
  what: data === '' ? why : `${excerpt(data)}: ${why}`,
  at,
  outcome,
})
