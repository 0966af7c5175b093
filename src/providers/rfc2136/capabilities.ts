/** What a zone that is changed by dynamic update can hold. */
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { refusePseudoTypes, refuseServerTypes } from '../name-server.ts'

/** Octets of an UPDATE message without its signature: the maximum of 65,535, less room for header and TSIG. */
const MAX_UPDATE_OCTETS = 64_000

export const RFC2136_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, maxOctets: MAX_UPDATE_OCTETS, isDnsMessage: true, divides: true, hasPrecondition: true },
  rules: [refuseServerTypes, refusePseudoTypes],
}
