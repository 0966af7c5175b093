/**
 * Encryption of what the service must read back in clear and nobody else may read: answers to security questions, secrets of second factors, codes sent
 * by SMS. Each value is encrypted with AES-256-GCM (NIST SP 800-38D), bound to its purpose and its user, and names its key: `aes:KEY-ID:BASE64`.
 * The database says which key is in use. It changes in a transaction that waits for all others that encrypt, so that nothing is encrypted with
 * the former key afterwards (see `rotate-key.ts`).
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Connection } from '../store/database.ts'
import { lockKeyId } from '../store/secret-key-store.ts'
import { readKeyFile } from './key-file.ts'

export interface Secrets {
  /** Encrypts a text with the key in use, which stays in use until the transaction ends. `context` names the purpose and the user of the text. */
  seal(connection: Connection, text: string, context: string): Promise<string>
  /** Decrypts a text. Throws if its key is not known, or it was encrypted for another context. */
  open(sealed: string, context: string): string
}

export interface SecretKey {
  /** 16 hexadecimal digits that say which key it is, and nothing about it. */
  readonly id: string
  readonly octets: Buffer
}

export interface KeyRing {
  /** The key that is to be used: the first of those given. */
  newest(): SecretKey
  /** The key with this id. Keys from a file are read again if it is not known yet. */
  find(id: string): SecretKey | null
  all(): readonly SecretKey[]
  /** Keys that a value which names none may have: earlier versions took the variable as it was, with the line feed at its end too. */
  ofUnnamed(): readonly SecretKey[]
}

/** The fewest characters of a key: 32 random octets in base64 have 44. */
const MIN_KEY = 32

const MOST_KEYS = 2

const IV = 12
const TAG = 16

/** What a value that is encrypted with a key begins with. */
export const sealedPrefix = (keyId: string): string => `aes:${keyId}:`

/** The id of the key that a value is encrypted with; null for a value of an earlier version, which names none. */
export const keyIdOf = (sealed: string): string | null => /^aes:([0-9a-f]{16}):/.exec(sealed)?.[1] ?? null

/**
 * One key, or two with the new one first and a comma between them. Only the second may have a comma itself, as a key of an earlier version may. Throws a
 * `RangeError` that says what is wrong with them.
 */
export function keysFromText(text: string): KeyRing {
  const comma = text.indexOf(',')
  const texts = comma < 0 ? [text] : [text.slice(0, comma), text.slice(comma + 1)]
  const keys = parseKeys(
    texts.map((key) => key.trim()),
    'ZONEWRIGHT_SECRETS_KEY',
  )
  const verbatim = texts.filter((key) => key !== key.trim()).map(keyOf)
  return {
    newest: () => keys[0] as SecretKey,
    find: (id) => keys.find((key) => key.id === id) ?? null,
    all: () => keys,
    ofUnnamed: () => [...keys, ...verbatim],
  }
}

/** The keys of a file. Those that it had before stay known. Throws a `RangeError` if there is no file, or no key in it. */
export function keysFromFile(path: string): KeyRing {
  const known = new Map<string, SecretKey>()
  const load = (): SecretKey => {
    const texts = readKeyFile(path)
    if (texts === null) throw new RangeError(`the key file ${path} is missing`)
    const keys = parseKeys(texts, `the key file ${path}`)
    for (const key of keys) known.set(key.id, key)
    return keys[0] as SecretKey
  }
  load()
  return {
    newest: load,
    find: (id) => {
      if (!known.has(id)) load()
      return known.get(id) ?? null
    },
    all: () => [...known.values()],
    ofUnnamed: () => [...known.values()],
  }
}

function parseKeys(texts: readonly string[], source: string): readonly SecretKey[] {
  if (texts.length === 0) throw new RangeError(`${source} has no key`)
  if (texts.length > MOST_KEYS) throw new RangeError(`${source} has more than ${MOST_KEYS} keys`)
  if (texts.some((text) => text.length < MIN_KEY))
    throw new RangeError(`${source}: a key has ${MIN_KEY} characters at least, and no comma, which ends the first of two keys`)
  if (new Set(texts).size < texts.length) throw new RangeError(`${source} has the same key twice`)
  return texts.map(keyOf)
}

const keyOf = (text: string): SecretKey => ({
  id: derive(text, 'zonewright secrets key id', 8).toString('hex'),
  octets: derive(text, 'zonewright secrets 1', 32),
})

const derive = (key: string, purpose: string, length: number): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, length))

/** A value that cannot be decrypted. The message names the key at most. */
export class SealedValueError extends Error {
  override readonly name = 'SealedValueError'
}

export function createSecrets(keys: KeyRing): Secrets {
  const find = (id: string): SecretKey => {
    const key = keys.find(id)
    if (key === null)
      throw new SealedValueError(`a secret is encrypted with key ${id}, which this process does not have: start it with that key, too`)
    return key
  }
  return {
    seal: async (connection, text, context) => {
      const { id, octets } = find(await lockKeyId(connection))
      const iv = randomBytes(IV)
      const cipher = createCipheriv('aes-256-gcm', octets, iv).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${sealedPrefix(id)}${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`
    },
    open: (sealed, context) => {
      // Earlier versions stored values in clear if they had no key, and did not name the key if they had one.
      if (sealed.startsWith('plain:')) return sealed.slice('plain:'.length)
      const id = keyIdOf(sealed)
      const bytes = Buffer.from(sealed.slice(sealed.lastIndexOf(':') + 1), 'base64')
      for (const key of id === null ? keys.ofUnnamed() : [find(id)]) {
        const text = decrypt(key, bytes, context)
        if (text !== null) return text
      }
      throw new SealedValueError('a secret cannot be decrypted: it is damaged, or encrypted with another key')
    },
  }
}

/** Null if the key is another, the context is another, or the octets have been changed. */
function decrypt({ octets }: SecretKey, bytes: Buffer, context: string): string | null {
  if (bytes.length < IV + TAG) return null
  const decipher = createDecipheriv('aes-256-gcm', octets, bytes.subarray(0, IV), { authTagLength: TAG })
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(IV, IV + TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV + TAG)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
