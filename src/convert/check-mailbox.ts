import type { ImportedZone } from '../definition/imported-zone.ts'
import { isMailAddress } from '../definition/parse/read-settings.ts'
import type { UnsupportedFeature } from './conversion.ts'

/** Takes out the mailbox of an SOA that a definition cannot hold: one that is no address, such as `root.localhost.`, or none at all. */
export function checkMailbox(zone: ImportedZone): { readonly zone: ImportedZone; readonly dropped: readonly UnsupportedFeature[] } {
  const { soa_email: email, ...others } = zone.settings
  // Without an SOA there are no times either.
  if (zone.settings.refresh_sec === undefined || (email !== undefined && isMailAddress(email))) return { zone, dropped: [] }
  const what = email === undefined ? 'the mailbox of its SOA record' : `${email}, the mailbox of its SOA record`
  return { zone: { ...zone, settings: others }, dropped: [{ zone: zone.name, name: null, type: 'SOA', what }] }
}
