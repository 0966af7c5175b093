/**
 * Chooses the serial of a zone file to write. A file that exists already may be served, so its serial must not go back (RFC 1982): secondaries would
 * ignore the new content.
 */
import { hasErrors } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import type { DomainName } from '../domain-name.ts'
import { rdataFields } from '../rdata/canonical.ts'
import { isNewerSerial, nextSerial, type SerialNumber, serialNumber } from '../serial-number.ts'
import { parseZoneFile } from './parse-zone-file.ts'

/**
 * A number for exactly this serial. Otherwise the serial is raised if the content has changed, to at least `atLeast` if that is newer; null for just
 * the next serial.
 */
export type SerialRule = number | { readonly atLeast: SerialNumber | null }

/** A zone file at the path to write. */
export interface ExistingZoneFile {
  readonly serial: SerialNumber
  /** Whether it has other records or another SOA record, the serial excepted. */
  readonly isChanged: boolean
  /** Whether it has no errors, so it is replaced without asking. */
  readonly isReplaceable: boolean
}

/**
 * Compares an existing file with the new text; null if it is no zone file of the zone. `textWith` returns the new text with a serial.
 */
export function compareExisting(zone: DomainName, existing: string, textWith: (serial: SerialNumber) => string): ExistingZoneFile | null {
  const { records, diagnostics } = parseZoneFile(existing, { origin: zone, file: '' })
  const soa = records.find(({ name, type }) => name === zone && type === 'SOA')
  if (soa === undefined) return null
  const serial = serialNumber(Number(rdataFields(soa.data)[2]))
  const same = textWith(serial)
  const isReplaceable = !hasErrors(diagnostics)
  const isChanged =
    existing !== same && !(isReplaceable && hasSameRecords(records, parseZoneFile(same, { origin: zone, file: '' }).records))
  return { serial, isChanged, isReplaceable }
}

type Records = ReturnType<typeof parseZoneFile>['records']

function hasSameRecords(some: Records, others: Records): boolean {
  const keys = (records: Records): Set<string> => new Set(records.map(({ name, ttl, type, data }) => `${name} ${ttl} ${type} ${data}`))
  const [a, b] = [keys(some), keys(others)]
  return a.size === b.size && [...a].every((key) => b.has(key))
}

/** The serial for a zone whose definition states `defined`, or the reason why the one asked for cannot be used. */
export function chooseSerial(rule: SerialRule, defined: SerialNumber | null, existing: ExistingZoneFile | null): Result<SerialNumber> {
  if (typeof rule === 'number') return exactSerial(serialNumber(rule), existing)
  const { atLeast } = rule
  if (existing === null) return ok(newest(defined ?? (atLeast === null ? FIRST : null), atLeast))
  const ifNewer = (serial: SerialNumber | null): SerialNumber | null =>
    serial !== null && isNewerSerial(serial, existing.serial) ? serial : null
  const stated = ifNewer(defined)
  if (stated === null && !existing.isChanged) return ok(existing.serial)
  return ok(newest(stated ?? nextSerial(existing.serial), ifNewer(atLeast)))
}

const FIRST = serialNumber(1)

function exactSerial(serial: SerialNumber, existing: ExistingZoneFile | null): Result<SerialNumber> {
  if (existing === null || isNewerSerial(serial, existing.serial)) return ok(serial)
  if (serial !== existing.serial) return failure(`the serial ${serial} is not newer than ${existing.serial}, that of the existing file`)
  return existing.isChanged ? failure(`the existing file has the serial ${serial} and other content`) : ok(serial)
}

/** The newer of two serials, the first if they have no order. One of them is not null. */
function newest(first: SerialNumber | null, second: SerialNumber | null): SerialNumber {
  if (first === null) return second ?? FIRST
  return second !== null && isNewerSerial(second, first) ? second : first
}

/** `YYYYMMDD00` in UTC, the first serial of a day. */
export const dateSerial = (now: Date): SerialNumber => serialNumber(Number(`${now.toISOString().slice(0, 10).replaceAll('-', '')}00`))

/** The seconds since 1970. */
export const unixTimeSerial = (now: Date): SerialNumber => serialNumber(Math.floor(now.getTime() / 1000))
