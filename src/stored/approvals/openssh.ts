/**
 * Private keys and signatures of OpenSSH (`PROTOCOL.sshsig` in its sources) over the text of a plan file, as `ssh-keygen -Y sign -n zonewright-plan` makes and
 * `ssh-keygen -Y verify` checks them. A signature contains its public key; whose key that is, the config says.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { failure, ok, type Result } from '../../base/result.ts'
import { ED25519, otherType, parseKeyOctets, type SshPublicKey, sshKeyOctets, sshString, takeStrings } from '../../config/ssh-public-key.ts'
import { notAFile } from '../../files/file-error.ts'
import { describeReadError } from '../../files/read-text.ts'

/** What the signature is for. A signature for another purpose, such as a git commit, is not an approval. */
export const NAMESPACE = 'zonewright-plan'

const MAGIC = Buffer.from('SSHSIG')
const VERSION = Buffer.from([0, 0, 0, 1])
const BEGIN = '-----BEGIN SSH SIGNATURE-----'
const END = '-----END SSH SIGNATURE-----'

/** Maximum characters of the base64 of a signature: one by Ed25519 has about 300. */
const MAX_BASE64 = 2000

/** Maximum signatures read from one text. */
const MAX_SIGNATURES = 50

type Hash = 'sha256' | 'sha512'

/** The octets that the key signs. */
const signedOctets = (text: string, hash: Hash): Buffer =>
  Buffer.concat([MAGIC, sshString(NAMESPACE), sshString(''), sshString(hash), sshString(createHash(hash).update(text).digest())])

/** The armored signature of a text. */
export function signText(text: string, key: KeyObject, publicKey: Buffer): string {
  const signature = Buffer.concat([sshString(ED25519), sshString(sign(null, signedOctets(text, 'sha512'), key))])
  const octets = Buffer.concat([
    MAGIC,
    VERSION,
    sshString(sshKeyOctets(publicKey)),
    sshString(NAMESPACE),
    sshString(''),
    sshString('sha512'),
    sshString(signature),
  ])
  const lines = octets.toString('base64').match(/.{1,70}/g) ?? []
  return [BEGIN, ...lines, END, ''].join('\n')
}

/** The armored signatures in a text, such as a comment. */
export const signaturesIn = (text: string): string[] =>
  [...text.matchAll(/-----BEGIN SSH SIGNATURE-----([A-Za-z0-9+/=\s]{1,2000}?)-----END SSH SIGNATURE-----/g)]
    .slice(0, MAX_SIGNATURES)
    .map(([, base64 = '']) => base64.replace(/\s/g, ''))

/** Finds the keys that have signed a text, which is hashed once however many signatures there are. */
export function signerFinder(text: string): (base64: string) => SshPublicKey | null {
  const signed = new Map<Hash, Buffer>()
  return (base64) =>
    signerOf((hash) => {
      const octets = signed.get(hash) ?? signedOctets(text, hash)
      signed.set(hash, octets)
      return octets
    }, base64)
}

/** The key of a signature in base64; null unless an Ed25519 key signed this text for this purpose. */
function signerOf(signed: (hash: Hash) => Buffer, base64: string): SshPublicKey | null {
  if (base64.length > MAX_BASE64) return null
  const octets = Buffer.from(base64, 'base64')
  const head = MAGIC.length + VERSION.length
  if (!octets.subarray(0, head).equals(Buffer.concat([MAGIC, VERSION]))) return null
  const taken = takeStrings(octets.subarray(head), 5)
  if (taken === null || taken.rest.length > 0) return null
  const [publicKey, namespace, , algorithm, signature] = taken.strings as [Buffer, Buffer, Buffer, Buffer, Buffer]
  const hash = algorithm.toString('latin1')
  if (namespace.toString('latin1') !== NAMESPACE || (hash !== 'sha256' && hash !== 'sha512')) return null
  const key = parseKeyOctets(publicKey)
  const parts = takeStrings(signature, 2)
  if (!key.ok || parts === null || parts.rest.length > 0) return null
  const [type, own] = parts.strings as [Buffer, Buffer]
  if (type.toString('latin1') !== ED25519 || own.length !== 64) return null
  return verify(null, signed(hash), publicKeyObject(key.value.octets), own) ? key.value : null
}

/** A public key for the cryptographic library. */
export const publicKeyObject = (octets: Buffer): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: octets.toString('base64url') }, format: 'jwk' })

export interface OpenSshKey {
  readonly publicKey: SshPublicKey
  /** Null if a passphrase protects it. */
  readonly privateKey: KeyObject | null
}

const KEY_MAGIC = Buffer.from('openssh-key-v1\0')

/** Maximum octets of the file of a key. */
const MAX_KEY_OCTETS = 65_536

/** Permissions of the group and of other users. */
const OTHERS = 0o077

/** Parses a key. Failures are worded to follow the name of its file, and never quote it. */
export function parseOpenSshKey(text: string): Result<OpenSshKey> {
  const base64 = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/.exec(text)?.[1]
  if (base64 === undefined) return failure(otherFile(text))
  const octets = Buffer.from(base64, 'base64')
  const isKey = octets.subarray(0, KEY_MAGIC.length).equals(KEY_MAGIC)
  // Cipher, key derivation and its options; then the number of keys, the public key and the list of private keys.
  const head = isKey ? takeStrings(octets.subarray(KEY_MAGIC.length), 3) : null
  if (head === null || head.rest.length < 4 || head.rest.readUInt32BE(0) !== 1) return DAMAGED
  const [publicOctets, list] = takeStrings(head.rest.subarray(4), 2)?.strings ?? []
  if (publicOctets === undefined || list === undefined) return DAMAGED
  const publicKey = parseKeyOctets(publicOctets)
  if (!publicKey.ok) return publicKey
  if (head.strings[0]?.toString('latin1') !== 'none') return ok({ publicKey: publicKey.value, privateKey: null })
  // The list begins with a number, twice, that shows whether decryption succeeded.
  const [type, own, pair] = takeStrings(list.subarray(8), 3)?.strings ?? []
  if (!list.subarray(0, 4).equals(list.subarray(4, 8)) || pair?.length !== 64 || own === undefined) return DAMAGED
  if (type?.toString('latin1') !== ED25519) return failure(otherType(type?.toString('latin1') ?? ''))
  const privateKey = privateKeyOf(pair.subarray(0, 32), own)
  if (privateKey === null || !own.equals(publicKey.value.octets)) return DAMAGED
  return ok({ publicKey: publicKey.value, privateKey })
}

const DAMAGED = failure('is damaged: it does not contain a private key of OpenSSH')

function otherFile(text: string): string {
  if (/^(?:ssh|ecdsa|sk)-/.test(text.trim())) return 'is a public key: name the file without .pub'
  return text.includes('PRIVATE KEY')
    ? 'is not in the format of OpenSSH: make an approval key with "ssh-keygen -t ed25519"'
    : 'is not a private key'
}

/** The key of a seed; null if its public key is another. The error of the cryptographic library may quote the key, so it is not passed on. */
function privateKeyOf(seed: Buffer, publicKey: Buffer): KeyObject | null {
  try {
    const x = publicKey.toString('base64url')
    const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d: seed.toString('base64url') }, format: 'jwk' })
    return createPublicKey(key).export({ format: 'jwk' }).x === x ? key : null
  } catch {
    return null
  }
}

/**
 * Reads the file of a private key, of at most 64 KiB. Like `ssh`, refuses a file of this user that others can read. Failures are worded to follow the name of
 * the file.
 */
export async function readKeyFile(path: string): Promise<Result<string>> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) return failure(notAFile(facts))
      if (facts.uid === process.getuid?.() && (facts.mode & OTHERS) !== 0)
        return failure(`can be read by other users (mode ${(facts.mode & 0o777).toString(8)}): close it with "chmod 600"`)
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_KEY_OCTETS + 1), 0, MAX_KEY_OCTETS + 1, 0)
      return bytesRead > MAX_KEY_OCTETS ? failure('is not a private key: it is too large') : ok(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch (error) {
    return failure(describeReadError(error))
  }
}
