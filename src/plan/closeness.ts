/** How close two records are to a reader: what he would take for one record that changed. */
import { type ResourceRecord, rrsetKey } from '../model/record.ts'

/** Greater is closer. Within an RRset before across; equal data before equal beginnings and ends of data and, across RRsets, of names. */
export function closeness(existing: ResourceRecord, desired: ResourceRecord): number {
  const sameSet = rrsetKey(existing) === rrsetKey(desired)
  const ofNames = sameSet ? WITHIN_A_SET : SUFFIX_WEIGHT * commonSuffix(existing.name, desired.name, 0)
  return ofNames + (existing.data === desired.data ? EQUAL_DATA : shared(existing.data, desired.data))
}

/** Above all that names and data can count: 254 octets of name in text of up to four characters each, and a share below 1 of data. */
const WITHIN_A_SET = 1e6
/** Longer common ends of names count before anything in the data. */
const SUFFIX_WEIGHT = 3
const EQUAL_DATA = 2

/** The share of two texts that stays when one span of them is replaced: their common beginning and end, from 0 to below 1. */
export function shared(a: string, b: string): number {
  const prefix = commonPrefix(a, b)
  return (prefix + commonSuffix(a, b, prefix)) / (Math.max(a.length, b.length) + 1)
}

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1
  return length
}

/** The length of the common end that does not reach into the first `prefix` characters of either. */
function commonSuffix(a: string, b: string, prefix: number): number {
  const most = Math.min(a.length, b.length) - prefix
  let length = 0
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length += 1
  return length
}
