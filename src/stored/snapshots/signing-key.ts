/**
 * Ed25519 keys (RFC 8032) that sign snapshots: PEM (PKCS #8 and SPKI, RFC 8410), as OpenSSL writes them, and the forms of OpenSSH, without a passphrase.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { noSecrets } from '../../base/secret-guard.ts'
import { isSecretReference, resolveSecret, type SecretSource } from '../../config/resolve-secret.ts'
import { parseSshPublicKey } from '../../config/ssh-public-key.ts'
import { parseOpenSshKey, publicKeyObject } from '../approvals/openssh.ts'
import { canonicalJson } from '../plans/plan-json.ts'

export type ReadKey = { readonly key: KeyObject; readonly diagnostic: null } | { readonly key: null; readonly diagnostic: Diagnostic }

/** Reads the private key that `env:NAME` or `file:PATH` refers to, which becomes a secret of the run. */
export async function readSigningKey(reference: string, source: SecretSource): Promise<ReadKey> {
  if (!isSecretReference(reference))
    return refused('--sign-key', 'is not a reference to a key', 'write env:NAME or file:PATH, so that the key is not on the command line')
  const { value, diagnostic } = await resolveSecret(reference, '--sign-key', undefined, source)
  if (diagnostic) return { key: null, diagnostic }
  return keyOf('--sign-key', parsePrivateKey(value), MAKE_KEY)
}

/** Reads a public key: `env:NAME`, `file:PATH`, or the line `ssh-ed25519 …` itself. It is no secret of the run. */
export async function readVerifyKey(reference: string, source: SecretSource): Promise<ReadKey> {
  const { value, diagnostic } = await resolveSecret(reference, '--verify-key', undefined, { ...source, loaded: noSecrets() })
  if (diagnostic) return { key: null, diagnostic }
  return keyOf('--verify-key', parsePublicKey(value), 'give the public key as PEM, or the line "ssh-ed25519 …" of OpenSSH')
}

const MAKE_KEY = 'make one with: openssl genpkey -algorithm ed25519 -out snapshot-key.pem'

const keyOf = (option: string, parsed: Result<KeyObject>, hint: string): ReadKey =>
  parsed.ok ? { key: parsed.value, diagnostic: null } : refused(option, parsed.message, hint)

const refused = (option: string, problem: string, hint: string): ReadKey => ({
  key: null,
  diagnostic: { severity: 'error', code: 'snapshot-signature', message: `${option} ${problem}`, hint },
})

const NOT_A_KEY = failure('is not an Ed25519 key without a passphrase')

export function parsePrivateKey(text: string): Result<KeyObject> {
  if (text.includes('BEGIN OPENSSH PRIVATE KEY')) {
    const parsed = parseOpenSshKey(text)
    return parsed.ok && parsed.value.privateKey !== null ? ok(parsed.value.privateKey) : NOT_A_KEY
  }
  return ed25519(() => createPrivateKey({ key: text, format: 'pem' }))
}

export function parsePublicKey(text: string): Result<KeyObject> {
  if (text.includes('PRIVATE KEY')) return failure('is a private key: a job that verifies needs only the public one')
  if (!/^\s*ssh-ed25519\s/.test(text)) return ed25519(() => createPublicKey({ key: text, format: 'pem' }))
  const parsed = parseSshPublicKey(text)
  return parsed.ok ? ok(publicKeyObject(parsed.value.octets)) : NOT_A_KEY
}

/** The error of the cryptographic library may quote the text, so it is not passed on. */
function ed25519(create: () => KeyObject): Result<KeyObject> {
  try {
    const key = create()
    return key.asymmetricKeyType === 'ed25519' ? ok(key) : failure(`is a key of type ${key.asymmetricKeyType}, not ed25519`)
  } catch {
    return NOT_A_KEY
  }
}

const PREFIX = 'ed25519:'

/** What is signed: the canonical document without checksum and signature. */
const signedOctets = (document: object): Buffer => Buffer.from(canonicalJson({ ...document, checksum: undefined, signature: undefined }))

/** The signature of a document: `ed25519:` and 64 octets in base64. */
export const signDocument = (document: object, key: KeyObject): string =>
  `${PREFIX}${sign(null, signedOctets(document), key).toString('base64')}`

/** Whether a signature is that of the document by the owner of the key. */
export function isSignedBy(document: object, signature: string, key: KeyObject): boolean {
  if (!/^ed25519:[A-Za-z0-9+/]{86}==$/.test(signature)) return false
  return verify(null, signedOctets(document), key, Buffer.from(signature.slice(PREFIX.length), 'base64'))
}
