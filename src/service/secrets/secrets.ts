/**
 * Encrypts the secrets that the service must read back: answers to security questions, secrets of second factors, codes sent by SMS. Each value is
 * encrypted with AES-256-GCM (NIST SP 800-38D), bound to its purpose and user, and contains the id of its key: `aes:KEY-ID:BASE64`. The database
 * stores which key is current. A rotation waits for all transactions that encrypt, so nothing is encrypted with the old key afterwards (see
 * `rotate-key.ts`).
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Connection } from '../store/database.ts'
import { readKeyFile } from './key-file.ts'

export interface Secrets {
  /** Encrypts a text with the current key, which stays current until the transaction ends. `context` names the purpose and user of the text. */
  seal(connection: Connection, text: string, context: string): Promise<string>
  /** Decrypts a text. Throws if its key is unknown or its context is another. */
  open(sealed: string, context: string): string
}

interface SecretKey {
  /** 16 hexadecimal digits that identify the key without revealing it. */
  readonly id: string
  readonly octets: Buffer
}

export interface KeyRing {
  /** The key to use: the first one. */
  newest(): SecretKey
  /** Returns the key with this id. A key file is read again if the id is unknown. */
  find(id: string): SecretKey | null
  all(): readonly SecretKey[]
}

/** The fewest characters of a key; 32 random octets in base64 have 44. */
const MIN_KEY_LENGTH = 32

const MAX_KEYS = 2

const IV = 12
const TAG = 16

/** The prefix of values that are encrypted with a key. */
export const sealedPrefix = (keyId: string): string => `aes:${keyId}:`

/** The id of the key of a value; null if it is not encrypted. */
export const keyIdOf = (sealed: string): string | null => /^aes:([0-9a-f]{16}):/.exec(sealed)?.[1] ?? null

/**
 * Parses one key, or two separated by a comma, the new one first. Throws a `RangeError` if they are
 * not valid.
 */
export function keysFromText(text: string): KeyRing {
  const keys = parseKeys(
    text.split(',').map((key) => key.trim()),
    'ZONEWRIGHT_SECRETS_KEY',
  )
  return {
    newest: () => keys[0] as SecretKey,
    find: (id) => keys.find((key) => key.id === id) ?? null,
    all: () => keys,
  }
}

/** Reads the keys of a file and remembers keys that it had before. Throws a `RangeError` if there is no file or no key in it. */
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
  }
}

function parseKeys(texts: readonly string[], source: string): readonly SecretKey[] {
  if (texts.length === 0) throw new RangeError(`${source} has no key`)
  if (texts.length > MAX_KEYS) throw new RangeError(`${source} has more than ${MAX_KEYS} keys`)
  if (texts.some((text) => text.length < MIN_KEY_LENGTH))
    throw new RangeError(
      `${source}: a key needs at least ${MIN_KEY_LENGTH} characters, and cannot contain a comma, which separates two keys`,
    )
  if (new Set(texts).size < texts.length) throw new RangeError(`${source} contains the same key twice`)
  return texts.map(keyOf)
}

const keyOf = (text: string): SecretKey => ({
  id: derive(text, 'zonewright secrets key id', 8).toString('hex'),
  octets: derive(text, 'zonewright secrets 1', 32),
})

const derive = (key: string, purpose: string, length: number): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, length))

/** A value cannot be decrypted. The message contains nothing secret. */
export class SealedValueError extends Error {
  override readonly name = 'SealedValueError'
}

export function createSecrets(keys: KeyRing): Secrets {
  const find = (id: string): SecretKey => {
    const key = keys.find(id)
    if (key === null)
      throw new SealedValueError(`a secret is encrypted with key ${id}, which this process does not have: add that key and restart it`)
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
      const id = keyIdOf(sealed)
      const octets = Buffer.from(sealed.slice(sealed.lastIndexOf(':') + 1), 'base64')
      const text = id === null ? null : decrypt(find(id), octets, context)
      if (text === null) throw new SealedValueError('a secret cannot be decrypted: it is damaged, or encrypted with another key')
      return text
    },
  }
}

/** Returns null if the key or the context does not match, or the octets have been changed. */
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

/** The id of the only row. */
const ROW_ID = 1

/** The id of the key that encrypts secrets; empty before the first start. */
export async function findKeyId(connection: Connection): Promise<string> {
  const row = await connection.selectFrom('secret_key').select('key_id').where('id', '=', ROW_ID).executeTakeFirst()
  return row?.key_id ?? ''
}

/** Creates the row if necessary. */
export async function createSecretKeyRow(connection: Connection): Promise<void> {
  await connection
    .insertInto('secret_key')
    .values({ id: ROW_ID, key_id: '' })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** The id of the current key, locked until the transaction ends. Call it after locking users. */
export async function lockKeyId(connection: Connection): Promise<string> {
  const row = await connection
    .updateTable('secret_key')
    .set((eb) => ({ key_id: eb.ref('key_id') }))
    .where('id', '=', ROW_ID)
    .returning('key_id')
    .executeTakeFirstOrThrow()
  return row.key_id
}

export async function setKeyId(connection: Connection, keyId: string): Promise<void> {
  await connection.updateTable('secret_key').set({ key_id: keyId }).where('id', '=', ROW_ID).execute()
}
