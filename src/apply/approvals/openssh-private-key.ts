/** Private keys of OpenSSH (`PROTOCOL.key` in its sources): one Ed25519 key without a passphrase. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { ED25519, otherType, parseKeyOctets, type SshPublicKey, takeStrings } from '../../definition/config/ssh-public-key.ts'
import { notAFile } from '../../definition/files/file-error.ts'
import { describeReadError } from '../../definition/files/read-text.ts'
import { failure, ok, type Result } from '../../dns/result.ts'

export interface OpenSshKey {
  readonly publicKey: SshPublicKey
  /** Null if a passphrase protects it. */
  readonly privateKey: KeyObject | null
}

const MAGIC = Buffer.from('openssh-key-v1\0')

/** Maximum octets of the file of a key. */
const MAX_KEY_OCTETS = 65_536

/** Permissions of the group and of other users. */
const OTHERS = 0o077

/** Parses a key. Failures are worded to follow the name of its file, and never quote it. */
export function parseOpenSshKey(text: string): Result<OpenSshKey> {
  const base64 = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/.exec(text)?.[1]
  if (base64 === undefined) return failure(otherFile(text))
  const octets = Buffer.from(base64, 'base64')
  const isKey = octets.subarray(0, MAGIC.length).equals(MAGIC)
  // Cipher, key derivation and its options; then the number of keys, the public key and the list of private keys.
  const head = isKey ? takeStrings(octets.subarray(MAGIC.length), 3) : null
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
