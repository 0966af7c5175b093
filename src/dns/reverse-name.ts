/** Names of the reverse tree: the owner of the PTR records of an address, and the zones of blocks smaller than an octet (RFC 2317). */
import { failure, ok, type Result } from '../base/result.ts'
import { type DomainName, isAtOrBelow } from './domain-name.ts'
import { canonicalAddress, ipv6Groups } from './ip-address.ts'

const IPV4_TREE = 'in-addr.arpa.' as DomainName
const IPV6_TREE = 'ip6.arpa.' as DomainName

/** Whether a zone is part of the reverse tree (RFC 1035 section 3.5, RFC 3596 section 2.5). */
export const isReverseName = (name: DomainName): boolean => isAtOrBelow(name, IPV4_TREE) || isAtOrBelow(name, IPV6_TREE)

/** The owner of the PTR records of a canonical address: `1.2.0.192.in-addr.arpa.`, or 32 nibbles under `ip6.arpa.`. */
export function reverseName(address: string): DomainName {
  if (!address.includes(':')) return `${address.split('.').reverse().join('.')}.${IPV4_TREE}` as DomainName
  const nibbles = ipv6Groups(address)
    .map((group) => group.toString(16).padStart(4, '0'))
    .join('')
  return `${[...nibbles].reverse().join('.')}.${IPV6_TREE}` as DomainName
}

/**
 * The reverse zone of a network such as `192.0.2.0/24`, `10.0.0.0/8` or `2001:db8::/32`; of part of a /24, the one that RFC 2317 section 4 suggests. Null
 * if the text has neither address nor prefix, a failure if one zone cannot hold exactly the network.
 */
export function networkZone(text: string): Result<DomainName> | null {
  const [, start = '', prefix] = /^([0-9.]*[0-9]|[0-9a-z.]*:[0-9a-z:.]*[0-9a-z:])(?:\/([0-9]+))?\.?$/i.exec(text) ?? []
  const address = canonicalAddress(start)
  // No sound name looks like this: its last label would be a number.
  if (address === null)
    return prefix === undefined ? null : failure(`${text} is not a network: write its whole first address, such as 192.0.2.0/24`)
  const [bits, step] = address.includes(':') ? [128, 4] : [32, 8]
  if (prefix === undefined)
    return failure(
      `${address} is an address, whose PTR records are at ${reverseName(address)}: a zone needs a network such as ${address}/${bits}`,
    )
  const length = Number(prefix)
  if (length > bits) return failure(`the prefix of ${text} is longer than ${bits} bits`)
  const isClassless = bits === 32 && length > 24
  if (length % step !== 0 && !isClassless)
    return failure(`${text} does not end at a label of the reverse tree: define a zone for each /${Math.ceil(length / step) * step} in it`)
  const labels = reverseName(address).split('.')
  const host = labels.slice(0, (bits - length) / step)
  const network = isClassless ? Number(labels[0]) & (256 - 2 ** (bits - length)) : 0
  if (isClassless ? network !== Number(labels[0]) : host.some((label) => label !== '0'))
    return failure(`${text} has an address inside the network, not its first one`)
  const parent = labels.slice(isClassless ? 1 : host.length).join('.') as DomainName
  return ok(isClassless ? (`${network}/${length}.${parent}` as DomainName) : parent)
}

/** A zone for part of the last octet of IPv4 addresses. */
export interface ClasslessBlock {
  /** The zone of all 256 addresses, which delegates the block. */
  readonly parent: DomainName
  /** The last octets of the first and the last address. */
  readonly first: number
  readonly last: number
}

/** The first label of a zone is `FIRST/LENGTH`, `FIRST-LENGTH` or `FIRST-LAST`. */
const CLASSLESS = /^([0-9]{1,3})([/-])([0-9]{1,3})\.((?:[0-9]{1,3}\.){3}in-addr\.arpa\.)$/

/**
 * The block of a zone that is named as in RFC 2317 section 4: `0/26.2.0.192.in-addr.arpa.`, `0-26.…` with the length of the prefix, or `0-63.…` with the
 * last address. Null for other names. A name with two readings, such as `0-31`, is a range of addresses.
 */
export function classlessBlock(zone: DomainName): ClasslessBlock | null {
  const [, start = '', separator, end = '', parent] = CLASSLESS.exec(zone) ?? []
  if (parent === undefined) return null
  const [first, number] = [Number(start), Number(end)]
  const last = separator === '-' && isBlock(first, number) ? number : first + 2 ** (32 - number) - 1
  const isPrefix = number >= 25 && number <= 32
  return (last === number || isPrefix) && isBlock(first, last) ? { parent: parent as DomainName, first, last } : null
}

/** Whether two last octets enclose a block of fewer than 256 addresses that a prefix can describe. */
function isBlock(first: number, last: number): boolean {
  const size = last - first + 1
  return last <= 255 && size >= 1 && size < 256 && Number.isInteger(Math.log2(size)) && first % size === 0
}
