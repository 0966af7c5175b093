/** Leaves records of other clients out of the definitions that an import makes of a live zone. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { counted, listed } from '../base/english.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import { groupRrsets, type ResourceRecord } from '../dns/record.ts'
import { clientText, knownClients, unmanagedTest } from '../dns/unmanaged.ts'
import type { ExistingZone, UnmanagedSelector } from '../dns/zone.ts'

export interface OtherClients {
  /** Each selects a record of the zone, and those that its client will add. */
  readonly selectors: readonly UnmanagedSelector[]
  readonly isTheirs: (record: ResourceRecord) => boolean
  readonly diagnostics: readonly Diagnostic[]
}

/** The records of known other clients in a zone. */
export function otherClients(zone: ExistingZone): OtherClients {
  const { name, records } = zone
  const selectors = knownClients(zone)
  const isTheirs = unmanagedTest(selectors, name, { live: [zone] })
  if (selectors.length === 0) return { selectors, isTheirs, diagnostics: [] }
  const count = counted(groupRrsets(records.filter(isTheirs)).size, 'record set')
  const clients = listed(selectors.map(clientText))
  const message = `${name}: ${clients} under "unmanaged" leaves ${count} to other clients, and those that they add later`
  return {
    selectors,
    isTheirs,
    diagnostics: [{ severity: 'notice', code: 'import-aside', message, hint: 'remove the selector to manage them here' }],
  }
}

/** A zone that was read from a copy of a live one, without the records of other clients. */
export function withoutOtherClients(zone: ImportedZone): { readonly zone: ImportedZone; readonly diagnostics: readonly Diagnostic[] } {
  const { selectors, isTheirs, diagnostics } = otherClients(zone)
  if (selectors.length === 0) return { zone, diagnostics }
  return { zone: { ...zone, records: zone.records.filter((record) => !isTheirs(record)), unmanaged: selectors }, diagnostics }
}
