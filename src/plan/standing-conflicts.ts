import type { Diagnostic } from '../model/diagnostic.ts'
import type { DomainName } from '../model/domain-name.ts'
import { type DefinedRecord, type ExistingRecord, groupRrsets } from '../model/record.ts'
import type { ZoneDifference } from './diff-zone.ts'

/**
 * Records to be added that the target would refuse beside records it keeps, unmanaged ones included: a CNAME is alone at its name
 * (RFC 2181 section 10.1), and so is a null MX among MX (RFC 7505 section 3).
 */
export function standingConflicts(difference: ZoneDifference, target: string): Diagnostic[] {
  if (difference.added.length === 0) return []
  const standing = new Map<DomainName, ExistingRecord[]>()
  for (const { name } of difference.added) standing.set(name, [])
  for (const record of [...difference.unmanaged, ...difference.kept]) standing.get(record.name)?.push(record)
  const diagnostics: Diagnostic[] = []
  for (const set of groupRrsets(difference.added).values()) {
    const added = set[0] as DefinedRecord
    const blocking = (standing.get(added.name) ?? []).find((record) => set.some((one) => clash(record, one)))
    if (!blocking) continue
    const whose = difference.unmanaged.includes(blocking) ? 'which is not managed' : 'which stays'
    diagnostics.push({
      severity: 'error',
      code: added.type === 'MX' && blocking.type === 'MX' ? 'null-mx-not-alone' : 'cname-not-alone',
      message: `${added.name} ${added.type} cannot come to ${target} beside ${blocking.name} ${blocking.type} ${blocking.data}, ${whose}`,
      at: added.at,
    })
  }
  return diagnostics
}

/**
 * Records to be added that clash with one another, each name once. A definition with such records is told so when it is checked; a zone made otherwise
 * is told so here.
 */
export function addedConflicts(difference: ZoneDifference, target: string): Diagnostic[] {
  const exclusive = new Map<DomainName, DefinedRecord>()
  for (const record of difference.added) {
    if ((record.type === 'CNAME' || isNullMx(record)) && exclusive.get(record.name)?.type !== 'CNAME') exclusive.set(record.name, record)
  }
  if (exclusive.size === 0) return []
  const others = new Map<DomainName, DefinedRecord>()
  for (const record of difference.added) {
    const alone = exclusive.get(record.name)
    if (alone && alone !== record && !others.has(record.name) && clash(alone, record)) others.set(record.name, record)
  }
  return [...others].map(([name, other]) => {
    const alone = exclusive.get(name) as DefinedRecord
    return {
      severity: 'error',
      code: alone.type === 'CNAME' ? 'cname-not-alone' : 'null-mx-not-alone',
      message: `${name} ${alone.type} ${alone.data} cannot come to ${target} together with ${name} ${other.type} ${other.data}`,
      at: alone.at,
    }
  })
}

const isNullMx = (record: { type: string; data: string }): boolean => record.type === 'MX' && record.data === '0 .'

/** Whether two records cannot stand at one name at one time. */
export function clash(a: { type: string; data: string }, b: { type: string; data: string }): boolean {
  if (a.type === 'CNAME' || b.type === 'CNAME') return true
  return a.type === 'MX' && b.type === 'MX' && isNullMx(a) !== isNullMx(b)
}
