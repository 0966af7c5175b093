/**
 * Signatures of OpenSSH (`PROTOCOL.sshsig` in its sources) over the text of a plan file, as `ssh-keygen -Y sign -n zonewright-plan` makes and
 * `ssh-keygen -Y verify` checks them. A signature contains its public key; whose key that is, the config says.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { ED25519, parseKeyOctets, type SshPublicKey, sshKeyOctets, sshString, takeStrings } from '../../definition/config/ssh-public-key.ts'

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

/** The key of a signature in base64; null if it is not one of this text by an Ed25519 key for this purpose. */
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
