/** Public keys of OpenSSH: the line of a `.pub` file, its binary form (RFC 4253 section 6.6, RFC 8709) and its fingerprint. */
import { createHash } from 'node:crypto'
import { failure, ok, type Result } from '../base/result.ts'
import { quoted } from '../base/text.ts'

/** An Ed25519 key. */
export interface SshPublicKey {
  /** The 32 octets of the key (RFC 8032). */
  readonly octets: Buffer
  /** As `ssh-keygen -l` shows it: `SHA256:` and base64. */
  readonly fingerprint: string
}

export const ED25519 = 'ssh-ed25519'

/** Parses `ssh-ed25519 AAAA… comment`. Failures are worded to follow the name of the key. */
export function parseSshPublicKey(line: string): Result<SshPublicKey> {
  if (line.includes('PRIVATE KEY')) return failure('is a private key: write the line of the file that ends in .pub')
  const [type = '', base64 = ''] = line.trim().split(/\s+/, 2)
  if (type !== ED25519) return failure(otherType(type))
  const octets = Buffer.from(base64, 'base64')
  return octets.toString('base64') === base64 ? parseKeyOctets(octets) : failure('is not a complete line of a .pub file')
}

/** Parses the binary form. */
export function parseKeyOctets(octets: Buffer): Result<SshPublicKey> {
  const taken = takeStrings(octets, 1)
  const type = taken?.strings[0]?.toString('latin1') ?? ''
  if (taken === null || type !== ED25519) return failure(otherType(type))
  const key = takeStrings(taken.rest, 1)
  const [point] = key?.strings ?? []
  if (point?.length !== 32 || key?.rest.length !== 0) return failure('is not an Ed25519 key: it has another length')
  if (hasSmallOrder(point)) return failure('is not a usable Ed25519 key: everybody can sign for it')
  return ok({ octets: Buffer.from(point), fingerprint: fingerprintOf(octets) })
}

/** The points of small order, without the bit of the sign, in the canonical encoding and others, as libsodium lists them. One of them is all zeros, as in a placeholder. */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
])

function hasSmallOrder(point: Buffer): boolean {
  const unsigned = Buffer.from(point)
  unsigned.writeUInt8(unsigned.readUInt8(31) & 0x7f, 31)
  return SMALL_ORDER.has(unsigned.toString('hex'))
}

const fingerprintOf = (octets: Buffer): string => `SHA256:${createHash('sha256').update(octets).digest('base64').replace(/=+$/, '')}`

/** The binary form of a key. */
export const sshKeyOctets = (key: Buffer): Buffer => Buffer.concat([sshString(ED25519), sshString(key)])

/** What is wrong with a key of another type. */
export function otherType(type: string): string {
  if (type === 'sk-ssh-ed25519@openssh.com') return 'is a key of a security token, which cannot be used: make one of the type ed25519'
  const known = /^(?:ssh|ecdsa|sk)-[a-z0-9@.-]{1,60}$/.test(type)
  return known ? `is a key of the type ${type}, not ssh-ed25519` : `is not a key of the type ssh-ed25519: it begins with ${quoted(type)}`
}

/** A string in the binary form of SSH (RFC 4251 section 5): its length in four octets, and its octets. */
export function sshString(value: string | Buffer): Buffer {
  const octets = Buffer.from(value as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(octets.length)
  return Buffer.concat([length, octets])
}

interface Taken {
  readonly strings: readonly Buffer[]
  readonly rest: Buffer
}

/** The first strings of octets in the binary form of SSH; null if there are fewer. */
export function takeStrings(octets: Buffer, count: number): Taken | null {
  const strings: Buffer[] = []
  let rest = octets
  while (strings.length < count) {
    const end = rest.length < 4 ? Number.POSITIVE_INFINITY : 4 + rest.readUInt32BE(0)
    if (end > rest.length) return null
    strings.push(rest.subarray(4, end))
    rest = rest.subarray(end)
  }
  return { strings, rest }
}
