/** The lint for DKIM keys (RFC 6376 section 3.6.1, RFC 8301, RFC 8463). */
import { createPublicKey, type KeyObject } from 'node:crypto'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { quoted } from '../../dns/excerpt.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { textOf } from '../rules/value-rules.ts'
import type { LintedZone } from './managed-names.ts'
import { parseTagList } from './tag-list.ts'

/** Bits of the shortest RSA key that verifiers accept (RFC 8301 section 3.2). */
const MIN_RSA_BITS = 1024

const ED25519_OCTETS = 32

/** Maximum length of a key in characters: an RSA key of 16,384 bits has fewer. */
const MAX_KEY = 4096

/** The owner of a key. A selector that begins with an underscore is none: `_adsp` (RFC 5617), `_policy`, `_report`. */
const SELECTOR = /^[^_].*\._domainkey\./

interface Problem {
  readonly message: string
  readonly hint?: string
}

/** Reports key records that verifiers cannot use. An empty `p=` says that a key is revoked, and is correct. */
export function dkimInvalid({ zone }: LintedZone): Diagnostic[] {
  return zone.records.flatMap((record): Diagnostic[] => {
    if (record.type !== 'TXT' || !SELECTOR.test(record.name)) return []
    const problem = keyProblem(record)
    if (problem === null) return []
    return [
      {
        severity: 'warning',
        code: 'dkim-invalid',
        message: `${record.name} TXT: verifiers cannot use the DKIM key: ${problem.message}`,
        at: record.at,
        hint: problem.hint ?? 'copy the record again from the mail system that signs',
      },
    ]
  })
}

function keyProblem(record: DefinedRecord): Problem | null {
  const text = textOf(record)
  const { tags, problem } = parseTagList(text)
  if (text.includes('\\;')) return { message: 'it has a backslash before a semicolon', hint: 'write the semicolons without backslashes' }
  if (text.includes('"')) return { message: 'it has a quotation mark', hint: 'remove the quotation marks inside the text' }
  if (problem !== null) return { message: problem }
  const version = tags.get('v')
  if (version !== undefined && version !== 'DKIM1') return { message: `the version is ${quoted(version)}`, hint: 'write v=DKIM1' }
  if (version !== undefined && [...tags.keys()][0] !== 'v') return { message: 'v=DKIM1 is not its first tag', hint: 'write v=DKIM1 first' }
  const key = tags.get('p')
  if (key === undefined) return { message: 'it has no tag p with the key' }
  const algorithm = tags.get('k') ?? 'rsa'
  if (algorithm !== 'rsa' && algorithm !== 'ed25519')
    return { message: `the type of key ${quoted(algorithm)} is unknown`, hint: 'the types are rsa and ed25519' }
  const hashes = listOf(tags.get('h'))
  if (hashes !== null && !hashes.includes('sha256'))
    return { message: `h=${quoted(hashes.join(':'))} lacks sha256, which signatures use`, hint: 'write h=sha256, or remove h' }
  const services = listOf(tags.get('s'))
  if (services !== null && !services.includes('email') && !services.includes('*'))
    return { message: `s=${quoted(services.join(':'))} is not for mail`, hint: 'write s=email, or remove s' }
  return key === '' ? null : dataProblem(key.replace(/\s/g, ''), algorithm)
}

const listOf = (value: string | undefined): readonly string[] | null => value?.split(':').map((part) => part.trim()) ?? null

function dataProblem(key: string, algorithm: 'rsa' | 'ed25519'): Problem | null {
  if (key.length > MAX_KEY) return { message: `the key has ${key.length} characters, more than any key` }
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(key) && key.replace(/=+$/, '').length % 4 !== 1
  if (!isBase64) return { message: 'p is not base64' }
  const octets = Buffer.from(key, 'base64')
  if (algorithm === 'ed25519') {
    if (octets.length === ED25519_OCTETS) return null
    return { message: `p has ${octets.length} octets; an Ed25519 key has ${ED25519_OCTETS}` }
  }
  const rsa = rsaKey(octets)
  if (rsa === null) return { message: 'p is not an RSA key; it may be cut off' }
  const bits = rsa.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits >= MIN_RSA_BITS) return null
  return { message: `the RSA key has ${bits} bits; verifiers require ${MIN_RSA_BITS}`, hint: 'make a key of 2048 bits' }
}

/** The key as SubjectPublicKeyInfo, which everybody publishes, or as RSAPublicKey, as the RFC says (erratum 3017); null if it is neither. */
function rsaKey(octets: Buffer): KeyObject | null {
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      const key = createPublicKey({ key: octets, format: 'der', type })
      if (key.asymmetricKeyType === 'rsa') return key
    } catch {
      // The other form may fit.
    }
  }
  return null
}
