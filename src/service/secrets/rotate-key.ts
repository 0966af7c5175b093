/**
 * The change of the key of the secrets, while the service runs. Running processes have both keys, or get the new one from the key file, which they read
 * again for a key that they do not know. In this order, so that the command may be killed at any moment and run again:
 *
 * 1. The key file has the new key, then the former one (with keys from the environment: every process has been started with both).
 * 2. One transaction makes the new key the one in use. It waits for all transactions that encrypt, and those after it use the new key.
 * 3. Everything else is encrypted again, a few users at a time.
 *
 * The former key stays in the file: backups that were made before need it. The next change of the key drops it.
 */
import type { DatabaseLocation } from '../backup.ts'
import type { Database } from '../store/database.ts'
import { countSealed, resealAll } from '../store/sealed-values.ts'
import { findSecretKey, lockKeyId, setKeyId } from '../store/secret-key-store.ts'
import { keyFilePath, makeKey, readKeyFile, replaceKeyFile } from './key-file.ts'
import { createSecrets, type KeyRing, keysFromFile, keysFromText } from './secrets.ts'

export interface RotatedKey {
  /** Secrets that this run encrypted with the new key. */
  readonly resealed: number
  /** The file that has the new key, and the former one on its second line; null if the keys were given. */
  readonly keyFile: string | null
  /** Why values with the former key may still be in free space of the tables; null if they are not. */
  readonly notErased: string | null
}

/** `given` has two keys, the new one first; null for the key file beside a SQLite database. Rejects in words for the operator. */
export async function rotateKey(place: DatabaseLocation, given: string | null): Promise<RotatedKey> {
  const database = await openStore(place)
  try {
    if ((await database.read(findSecretKey)).keyId === '') throw new RangeError('the database has no key yet: start the service once')
    if (database.directory === null || given !== null) {
      const resealed = await changeKey(database, twoKeys(given))
      // A SQLite database overwrites former values at once.
      const notErased = database.directory === null ? await problemOf(database.eraseDeleted()) : null
      return { resealed, keyFile: null, notErased }
    }
    const { lockRotation } = await import('../store/sqlite/directory-lock.ts')
    const lock = lockRotation(database.directory)
    try {
      const keyFile = keyFilePath(database.directory)
      await addKey(database, keyFile)
      return { resealed: await changeKey(database, keysFromFile(keyFile)), keyFile, notErased: null }
    } finally {
      lock.release()
    }
  } finally {
    await database.close()
  }
}

const problemOf = (work: Promise<void>): Promise<string | null> =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )

async function openStore(place: DatabaseLocation): Promise<Database> {
  if ('dataDirectory' in place) return (await import('../store/sqlite/open-sqlite.ts')).openBesideService(place.dataDirectory)
  const { requirePostgresSchema } = await import('../store/postgres/open-postgres.ts')
  await requirePostgresSchema(place.database)
  return (await import('../store/postgres/open-postgres.ts')).openPostgres({ url: place.database, onError: () => undefined })
}

function twoKeys(given: string | null): KeyRing {
  const keys = given === null ? null : keysFromText(given)
  if (keys?.all().length === 2) return keys
  throw new RangeError(
    'give two keys in ZONEWRIGHT_SECRETS_KEY, separated by a comma: the new one, then the former one; start every process of the service with both first',
  )
}

/** Puts a new key before the one in use, unless an unfinished run, or the operator, has done so. */
async function addKey(database: Database, keyFile: string): Promise<void> {
  const texts = readKeyFile(keyFile)
  if (texts === null) throw new RangeError(`the key file ${keyFile} is missing`)
  const newest = keysFromFile(keyFile).newest().id
  const isUnfinished = await database.read(async (connection) => {
    const { keyId } = await findSecretKey(connection)
    return keyId !== newest || [...(await countSealed(connection)).keys()].some((kind) => kind !== newest)
  })
  if (texts.length === 1 || !isUnfinished) replaceKeyFile(keyFile, [makeKey(), texts[0] as string])
}

async function changeKey(database: Database, keys: KeyRing): Promise<number> {
  const { id } = keys.newest()
  await database.write(async (connection) => {
    const used = await lockKeyId(connection)
    if (keys.find(used) === null) throw new RangeError(`the database is encrypted with another key (${used}) than those given`)
    await setKeyId(connection, id)
  })
  const { resealed } = await resealAll(database, createSecrets(keys))
  const others = [...(await database.read(countSealed))].filter(([kind]) => kind !== id)
  const left = others.reduce((sum, [, count]) => sum + count, 0)
  if (left > 0) throw new RangeError(`${left} secrets cannot be decrypted with the keys given, and stay as they are: keep the former key`)
  return resealed
}
