import type { FieldKind } from './field-kind.ts'

/** One field of a type's rdata. The key is the name the type's RFC gives it, as octoDNS spells it in YAML. */
export interface RdataField {
  readonly key: string
  readonly kind: FieldKind
}

export interface RdataType {
  readonly type: string
  /** The number in the registry of RR types; null for a pseudo-type that exists only at providers. */
  readonly code: number | null
  readonly fields: readonly RdataField[]
  /** At most one record of the type may stand at a name. */
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

/** The record types with a known presentation form: fields in presentation order, which is the wire order too. */
const TYPES: readonly RdataType[] = [
  define('A', 1, 'value:ipv4'),
  define('NS', 2, 'value:name'),
  define('CNAME', 5, 'value:name', { singleton: true }),
  define('SOA', 6, 'mname:name rname:name serial:u32 refresh:seconds retry:seconds expire:seconds minimum:seconds', { singleton: true }),
  define('PTR', 12, 'value:name'),
  define('HINFO', 13, 'cpu:string os:string'),
  define('MX', 15, 'preference:u16 exchange:name'),
  define('TXT', 16, 'value:strings'),
  define('RP', 17, 'mbox:name txt:name'),
  define('AAAA', 28, 'value:ipv6'),
  define('SRV', 33, 'priority:u16 weight:u16 port:u16 target:name'),
  define('NAPTR', 35, 'order:u16 preference:u16 flags:string service:string regexp:string replacement:name'),
  define('CERT', 37, 'certificate_type:u16 key_tag:u16 algorithm:algorithm certificate:base64'),
  define('DNAME', 39, 'value:name', { singleton: true }),
  define('DS', 43, 'key_tag:u16 algorithm:algorithm digest_type:u8 digest:hex'),
  define('SSHFP', 44, 'algorithm:u8 fingerprint_type:u8 fingerprint:hex'),
  define('DNSKEY', 48, 'flags:u16 protocol:u8 algorithm:algorithm public_key:base64'),
  define('DHCID', 49, 'value:base64'),
  define('TLSA', 52, 'certificate_usage:u8 selector:u8 matching_type:u8 certificate_association_data:hex'),
  define('SMIMEA', 53, 'certificate_usage:u8 selector:u8 matching_type:u8 certificate_association_data:hex'),
  define('CDS', 59, 'key_tag:u16 algorithm:algorithm digest_type:u8 digest:hex'),
  define('CDNSKEY', 60, 'flags:u16 protocol:u8 algorithm:algorithm public_key:base64'),
  define('OPENPGPKEY', 61, 'value:base64'),
  define('SPF', 99, 'value:strings'),
  define('URI', 256, 'priority:u16 weight:u16 target:text'),
  define('CAA', 257, 'flags:u8 tag:tag value:text'),
  define('ALIAS', null, 'value:name', { singleton: true }),
  define('URLFWD', null, 'path:string target:string code:u16 masking:u8 query:u8'),
]

export const RDATA_TYPES: ReadonlyMap<string, RdataType> = new Map(TYPES.map((type) => [type.type, type]))

const BY_CODE: ReadonlyMap<number, RdataType> = new Map(TYPES.flatMap((type) => (type.code === null ? [] : [[type.code, type]])))

export const typeOfCode = (code: number): RdataType | undefined => BY_CODE.get(code)
