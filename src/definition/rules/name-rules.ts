import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import type { ZoneIndex } from './zone-index.ts'

/** Types whose owner is a host. */
const HOST_OWNER: ReadonlySet<string> = new Set(['A', 'AAAA', 'MX'])

/** Types whose target is a host. */
const HOST_TARGET: ReadonlySet<string> = new Set(['NS', 'MX', 'SRV'])

/** Labels of letters, digits and inner hyphens (RFC 952, RFC 1123 section 2.1), after the asterisk label. */
const HOST_NAME = /^(?:\*\.)?(?:[a-z0-9](?:-*[a-z0-9])*\.)+$/

/** Names that services define for addresses all the same: Active Directory's and those of SPF macros, as name servers except them too. */
const EXCEPTED = /(?:^|\.)(?:_msdcs|_spf(?:_[a-z]+)?)\./

/** Hosts have no underscores or other special characters; name servers that check names refuse such a zone. */
export function hostNameInvalid({ zone, byName }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const [name, records] of byName) {
    if (isHostName(name)) continue
    const host = records.find((record) => HOST_OWNER.has(record.type))
    if (!host) continue
    diagnostics.push({
      severity: 'warning',
      code: 'host-name-invalid',
      message: `${name} has ${host.type} records and is not a host name; some servers refuse it`,
      at: host.at,
      hint: 'host names have letters, digits and inner hyphens',
    })
  }
  for (const record of zone.records) {
    const target = HOST_TARGET.has(record.type) ? targetName(record.type, record.data) : null
    if (target === null || isHostName(target)) continue
    diagnostics.push({
      severity: 'warning',
      code: 'host-name-invalid',
      message: `${record.name} ${record.type} leads to ${target}, which is not a host name; some servers refuse it`,
      at: record.at,
      hint: 'host names have letters, digits and inner hyphens',
    })
  }
  return diagnostics
}

const isHostName = (name: DomainName): boolean => name === '.' || HOST_NAME.test(name) || EXCEPTED.test(name)

/** An SRV record stands at `_service._protocol.name` (RFC 2782); elsewhere nobody looks for it. */
export function srvNameInvalid({ rrsets }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  for (const [srv] of rrsets.values()) {
    if (srv?.type !== 'SRV' || /^(?:_[^.]+\._[^.]+|\*)\./.test(srv.name)) continue
    diagnostics.push({
      severity: 'warning',
      code: 'srv-name-invalid',
      message: `the SRV record of ${srv.name} is not at a name like _service._tcp; nobody looks for it there`,
      at: srv.at,
    })
  }
  return diagnostics
}

/** `www.example.com` without its final dot is a name in the zone, and nobody asks for `www.example.com.example.com.`. */
export function nameRepeatsZone({ zone, byName }: ZoneIndex): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const doubled = `${zone.name}${zone.name}`
  if (!/\..*\./.test(zone.name)) return diagnostics
  for (const [name, [first]] of byName) {
    if (!first || !(name === doubled || name.endsWith(`.${doubled}`))) continue
    const meant = name.slice(0, -zone.name.length)
    diagnostics.push({
      severity: 'warning',
      code: 'name-repeats-zone',
      message: `${name} ends in the name of the zone twice`,
      at: first.at,
      hint: `write "${meant}" with the final dot, or "${meant.slice(0, -zone.name.length - 1) || '@'}"`,
    })
  }
  return diagnostics
}
