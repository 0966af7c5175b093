/**
 * What one field of rdata is. How each kind is written is in `field-kind.ts`, its octets are in `formats/wire/rdata-codec.ts`.
 * Most kinds take one token; those that take all that are left are listed below.
 */
export type FieldKind =
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  /** A 32-bit number of seconds, or numbers with units: the times of an SOA record. */
  | 'seconds'
  /** A point in time, modulo 2^32 seconds: YYYYMMDDHHmmSS in UTC (RFC 4034 section 3.2). */
  | 'time'
  | 'name'
  | 'ipv4'
  | 'ipv6'
  /** One character-string, at most 255 octets. */
  | 'string'
  /** One character-string or none: the sub-address of an ISDN record. */
  | 'optional-string'
  /** One or more character-strings. */
  | 'strings'
  /** Text that fills the rest of the rdata without a length octet, at most 65,535 octets: CAA value, URI target. */
  | 'text'
  /** The tag of a CAA record: lower-case letters and digits (RFC 8659 section 4.1). */
  | 'tag'
  | 'hex'
  | 'base64'
  /** Base64 or nothing: the key of a KEY record whose flags say that there is none (RFC 2535 section 3.1.2). */
  | 'optional-base64'
  /** Base64, or `-` for no octets: the data of a DOA record. */
  | 'base64-or-dash'
  /** The salt of NSEC3: hexadecimal after a length octet, or `-` (RFC 5155 section 3.3). */
  | 'salt'
  /** A hashed owner name: base32hex after a length octet (RFC 5155 section 3.3). */
  | 'hash'
  /** 48 or 64 bits as pairs of hexadecimal digits with hyphens (RFC 7043). */
  | 'eui48'
  | 'eui64'
  /** 64 bits as four groups of hexadecimal digits with colons (RFC 6742 section 2.1.2). */
  | 'locator64'
  /** `0x` and hexadecimal, dots ignored (RFC 1706). */
  | 'nsap'
  /** A DNSSEC algorithm, by number or mnemonic. */
  | 'algorithm'
  /** The type of a certificate, by number or mnemonic (RFC 4398 section 2.1). */
  | 'certificate-type'
  /** The scheme of a DSYNC record, by number or mnemonic (RFC 9859). */
  | 'dsync-scheme'
  /** An IP protocol, by number or mnemonic. */
  | 'protocol'
  /** The ports of a WKS record, by number or mnemonic (RFC 1035 section 3.4.2). */
  | 'services'
  /** A record type. */
  | 'type'
  /** Record types, in order of their numbers: a type bit map (RFC 4034 section 4.1.2). */
  | 'types'
  /** Address prefixes (RFC 3123). */
  | 'prefixes'
  /** Parameters of SVCB and HTTPS, in order of their keys (RFC 9460 section 2.1). */
  | 'svc-params'
  /** Record types of an NXT record (RFC 2535 section 5.2); all of A6 (RFC 2874) and SINK rdata; the address of ATMA. */
  | 'old-types'
  | 'a6'
  | 'sink'
  | 'atm-address'
  /** All of LOC rdata (RFC 1876), IPSECKEY (RFC 4025), AMTRELAY (RFC 8777) and HIP (RFC 8005), whose fields depend on each other. */
  | 'location'
  | 'ipsec-key'
  | 'amt-relay'
  | 'host-identity'

const REST_KINDS: ReadonlySet<FieldKind> = new Set<FieldKind>([
  'optional-string',
  'strings',
  'hex',
  'base64',
  'optional-base64',
  'base64-or-dash',
  'services',
  'types',
  'prefixes',
  'svc-params',
  'old-types',
  'a6',
  'sink',
  'location',
  'ipsec-key',
  'amt-relay',
  'host-identity',
])

/** Whether the kind takes all remaining tokens. */
export const takesRest = (kind: FieldKind): boolean => REST_KINDS.has(kind)

const EMPTY_KINDS: ReadonlySet<FieldKind> = new Set<FieldKind>([
  'optional-string',
  'optional-base64',
  'services',
  'types',
  'old-types',
  'prefixes',
  'svc-params',
])

/** Whether the field may have no token at all; its text is then empty. */
export const mayBeEmpty = (kind: FieldKind): boolean => EMPTY_KINDS.has(kind)
