/**
 * What is known of the services of dns-lexicon. Each row is tested with dns-lexicon as it is, at a server of ours or a real one. Plans for a service without
 * a row only create records, of the types of `UNKNOWN`.
 */
export interface LexiconService {
  /** The types whose records are stored as they are given, and listed as they are stored. */
  readonly types: string
  /** The range of TTLs in seconds; any if absent. */
  readonly ttls?: readonly [lowest: number, highest: number]
  /** The name of the apex for the service, which does not know it by the name of the zone; absent if it does. */
  readonly apex?: '@'
  /** Whether texts of more than 255 characters are stored; false if absent. */
  readonly hasLongTexts?: boolean
  /** Whether texts are given with quotes; false if absent. */
  readonly quotesTexts?: boolean
  /** Why plans only create records; absent if the list is complete, and the identifier of a record leads to it and to no other. */
  readonly onlyCreates?: string
}

const MAX_TTL = 2_147_483_647
const COMMON = 'A AAAA CNAME NS TXT'
const EVERY = `${COMMON} CAA DS MX NAPTR PTR SRV SSHFP TLSA`

export const LEXICON_SERVICES: Readonly<Record<string, LexiconService>> = {
  azure: {
    types: COMMON,
    ttls: [1, MAX_TTL],
    apex: '@',
    onlyCreates: 'dns-lexicon lists neither all record sets nor the priorities of MX and SRV records',
  },
  cloudflare: { types: `${COMMON} PTR`, ttls: [60, 86_400], hasLongTexts: true, quotesTexts: true },
  desec: {
    types: 'A AAAA CNAME DS MX NS PTR SRV SSHFP TLSA TXT',
    ttls: [3600, 86_400],
    onlyCreates: 'dns-lexicon deletes no record of the apex, and does not say so',
  },
  digitalocean: { types: COMMON, ttls: [30, MAX_TTL], apex: '@', hasLongTexts: true },
  gandi: {
    types: EVERY,
    ttls: [300, 2_592_000],
    apex: '@',
    onlyCreates: 'dns-lexicon takes a name for the identifier of its records, and deletes all of them',
  },
  googleclouddns: { types: EVERY, onlyCreates: 'dns-lexicon does not list record sets with routing policies' },
  hetzner: {
    types: 'A AAAA CAA CNAME DS MX NS PTR SRV TLSA TXT',
    ttls: [60, MAX_TTL],
    apex: '@',
    hasLongTexts: true,
    onlyCreates: 'dns-lexicon lists records without identifiers',
  },
  ovh: { types: `${COMMON} CAA MX SRV`, ttls: [60, MAX_TTL], hasLongTexts: true, onlyCreates: 'dns-lexicon does not change TTLs' },
  porkbun: { types: `${COMMON} CAA TLSA`, ttls: [600, MAX_TTL], hasLongTexts: true },
  // It takes the targets of CNAME records for relative names.
  powerdns: { types: EVERY.replace(' CNAME', ''), onlyCreates: 'dns-lexicon does not show which records are disabled' },
  route53: { types: EVERY, onlyCreates: 'dns-lexicon gives all records of a set one identifier' },
  scaleway: {
    types: EVERY,
    ttls: [60, MAX_TTL],
    hasLongTexts: true,
    onlyCreates: 'dns-lexicon does not show which records answer by place or health',
  },
  vultr: { types: COMMON, ttls: [60, MAX_TTL], onlyCreates: 'dns-lexicon does not change TTLs' },
}

const UNKNOWN: LexiconService = { types: 'A AAAA CNAME TXT', onlyCreates: 'it is unknown whether dns-lexicon lists all records' }

export const lexiconService = (name: string): LexiconService =>
  Object.hasOwn(LEXICON_SERVICES, name) ? (LEXICON_SERVICES[name] as LexiconService) : UNKNOWN
