/** What a zone file of octoDNS can hold. */
import { OCTODNS_TYPES, octodnsValue } from '../../definition/print/octodns-value.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { type Capabilities, type RecordRule, RRSET_STORE } from '../../plan/capabilities.ts'
import { refuseIf } from '../record-rules.ts'

/** The TTL of records without one, in seconds, as in octoDNS. */
export const DEFAULT_TTL = 3600

/** octoDNS divides a text into as few strings as possible itself. */
const rejoinTexts: RecordRule = (record) => {
  const isText = record.type === 'TXT' || record.type === 'SPF'
  return { record: isText ? { ...record, data: octetsToTxtRdata(txtRdataToOctets(record.data)) } : record, diagnostics: [] }
}

const refuseInexpressible = refuseIf(({ type, data }) => {
  const value = octodnsValue(type, data)
  return value.ok ? null : ['type-unsupported', `octoDNS cannot express ${value.message}`]
})

export const OCTODNS_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, hasPrecondition: true, createsZoneWithRecords: true },
  types: OCTODNS_TYPES,
  fallbackTtl: DEFAULT_TTL,
  createsZones: true,
  // octoDNS lists only files of the folder itself, with two dots in their names.
  canCreateZone: (name) => /^[a-z0-9_-][a-z0-9_-]*\.[a-z0-9_.-]{0,198}$/.test(name),
  rules: [rejoinTexts, refuseInexpressible],
}
