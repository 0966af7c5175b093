/** The records of a zone that belong to the signer of its server (DNSSEC): another server makes its own. */
import type { DomainName } from './domain-name.ts'
import { type ResourceRecord, rrsetKey } from './record.ts'
import type { UnmanagedSelector } from './zone.ts'

/** Types that signing generates (RFC 4034, RFC 5155; RFC 2535; BIND's TYPE65534), and the digest of a whole zone (RFC 8976), which the next serial invalidates. */
export const SIGNING_TYPES: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'ZONEMD', 'SIG', 'NXT', 'TYPE65534'])

/** Types at the apex that publish the signer's keys (RFC 4034, RFC 7344). */
const KEY_TYPES: ReadonlySet<string> = new Set(['DNSKEY', 'CDS', 'CDNSKEY'])

export type RrsetName = Pick<ResourceRecord, 'name' | 'type'>

/** Whether a record of a zone belongs to its signer. The DS records of delegations do not. */
export const isSignerRecord = ({ name, type }: { readonly name: string; readonly type: string }, zone: string): boolean =>
  SIGNING_TYPES.has(type) || (name === zone && KEY_TYPES.has(type))

/** Selects the keys of a signer, so that a plan leaves them alone. */
export const SIGNER_KEYS: readonly UnmanagedSelector[] = [...KEY_TYPES].map((type) => ({ name: '@', type }))

/** The RRsets of a signer among records, each with its number of records. */
export function signerRrsets(records: readonly RrsetName[], zone: DomainName): readonly (RrsetName & { readonly count: number })[] {
  const found = new Map<string, RrsetName & { count: number }>()
  for (const { name, type } of records) {
    if (!isSignerRecord({ name, type }, zone)) continue
    const set = found.get(rrsetKey({ name, type })) ?? { name, type, count: 0 }
    found.set(rrsetKey(set), { ...set, count: set.count + 1 })
  }
  return [...found.values()]
}
