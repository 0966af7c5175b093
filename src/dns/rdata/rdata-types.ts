/** A field of rdata. The key is its name in the type's RFC, as octoDNS spells it in YAML. */
export interface RdataField {
  readonly key: string
  readonly kind: FieldKind
}

export interface RdataType {
  readonly type: string
  /** The number in the registry; null for a provider's pseudo-type. */
  readonly code: number | null
  readonly fields: readonly RdataField[]
  /** Whether a name can have only one record of the type. */
  readonly singleton: boolean
}

const define = (type: string, code: number | null, fields: string, options: { singleton?: true } = {}): RdataType => ({
  type,
  code,
  fields: fields.split(' ').map((field) => {
    const [key = '', kind = ''] = field.split(':')
    return { key, kind: kind as FieldKind }
  }),
  singleton: options.singleton ?? false,
})

const SIGNATURE =
  'type_covered:type algorithm:algorithm labels:u8 original_ttl:u32 signature_expiration:time signature_inception:time key_tag:u16 signers_name:name signature:base64'
const KEY = 'flags:u16 protocol:u8 algorithm:algorithm public_key:base64'
const DIGEST = 'key_tag:u16 algorithm:algorithm digest_type:u8 digest:hex'
const CERTIFICATE_ASSOCIATION = 'certificate_usage:u8 selector:u8 matching_type:u8 certificate_association_data:hex'
const SERVICE = 'svcpriority:u16 targetname:name svcparams:svc-params'

/** The types with a presentation form. The fields are in the order of presentation and wire form. */
const TYPES: readonly RdataType[] = [
  define('A', 1, 'value:ipv4'),
  define('NS', 2, 'value:name'),
  define('MD', 3, 'value:name'),
  define('MF', 4, 'value:name'),
  define('CNAME', 5, 'value:name', { singleton: true }),
  define('SOA', 6, 'mname:name rname:name serial:u32 refresh:seconds retry:seconds expire:seconds minimum:seconds', { singleton: true }),
  define('MB', 7, 'value:name'),
  define('MG', 8, 'value:name'),
  define('MR', 9, 'value:name'),
  define('PTR', 12, 'value:name'),
  define('HINFO', 13, 'cpu:string os:string'),
  define('MINFO', 14, 'rmailbx:name emailbx:name'),
  define('MX', 15, 'preference:u16 exchange:name'),
  define('TXT', 16, 'value:strings'),
  define('RP', 17, 'mbox:name txt:name'),
  define('AFSDB', 18, 'subtype:u16 hostname:name'),
  define('X25', 19, 'value:string'),
  define('ISDN', 20, 'address:string subaddress:optional-string'),
  define('RT', 21, 'preference:u16 host:name'),
  define('NSAP', 22, 'value:nsap'),
  define('NSAP-PTR', 23, 'value:name'),
  define('SIG', 24, SIGNATURE),
  define('KEY', 25, 'flags:u16 protocol:u8 algorithm:algorithm public_key:optional-base64'),
  define('PX', 26, 'preference:u16 map822:name mapx400:name'),
  define('GPOS', 27, 'longitude:string latitude:string altitude:string'),
  define('AAAA', 28, 'value:ipv6'),
  define('LOC', 29, 'value:location'),
  define('EID', 31, 'value:hex'),
  define('NIMLOC', 32, 'value:hex'),
  define('SRV', 33, 'priority:u16 weight:u16 port:u16 target:name'),
  define('NAPTR', 35, 'order:u16 preference:u16 flags:string service:string regexp:string replacement:name'),
  define('KX', 36, 'preference:u16 exchanger:name'),
  define('CERT', 37, 'certificate_type:certificate-type key_tag:u16 algorithm:algorithm certificate:base64'),
  define('DNAME', 39, 'value:name', { singleton: true }),
  define('APL', 42, 'value:prefixes'),
  define('DS', 43, DIGEST),
  define('SSHFP', 44, 'algorithm:u8 fingerprint_type:u8 fingerprint:hex'),
  define('IPSECKEY', 45, 'value:ipsec-key'),
  define('RRSIG', 46, SIGNATURE),
  define('NSEC', 47, 'next_domain_name:name types:types', { singleton: true }),
  define('DNSKEY', 48, KEY),
  define('DHCID', 49, 'value:base64'),
  define('NSEC3', 50, 'hash_algorithm:u8 flags:u8 iterations:u16 salt:salt next_hashed_owner_name:hash types:types'),
  define('NSEC3PARAM', 51, 'hash_algorithm:u8 flags:u8 iterations:u16 salt:salt'),
  define('TLSA', 52, CERTIFICATE_ASSOCIATION),
  define('SMIMEA', 53, CERTIFICATE_ASSOCIATION),
  define('HIP', 55, 'value:host-identity'),
  define('NINFO', 56, 'value:strings'),
  define('RKEY', 57, KEY),
  define('TALINK', 58, 'previous:name next:name'),
  define('CDS', 59, DIGEST),
  define('CDNSKEY', 60, KEY),
  define('OPENPGPKEY', 61, 'value:base64'),
  define('CSYNC', 62, 'soa_serial:u32 flags:u16 types:types', { singleton: true }),
  define('ZONEMD', 63, 'serial:u32 scheme:u8 hash_algorithm:u8 digest:hex'),
  define('SVCB', 64, SERVICE),
  define('HTTPS', 65, SERVICE),
  define('DSYNC', 66, 'rrtype:type scheme:dsync-scheme port:u16 target:name'),
  define('HHIT', 67, 'value:base64'),
  define('BRID', 68, 'value:base64'),
  define('SPF', 99, 'value:strings'),
  define('UINFO', 100, 'value:string'),
  define('UID', 101, 'value:u32'),
  define('GID', 102, 'value:u32'),
  define('NID', 104, 'preference:u16 node_id:locator64'),
  define('L32', 105, 'preference:u16 locator:ipv4'),
  define('L64', 106, 'preference:u16 locator:locator64'),
  define('LP', 107, 'preference:u16 fqdn:name'),
  define('EUI48', 108, 'value:eui48'),
  define('EUI64', 109, 'value:eui64'),
  define('URI', 256, 'priority:u16 weight:u16 target:text'),
  define('CAA', 257, 'flags:u8 tag:tag value:text'),
  define('AVC', 258, 'value:strings'),
  define('DOA', 259, 'enterprise:u32 type:u32 location:u8 media_type:string data:base64-or-dash'),
  define('AMTRELAY', 260, 'value:amt-relay'),
  // A name has exactly one (RFC 9606 section 3).
  define('RESINFO', 261, 'value:strings', { singleton: true }),
  define('WALLET', 262, 'value:strings'),
  define('CLA', 263, 'value:strings'),
  define('IPN', 264, 'value:u64'),
  define('TA', 32768, DIGEST),
  define('DLV', 32769, DIGEST),
  define('ALIAS', null, 'value:name', { singleton: true }),
  // PowerDNS: the type of the records that the script makes, and the script.
  define('LUA', null, 'type:type script:script'),
  define('URLFWD', null, 'path:string target:string code:u16 masking:u8 query:u8'),
]

/** Types with a mnemonic that have only the generic form (RFC 3597): they never had another, or it is obsolete. */
export const GENERIC_ONLY_TYPES: ReadonlyMap<string, number> = new Map([
  ['NULL', 10],
  ['WKS', 11],
  ['NXT', 30],
  ['ATMA', 34],
  ['A6', 38],
  ['SINK', 40],
  ['UNSPEC', 103],
])

/**
 * Types that current BIND versions do not know by name, or whose own form they cannot read, so files for name servers have `TYPE###` and the generic
 * form (RFC 3597). BIND 9.18.49 refuses CLA, GID, IPN, UID and UINFO; earlier releases of 9.18 and 9.20 also refuse the others.
 */
export const NEW_TO_BIND: ReadonlySet<string> = new Set(['BRID', 'CLA', 'DSYNC', 'GID', 'HHIT', 'IPN', 'RESINFO', 'UID', 'UINFO', 'WALLET'])

export const RDATA_TYPES: ReadonlyMap<string, RdataType> = new Map(TYPES.map((type) => [type.type, type]))

const BY_CODE: ReadonlyMap<number, RdataType> = new Map(TYPES.flatMap((type) => (type.code === null ? [] : [[type.code, type]])))

export const rdataTypeOfCode = (code: number): RdataType | undefined => BY_CODE.get(code)

/**
 * The kind of an rdata field. `canonical.ts` parses each kind and `rdata-codec.ts` encodes it. A kind takes one token, or all
 * remaining tokens if it is one of `REST_KINDS`.
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
  /** UTF-8 text in one or more character-strings; how it is split has no meaning. */
  | 'script'
  /** The rest of the rdata as text without a length octet, at most 65,535 octets: CAA value, URI target. */
  | 'text'
  /** The tag of a CAA record: lower-case letters and digits (RFC 8659 section 4.1). */
  | 'tag'
  | 'hex'
  | 'base64'
  /** Base64 or nothing: the key of a KEY record, which its flags may exclude (RFC 2535 section 3.1.2). */
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
  /** A record type. */
  | 'type'
  /** A type bit map: record types in the order of their numbers (RFC 4034 section 4.1.2). */
  | 'types'
  /** Address prefixes (RFC 3123). */
  | 'prefixes'
  /** The parameters of SVCB and HTTPS in the order of their keys (RFC 9460 section 2.1). */
  | 'svc-params'
  /** All rdata of LOC (RFC 1876), IPSECKEY (RFC 4025), AMTRELAY (RFC 8777) or HIP (RFC 8005), whose fields depend on each other. */
  | 'location'
  | 'ipsec-key'
  | 'amt-relay'
  | 'host-identity'

const REST_KINDS: ReadonlySet<FieldKind> = new Set<FieldKind>([
  'optional-string',
  'strings',
  'script',
  'hex',
  'base64',
  'optional-base64',
  'base64-or-dash',
  'types',
  'prefixes',
  'svc-params',
  'location',
  'ipsec-key',
  'amt-relay',
  'host-identity',
])

/** Whether the kind takes all remaining tokens. */
export const takesRest = (kind: FieldKind): boolean => REST_KINDS.has(kind)

const EMPTY_KINDS: ReadonlySet<FieldKind> = new Set<FieldKind>(['optional-string', 'optional-base64', 'types', 'prefixes', 'svc-params'])

/** Whether the field can be absent; its text is then empty. */
export const mayBeEmpty = (kind: FieldKind): boolean => EMPTY_KINDS.has(kind)
