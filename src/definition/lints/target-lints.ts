/** Lints for targets and addresses. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { hostOfUrl } from '../../dns/url-host.ts'
import { ADDRESS, HOST_TARGET, RESOLVED_TARGET } from '../rules/target-rules.ts'
import type { LintedZone, ManagedNames } from './managed-names.ts'
import { takeoverService } from './takeover-services.ts'

/** The lint for targets in other managed zones. Those in the zone itself are `target-nonexistent`. */
export const targetDangling =
  (managed: ManagedNames) =>
  ({ zone }: LintedZone): Diagnostic[] =>
    zone.records.flatMap((record): Diagnostic[] => {
      const target = RESOLVED_TARGET.has(record.type) ? targetName(record.type, record.data) : null
      if (target === null || target === '.') return []
      const other = managed.zoneOf(target)
      if (other === null || other === zone.name || hostOfUrl(target) !== null) return []
      if (managed.lookUp(target, HOST_TARGET.has(record.type) ? ADDRESS : null) !== 'missing') return []
      const isName = managed.lookUp(target, null) !== 'missing'
      return [
        {
          severity: 'warning',
          code: 'target-dangling',
          message: `${record.name} ${record.type} points to ${target}, ${isName ? 'which has no addresses' : `which ${other} does not have`}`,
          at: record.at,
          hint: `remove the record, or add ${target} to ${other}`,
        },
      ]
    })

/** The lint for aliases to services where others can claim the name once the customer has released it, unless a record proves who owns the alias. */
export const targetTakeover =
  (managed: ManagedNames) =>
  ({ zone }: LintedZone): Diagnostic[] =>
    zone.records.flatMap((record): Diagnostic[] => {
      const target = record.type === 'CNAME' || record.type === 'ALIAS' ? targetName(record.type, record.data) : null
      const found = target === null ? null : takeoverService(target)
      if (target === null || found === null) return []
      if (found.proof !== undefined && hasText(`${found.proof}.${record.name.replace('*.', '')}` as DomainName, managed)) return []
      const cause = `the target is a name at ${found.service}, which others can claim once it is released`
      return [
        {
          severity: 'notice',
          code: 'target-takeover',
          message: `${record.name} ${record.type}: the target ${target} is a name at ${found.service}, which others can claim once it is released`,
          at: record.at,
          hint: 'remove the record before you delete the service',
          cause: { subject: 'record', message: cause },
        },
      ]
    })

const TXT: ReadonlySet<string> = new Set(['TXT'])

const hasText = (name: DomainName, managed: ManagedNames): boolean => typeof managed.lookUp(name, TXT) !== 'string'

/** Names that the public DNS does not delegate (RFC 6761, RFC 6762 and its appendix G, RFC 8375, and `internal`, which ICANN has reserved). */
const PRIVATE_NAME = /(?:^|\.)(?:home\.arpa|test|localhost|invalid|local|internal|intranet|private|corp|home|lan)\.$/

/** RFC 1918, RFC 6598, RFC 1122 section 3.2.1.3 (loopback and this host), RFC 3927 (link-local). */
const PRIVATE_IPV4 =
  /^(?:(10\.|192\.168\.|172\.(?:1[6-9]|2[0-9]|3[01])\.)|(100\.(?:6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7])\.)|(127\.)|(169\.254\.)|(0\.))/

/** RFC 4193, RFC 4291 sections 2.5.2 (unspecified), 2.5.3 (loopback), 2.5.5.2 (IPv4-mapped) and 2.5.6 (link-local). */
const PRIVATE_IPV6 = /^(?:(f[cd][0-9a-f]{2}:)|(::1$)|(fe[89ab][0-9a-f]:)|(::$)|(::ffff:))/

const KINDS_IPV4 = ['private (RFC 1918)', 'shared (RFC 6598)', 'loopback', 'link-local', 'reserved (RFC 1122)']
const KINDS_IPV6 = ['unique local (RFC 4193)', 'loopback', 'link-local', 'reserved (RFC 4291)', 'mapped IPv4 (RFC 4291)']

/** Reports addresses that only a private network, or only the host itself, reaches. */
export function addressPrivate({ zone, internal }: LintedZone): Diagnostic[] {
  if (internal || PRIVATE_NAME.test(zone.name)) return []
  return zone.records.flatMap(({ name, type, data, at }): Diagnostic[] => {
    const match = type === 'A' ? PRIVATE_IPV4.exec(data) : type === 'AAAA' ? PRIVATE_IPV6.exec(data) : null
    if (match === null) return []
    const kind = (type === 'A' ? KINDS_IPV4 : KINDS_IPV6)[match.slice(1).findIndex((part) => part !== undefined)]
    // RFC 1912 section 4.1 told every zone to have localhost.
    if (kind === 'loopback' && name === `localhost.${zone.name}`) return []
    return [
      {
        severity: 'warning',
        code: 'address-private',
        message: `${name} ${type}: ${data} is a ${kind} address, which the internet does not reach`,
        at,
        hint: 'use a public address, or write internal: true in the rule of the zone if only an internal network sees it',
        cause: { subject: 'record', message: `a ${kind} address in a public zone` },
      },
    ]
  })
}
