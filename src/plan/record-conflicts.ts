/**
 * Records that cannot exist at one name at the same time: a CNAME that is served and any other (RFC 2181 section 10.1), a null MX and any other MX, a second null MX included
 * (RFC 7505 section 3).
 */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets, mayBeBesideCname, type ResourceRecord } from '../dns/record.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import type { DesiredZone } from '../dns/zone.ts'
import type { ZoneDifference } from './compare-zones.ts'

type TypeAndData = Pick<ResourceRecord, 'type' | 'data' | 'settings'>

export const isNullMx = ({ type, data }: TypeAndData): boolean => type === 'MX' && data === '0 .'

/** Whether two records of one name exclude each other. */
export function conflicts(a: TypeAndData, b: TypeAndData): boolean {
  if (a.type === 'CNAME') return !mayBeBesideCname(b.type, a)
  if (b.type === 'CNAME') return !mayBeBesideCname(a.type, b)
  return a.type === 'MX' && b.type === 'MX' && (isNullMx(a) || isNullMx(b))
}

const codeOf = (isAboutMx: boolean): 'null-mx-not-alone' | 'cname-not-alone' => (isAboutMx ? 'null-mx-not-alone' : 'cname-not-alone')

type StayingRecord = Pick<ExistingRecord, 'name' | 'type' | 'data' | 'settings'>

/** One error per added RRset that conflicts with a record that stays, managed or not. `held`: records that plans neither compare nor change. */
export function conflictsWithKept(difference: ZoneDifference, held: readonly StayingRecord[], target: string): Diagnostic[] {
  if (difference.added.length === 0) return []
  const staying = new Map<DomainName, StayingRecord[]>()
  for (const { name } of difference.added) staying.set(name, [])
  const unmanaged: readonly StayingRecord[] = [...difference.unmanaged, ...held]
  for (const record of [...unmanaged, ...difference.kept]) staying.get(record.name)?.push(record)
  return [...groupRrsets(difference.added).values()].flatMap((set) => {
    const added = set[0] as DefinedRecord
    const blocking = staying.get(added.name)?.find((record) => set.some((one) => conflicts(record, one)))
    if (!blocking) return []
    const whose = unmanaged.includes(blocking) ? 'which is not managed' : 'which stays'
    return {
      severity: 'error',
      code: codeOf(added.type === 'MX' && blocking.type === 'MX'),
      message: `${added.name} ${added.type} cannot be added to ${target} beside ${blocking.name} ${blocking.type} ${blocking.data}, ${whose}`,
      at: added.at,
    }
  })
}

/** One error per name whose added records conflict with one another. Validated definitions have none. */
export function conflictsAmongAdded(difference: ZoneDifference, target: string): Diagnostic[] {
  const exclusive = new Map<DomainName, DefinedRecord>()
  for (const record of difference.added) {
    if ((record.type === 'CNAME' || isNullMx(record)) && exclusive.get(record.name)?.type !== 'CNAME') exclusive.set(record.name, record)
  }
  if (exclusive.size === 0) return []
  const others = new Map<DomainName, DefinedRecord>()
  for (const record of difference.added) {
    const alone = exclusive.get(record.name)
    if (alone && alone !== record && !others.has(record.name) && conflicts(alone, record)) others.set(record.name, record)
  }
  return [...others].map(([name, other]) => {
    const alone = exclusive.get(name) as DefinedRecord
    return {
      severity: 'error',
      code: codeOf(alone.type === 'MX'),
      message: `${name} ${alone.type} ${alone.data} cannot be added to ${target} together with ${name} ${other.type} ${other.data}`,
      at: alone.at,
    }
  })
}

const ADDRESSES: ReadonlySet<string> = new Set(['A', 'AAAA'])

/** Whether RRsets of these types cannot be at one name, at targets that have both. */
export const typesExclude = (a: string, b: string): boolean =>
  (a === 'CNAME') !== (b === 'CNAME') || (a === 'ALIAS' && ADDRESSES.has(b)) || (b === 'ALIAS' && ADDRESSES.has(a))

/** One error per name with an ALIAS and addresses. `held`: records that plans neither compare nor change. */
export function aliasesBesideAddresses(records: readonly DefinedRecord[], held: readonly StayingRecord[], target: string): Diagnostic[] {
  const aliases = records.filter(({ type }) => type === 'ALIAS')
  if (aliases.length === 0) return []
  const addresses = new Map([...held, ...records].flatMap((record) => (ADDRESSES.has(record.type) ? [[record.name, record] as const] : [])))
  return aliases.flatMap(({ name, at }) => {
    const beside = addresses.get(name)
    if (beside === undefined) return []
    const message = `${target} does not support ${name} ALIAS beside ${name} ${beside.type} ${beside.data}`
    return { severity: 'error', code: 'record-unsupported', message, at, hint: 'keep one of them' }
  })
}

/** A warning for each RRset of the definition that another client owns in the live zone. Other selectors need no live zone: their matches are found when the definition is read. */
export function ownedByOthers(
  records: readonly DefinedRecord[],
  isUnmanaged: (record: ResourceRecord) => boolean,
  { desired, target }: { readonly desired: DesiredZone; readonly target: string },
): Diagnostic[] {
  const isListed = unmanagedTest(desired.unmanaged, desired.name)
  const owned = groupRrsets(records.filter((record) => isUnmanaged(record) && !isListed(record)))
  return [...owned.values()].flatMap(([record]): Diagnostic[] => {
    if (record === undefined || desired.absent) return []
    const message = `${record.name} ${record.type} is in the definition, but external-dns owns it at ${target}, so it is not changed`
    return [
      { severity: 'warning', code: 'unmanaged-collision', message, at: record.at, hint: 'remove the record here, or its source there' },
    ]
  })
}
