/** What targets hold: the rules for single records that services have in common, and the settings of services without secondary zones. */
import { octetsToTxtRdata, txtRdataToOctets } from '../dns/character-string.ts'
import { rdataFields, targetName } from '../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../dns/record.ts'
import type { Ttl } from '../dns/ttl.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../plan/capabilities.ts'

/** Why a target does not support a record; without a code `record-unsupported`. */
export type Refusal = string | readonly [code: 'type-unsupported' | 'record-unsupported' | 'limit-exceeded', why: string, hint?: string]

/** A rule that refuses the records for which the function has a reason. */
export const refuseIf =
  (refusalOf: (...args: Parameters<RecordRule>) => Refusal | null): RecordRule =>
  (record, zone) => {
    const refusal = refusalOf(record, zone)
    if (refusal === null) return { record, diagnostics: [] }
    const [code, why, hint] = typeof refusal === 'string' ? (['record-unsupported', refusal] as const) : refusal
    const message = `${record.name} ${record.type}: ${why}`
    return { record: null, diagnostics: [{ severity: 'error', code, message, at: record.at, hint }] }
  }

/** A name of letters, digits, `-` and `_`, with a leading `*` at most. */
export const PLAIN_NAME = /^(?:\*\.)?(?:[a-z0-9_-]+\.)+$/

/** Refuses other owner names than plain ones. */
export const plainOwners = (service: string): RecordRule =>
  refuseIf(({ name }) =>
    PLAIN_NAME.test(name) ? null : `${service} holds names of letters, digits, "-" and "_", with a leading "*" at most`,
  )

/** Refuses other targets than names of the pattern, and the root for types that are not listed. */
export const plainTargets = (service: string, rootTypes: readonly string[] | null, pattern = PLAIN_NAME): RecordRule =>
  refuseIf(({ type, data }) => {
    const target = targetName(type, data)
    const isHeld = target === null || pattern.test(target) || (target === '.' && (rootTypes?.includes(type) ?? true))
    return isHeld ? null : `${service} does not support the target ${target}`
  })

/** Refuses records of these types at the apex, for these reasons. */
export const atApex = (reasons: Readonly<Record<string, string>>): RecordRule =>
  refuseIf(({ name, type }, zone) => (name === zone && Object.hasOwn(reasons, type) ? (reasons[type] as string) : null))

/** Refuses CAA values with spaces, which begin parameters. */
export const plainCaa = (service: string): RecordRule =>
  refuseIf(({ type, data }) =>
    type === 'CAA' && /\s/.test(rdataFields(data)[2] ?? '') ? `${service} accepts CAA values without spaces` : null,
  )

export const isPrintable = (octets: Uint8Array): boolean => octets.every((octet) => octet >= 0x20 && octet <= 0x7e)

/** Refuses TXT records without text, and texts that `refusalOf` refuses. */
export const texts = (service: string, refusalOf: (octets: Uint8Array) => Refusal | null = () => null): RecordRule =>
  refuseIf(({ type, data }) => {
    const octets = type === 'TXT' ? txtRdataToOctets(data) : null
    return octets === null ? null : octets.length === 0 ? `${service} holds no empty TXT` : refusalOf(octets)
  })

/** Refuses texts with other characters than printable ASCII without those in `except`. */
export const printableTexts = (service: string, except = ''): RecordRule =>
  texts(service, (octets) =>
    isPrintable(octets) && ![...except].some((character) => octets.includes(character.charCodeAt(0)))
      ? null
      : `${service} accepts texts of printable ASCII characters${except && ` without ${[...except].join(' and ')}`}`,
  )

/** For services that split texts into strings themselves: the text in strings of 255 octets. */
export const joinedTexts: RecordRule = (record) => {
  const data = record.type === 'TXT' ? octetsToTxtRdata(txtRdataToOctets(record.data)) : record.data
  return { record: data === record.data ? record : { ...record, data }, diagnostics: [] }
}

/** The record with a TTL within the range, which is in seconds. Plans report the difference. */
export function fitTtlRange(record: DefinedRecord, lowest: number, highest: number): DefinedRecord {
  const { ttl } = record
  return ttl === null || (ttl >= lowest && ttl <= highest) ? record : { ...record, ttl: Math.min(Math.max(ttl, lowest), highest) as Ttl }
}

export const ttlRange =
  (lowest: number, highest: number): RecordRule =>
  (record) => ({ record: fitTtlRange(record, lowest, highest), diagnostics: [] })

/** The same for a service that stores single records, of which a call changes one. */
export function singleRecordZones(noSecondaries: string): Capabilities {
  const zones = primaryZones(noSecondaries)
  return { ...zones, calls: { ...zones.calls, unit: 'record', maxUnits: 1 } }
}

/** The capabilities of a service whose zones have no settings and no masters. */
export const primaryZones = (noSecondaries: string): Capabilities => ({
  ...RRSET_STORE,
  settings: new Set(['type']),
  fixedSettings: new Set(['type']),
  settingProblems: ({ type }) => (type === 'slave' ? [{ field: 'type', message: noSecondaries }] : []),
})
