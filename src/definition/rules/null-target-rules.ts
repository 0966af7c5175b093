import type { Diagnostic } from '../../dns/diagnostic.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { ZoneIndex } from './zone-index.ts'

/** A null MX says that the name takes no mail, and contradicts any other MX (RFC 7505 section 3). */
export function nullMxNotAlone(index: ZoneIndex): Diagnostic[] {
  return besideNull(index, 'MX').map(({ nothing, other }) => ({
    severity: 'error',
    code: 'null-mx-not-alone',
    message: `${nothing.name} has a null MX, which says it takes no mail, and also MX ${other.data}`,
    at: nothing.at,
    hint: 'remove the null MX or all other MX records',
    related: [{ message: 'another MX record', at: other.at }],
  }))
}

/** An SRV with the target `.` says that the service is not there, and contradicts any other (RFC 2782). */
export function nullSrvNotAlone(index: ZoneIndex): Diagnostic[] {
  return besideNull(index, 'SRV').map(({ nothing, other }) => ({
    severity: 'warning',
    code: 'null-srv-not-alone',
    message: `${nothing.name} has an SRV with the target ".", which says the service is not there, and also SRV ${other.data}`,
    at: nothing.at,
    hint: 'remove the record with the target "." or all others',
    related: [{ message: 'another SRV record', at: other.at }],
  }))
}

function besideNull({ rrsets }: ZoneIndex, type: string): { nothing: DefinedRecord; other: DefinedRecord }[] {
  const found: { nothing: DefinedRecord; other: DefinedRecord }[] = []
  for (const set of rrsets.values()) {
    if (set[0]?.type !== type || set.length === 1) continue
    const nothing = set.find((record) => targetName(type, record.data) === '.')
    const other = set.find((record) => targetName(type, record.data) !== '.')
    if (nothing && other) found.push({ nothing, other })
  }
  return found
}
