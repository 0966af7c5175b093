/** Finds or creates the key of the secrets at a start, and ends a rotation that was interrupted. */
import { existsSync } from 'node:fs'
import type { Log } from '../observability/log.ts'
import type { Database } from '../store/database.ts'
import { tightenFile, type WarnAboutMode } from '../store/private-files.ts'
import { countSealed, resealAll } from '../store/sealed-values.ts'
import { keyFilePath, makeKeyFile, removeUnfinishedKeys } from './key-file.ts'
import {
  createSecretKeyRow,
  createSecrets,
  type KeyRing,
  keysFromFile,
  keysFromText,
  lockKeyId,
  type Secrets,
  setKeyId,
} from './secrets.ts'

export interface SecretsToPrepare {
  readonly database: Database
  /** The value of `ZONEWRIGHT_SECRETS_KEY`: one key, or two with the new one first; null for the key file beside the database. */
  readonly given: string | null
  readonly log: Log
}

/** For a process without HTTP and key, which never uses a secret. */
export const NO_SECRETS: Secrets = {
  seal: () => Promise.reject(new Error('this process has no key for secrets')),
  open: () => {
    throw new Error('this process has no key for secrets')
  },
}

/** Returns the secrets of a database. Rejects with a `RangeError` if the key is missing or not the one of the database. */
export async function prepareSecrets({ database, given, log }: SecretsToPrepare): Promise<Secrets> {
  const keys = await findKeys(database, given, log.warn)
  const secrets = createSecrets(keys)
  await agreeOnKey(database, keys)
  const { resealed, left } = await resealAll(database, secrets)
  if (resealed > 0) log.info({ secrets: resealed }, 'secrets re-encrypted with the current key')
  await refuseMissingKeys(database, keys)
  if (left > 0) log.error({ secrets: left }, 'secrets cannot be decrypted')
  return secrets
}

/** Finds the keys. Creates the key file if nothing is encrypted yet. */
async function findKeys(database: Database, given: string | null, warn: WarnAboutMode): Promise<KeyRing> {
  if (given !== null) return keysFromText(given)
  if (database.folder === null) {
    throw new RangeError(
      'PostgreSQL requires ZONEWRIGHT_SECRETS_KEY, the same key for all processes: create one with "openssl rand -base64 32"',
    )
  }
  const path = keyFilePath(database.folder)
  removeUnfinishedKeys(path)
  if (!existsSync(path)) {
    if ((await database.read(countSealed)).size > 0) {
      throw new RangeError(
        `the database has encrypted secrets, but their key is missing: restore the key file ${path}, or set ZONEWRIGHT_SECRETS_KEY`,
      )
    }
    makeKeyFile(path)
  }
  tightenFile(path, warn)
  return keysFromFile(path)
}

/**
 * Stores the id of the key in use in the database, unless it is there. An unknown id is replaced if nothing is encrypted with that key and no other
 * process can be using it.
 */
async function agreeOnKey(database: Database, keys: KeyRing): Promise<void> {
  await database.write(async (connection) => {
    await createSecretKeyRow(connection)
    const keyId = await lockKeyId(connection)
    if (keyId !== '' && keys.find(keyId) !== null) return
    const sealed = await countSealed(connection)
    if (keyId !== '' && (sealed.size > 0 || database.otherProcesses !== null)) throw anotherKey(keyId)
    for (const id of sealed.keys()) if (keys.find(id) === null) throw anotherKey(id)
    await setKeyId(connection, keys.newest().id)
  })
}

const anotherKey = (id: string): RangeError =>
  new RangeError(`the database is encrypted with another key (${id}); during a key rotation set both keys, the new one first`)

/** Fails at the start rather than at the first use of a secret with a missing key. */
async function refuseMissingKeys(database: Database, keys: KeyRing): Promise<void> {
  for (const [id, count] of await database.read(countSealed)) {
    if (keys.find(id) !== null) continue
    throw new RangeError(
      `${count} secrets in the database are encrypted with another key (${id}): add it as the second key, and run "zonewright serve rotate-key"`,
    )
  }
}
