import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'

/** What the signer of a zone makes of its other records (RFC 4034 sections 3 and 4, RFC 5155 sections 3 and 4). */
const MADE_BY_SIGNER: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'])

/**
 * The records of a transfer without those that signing it made. They are true of the zone as it was sent alone: of its serial, which is no part of a
 * definition, and for some weeks. Whoever serves the zone makes them anew. Keys (DNSKEY, CDS, CDNSKEY) and
 * delegations (DS) stay.
 */
export function withoutSigning<R extends ResourceRecord>(
  zone: DomainName,
  all: readonly R[],
): { readonly records: readonly R[]; readonly diagnostics: readonly Diagnostic[] } {
  const counts = new Map<string, number>()
  const records = all.filter(({ type }) => {
    if (!MADE_BY_SIGNER.has(type)) return true
    counts.set(type, (counts.get(type) ?? 0) + 1)
    return false
  })
  if (counts.size === 0) return { records, diagnostics: [] }
  const left = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, count]) => `${count} ${type}`)
  const message = `${zone} is signed (DNSSEC): ${left.join(', ')} are left out, as every signing makes them anew`
  const hint = 'have the zone signed where it is to be served; keys (DNSKEY, CDS, CDNSKEY) are kept'
  return { records, diagnostics: [{ severity: 'warning', code: 'import-lossy', message, hint }] }
}
