/** The zones of the scripted Hetzner, with the fields that the API returns. */
import type { HetznerRrset } from './rrsets.ts'

export interface HetznerZone {
  readonly id: number
  readonly name: string
  readonly mode?: 'primary' | 'secondary'
  readonly ttl?: number
  readonly protection?: { readonly delete: boolean }
  readonly [field: string]: unknown
}

const NAMESERVERS = ['hydrogen.ns.hetzner.com.', 'oxygen.ns.hetzner.com.', 'helium.ns.hetzner.de.']

/** A zone with the values of the fields that are absent. */
export function completeZone(zone: HetznerZone): HetznerZone {
  const authoritative = { assigned: NAMESERVERS, delegated: [], delegation_last_check: null, delegation_status: 'unknown' }
  return {
    mode: 'primary',
    ttl: 86_400,
    labels: {},
    primary_nameservers: [],
    created: '2026-01-01T00:00:00Z',
    protection: { delete: false },
    status: 'ok',
    authoritative_nameservers: authoritative,
    registrar: 'other',
    ...zone,
  }
}

/** The SOA and NS RRsets that a new zone has. */
export function defaultRrsets(zone: number): HetznerRrset[] {
  const rrset = (type: string, values: readonly string[]): HetznerRrset => ({
    id: `@/${type}`,
    name: '@',
    type,
    ttl: null,
    labels: {},
    protection: { change: false },
    records: values.map((value) => ({ value, comment: '' })),
    zone,
  })
  return [rrset('NS', NAMESERVERS), rrset('SOA', ['hydrogen.ns.hetzner.com. dns.hetzner.com. 2026010100 86400 10800 3600000 3600'])]
}
