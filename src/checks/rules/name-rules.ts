/** Rules for owner names and host names. */
import type { DomainName } from '../../dns/domain-name.ts'
import { groupRrsets } from '../../dns/record.ts'
import { hostOfUrl } from '../../dns/server-address.ts'
import { type Finding, HOST_TARGET, type ZoneIndex } from './zone-index.ts'

/** Types whose owner must be a host name. */
const HOST_OWNER: ReadonlySet<string> = new Set(['A', 'AAAA', 'MX'])

/** Labels of letters, digits and inner hyphens (RFC 952, RFC 1123 section 2.1), optionally below an asterisk label. */
const HOST_NAME = /^(?:\*\.)?(?:[a-z0-9](?:-*[a-z0-9])*\.)+$/

/** Host names with underscores in common use: `_msdcs` (Active Directory) and `_spf` (SPF macros). Name servers accept them. */
const UNDERSCORE_HOSTS = /(?:^|\.)(?:_msdcs|_spf(?:_[a-z]+)?)\./

/**
 * Reports owners of addresses and MX, and targets of NS, MX and SRV, that are not host names (RFC 1123 section 2.1): name servers that check
 * names refuse the zone.
 */
export function* hostNameInvalid({ byName, targets }: ZoneIndex): Iterable<Finding> {
  for (const [name, records] of byName) {
    if (isHostName(name) || hasMisplacedAsterisk(name)) continue
    const host = records.find((record) => HOST_OWNER.has(record.type))
    if (!host) continue
    yield {
      message: `${name} has ${host.type} records but is not a valid host name; some name servers refuse it`,
      at: host.at,
      hint: 'use only letters, digits and, between them, hyphens',
    }
  }
  for (const { record, target } of targets) {
    // `target-is-url` reports URLs.
    if (!HOST_TARGET.has(record.type) || isHostName(target) || hostOfUrl(target) !== null) continue
    yield {
      message: `${record.name} ${record.type} points to ${target}, which is not a valid host name; some name servers refuse it`,
      at: record.at,
      hint: 'point to a host name of letters, digits and inner hyphens',
    }
  }
}

/** Reports names with an asterisk that is not the whole first label: such a name is only itself and matches no other (RFC 4592 section 2.1.1). */
export function* wildcardMisplaced({ byName }: ZoneIndex): Iterable<Finding> {
  for (const [name, [first]] of byName) {
    if (!first || !hasMisplacedAsterisk(name)) continue
    const wildcard = `*.${name.slice(name.lastIndexOf('*') + 1).replace(/^[^.]*\./, '')}`
    yield {
      message: `${name}: an asterisk is a wildcard only if it is all that is before the first dot (RFC 4592); elsewhere it is an ordinary character`,
      at: first.at,
      hint: `write ${wildcard}, which matches every name below ${wildcard.slice(2)} that does not exist, or list the names`,
    }
  }
}

/** Whether a name contains an asterisk other than as its first label, or more than one. Escaped dots make no difference. */
const hasMisplacedAsterisk = (name: DomainName): boolean => name.includes('*', name.startsWith('*.') ? 1 : 0)

const isHostName = (name: DomainName): boolean => name === '.' || HOST_NAME.test(name) || UNDERSCORE_HOSTS.test(name)

/** Reports SRV records at a name other than `_service._protocol.name` (RFC 2782): no client looks there. */
export function* srvNameInvalid({ ofType }: ZoneIndex): Iterable<Finding> {
  for (const [srv] of groupRrsets(ofType('SRV')).values()) {
    if (srv === undefined || /^(?:_[^.]+\._[^.]+|\*)\./.test(srv.name)) continue
    yield {
      message: `${srv.name} SRV: the name does not begin like _service._tcp, so no client finds the record`,
      at: srv.at,
      hint: 'name it after the service and its protocol, such as _imaps._tcp',
    }
  }
}

/** Reports names that end in the zone's name twice: `www.example.com` without the final dot is `www.example.com.example.com.`. */
export function* nameRepeatsZone({ zone, byName }: ZoneIndex): Iterable<Finding> {
  // In a zone with one label, a repeated label is plausible.
  if (!/\..*\./.test(zone.name)) return
  const doubled = `${zone.name}${zone.name}`
  for (const [name, [first]] of byName) {
    if (!first || !(name === doubled || name.endsWith(`.${doubled}`))) continue
    const meant = name.slice(0, -zone.name.length)
    yield {
      message: `${name} ends with the name of the zone twice`,
      at: first.at,
      hint: `write "${meant}" with the final dot, or "${meant.slice(0, -zone.name.length - 1) || '@'}"`,
    }
  }
}
