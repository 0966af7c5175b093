/** `zonewright/definition`: zones as programs. They run in a sandbox; `zonewright validate` checks what they make. */

/** The record set that a function of a record type returns, for the list of a zone. */
export interface RecordSet {
  readonly [made]: true
}

declare const made: unique symbol

/** Record sets, in lists as deep as a program needs. */
export type Records = RecordSet | readonly Records[]

export type OneOrMore<T> = T | readonly T[]

/** Data of any type as in RFC 3597: `\# LENGTH HEX`. */
export type Generic = `\\# ${string}`

/** A value of LOC; `loc` makes one from degrees with decimals. */
export interface Location {
  lat_degrees: number
  lat_minutes: number
  lat_seconds: number
  lat_direction: 'N' | 'S'
  long_degrees: number
  long_minutes: number
  long_seconds: number
  long_direction: 'E' | 'W'
  altitude: number
  size: number
  precision_horz: number
  precision_vert: number
}

/** A value of HTTPS or SVCB (RFC 9460). */
export interface Service {
  svcpriority: number
  targetname: string
  svcparams?: { readonly [key: string]: unknown }
}

/** Makes a zone. Names are relative to it, or end with a dot. A network such as `192.0.2.0/24` is its reverse zone. */
export declare function zone(name: string, settings: ZoneSettings, ...records: Records[]): void

/** Records of any type, such as `TYPE65280` with data as `\# LENGTH HEX`. */
export declare function record(name: string, type: string, value?: unknown, options?: RecordOptions): RecordSet

/** Reads a file below the folder of the config; the path is relative to this program. Each line of a CSV file becomes an object; the first line has its keys. */
export declare function load(path: `${string}.csv`): Record<string, string>[]
// biome-ignore lint/suspicious/noExplicitAny: as JSON.parse
export declare function load(path: string): any

/** The variables of the command line (`--var NAME=VALUE`). */
export declare const variables: Readonly<Record<string, string>>

/** The text of an SPF record (RFC 7208). `true` for `a` and `mx` means the domain itself. */
export declare function spf(policy: {
  ip4?: OneOrMore<string>
  ip6?: OneOrMore<string>
  a?: OneOrMore<string | boolean>
  mx?: OneOrMore<string | boolean>
  include?: OneOrMore<string>
  exists?: OneOrMore<string>
  redirect?: string
  all?: '-all' | '~all' | '?all' | '+all'
}): string

/** The text of a DKIM key (RFC 6376, section 3.6.1). `p` is the public key, with or without the lines around it; `''` revokes. */
export declare function dkim(key: {
  p: string
  k?: 'rsa' | 'ed25519'
  h?: OneOrMore<string>
  n?: string
  s?: OneOrMore<string>
  t?: OneOrMore<string>
}): string

/** The text of a DMARC policy. Addresses for reports may lack `mailto:`. */
export declare function dmarc(policy: {
  p: 'none' | 'quarantine' | 'reject'
  sp?: 'none' | 'quarantine' | 'reject'
  np?: 'none' | 'quarantine' | 'reject'
  adkim?: 'r' | 's'
  aspf?: 'r' | 's'
  fo?: OneOrMore<string>
  pct?: number
  psd?: 'y' | 'n' | 'u'
  rf?: string
  ri?: number
  rua?: OneOrMore<string>
  ruf?: OneOrMore<string>
  t?: 'y' | 'n'
}): string

/** Values for CAA (RFC 8659). `false` forbids every authority to issue. */
export declare function caa(policy: {
  issue?: OneOrMore<string | false>
  issuewild?: OneOrMore<string | false>
  issuemail?: OneOrMore<string | false>
  iodef?: OneOrMore<string>
  critical?: boolean
}): { flags: number; tag: string; value: string }[]

/** A value for LOC (RFC 1876) from degrees with decimals and metres. */
export declare function loc(place: {
  latitude: number
  longitude: number
  altitude?: number
  size?: number
  horizontal?: number
  vertical?: number
}): Location

/** Arithmetic with IPv4 and IPv6 addresses. */
export declare const ip: {
  /** The address that is `count` after another. */
  add(address: string, count: number): string
  /** The address with this number in a network; negative numbers count from its end. */
  host(network: string, index: number): string
  contains(network: string, address: string): boolean
  /** The name of the PTR record of an address. */
  reverse(address: string): string
}

/**
 * Makes the reverse zone of a network (/8, /16, /24 or longer for IPv4, any multiple of 4 for IPv6), with the PTR records of those hosts that are in it. Names without a final
 * dot are relative to `domain`, by default the only zone that the program has made so far.
 */
export declare function reverse(
  network: string,
  hosts: readonly { readonly name: string; readonly ip: string; readonly [key: string]: unknown }[],
  settings?: ZoneSettings & { domain?: string },
): void
