/**
 * Rotates the key of the secrets while the service runs. Running processes have both keys, or read the key file again when they meet an unknown key. The
 * steps are ordered so that the command can be killed at any time and run again:
 *
 * 1. Add the new key to the key file, before the old one. (With keys from the environment, every process has been started with both.)
 * 2. Make the new key the current one in a transaction. It waits for all transactions that encrypt; later ones use the new key.
 * 3. Re-encrypt everything else, a few users at a time.
 *
 * The old key stays in the file because earlier backups need it. The next rotation drops it.
 */
import type { DatabaseLocation } from '../backup.ts'
import type { Database } from '../store/database.ts'
import { countSealed, resealAll } from '../store/sealed-values.ts'
import { keyFilePath, makeKey, readKeyFile, replaceKeyFile } from './key-file.ts'
import { createSecrets, findKeyId, type KeyRing, keysFromFile, keysFromText, lockKeyId, setKeyId } from './secrets.ts'

export interface RotatedKey {
  /** The number of secrets that this run re-encrypted. */
  readonly resealed: number
  /** The key file, with the new key and then the old one; null if the keys were given. */
  readonly keyFile: string | null
  /** Why secrets encrypted with the old key may remain in free space of the tables; null if they are erased. */
  readonly notErased: string | null
}

/** `given` has two keys, the new one first; null for the key file beside a SQLite database. Rejects with a message for the operator. */
export async function rotateKey(location: DatabaseLocation, given: string | null): Promise<RotatedKey> {
  const database = await openStore(location)
  try {
    if ((await database.read(findKeyId)) === '') throw new RangeError('the database has no key yet: start the service first')
    if (database.folder === null || given !== null) {
      const resealed = await changeKey(database, twoKeys(given))
      const notErased = database.eraseDeleted === null ? null : await errorOf(database.eraseDeleted())
      return { resealed, keyFile: null, notErased }
    }
    const { lockRotation } = await import('../store/sqlite/open-sqlite.ts')
    const lock = lockRotation(database.folder)
    try {
      const keyFile = keyFilePath(database.folder)
      await addKey(database, keyFile)
      return { resealed: await changeKey(database, keysFromFile(keyFile)), keyFile, notErased: null }
    } finally {
      lock.release()
    }
  } finally {
    await database.close()
  }
}

const errorOf = (work: Promise<void>): Promise<string | null> =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )

/** Opens an existing database of the current schema, while services may run on it. */
export async function openStore(location: DatabaseLocation): Promise<Database> {
  if ('dataFolder' in location) return (await import('../store/sqlite/open-sqlite.ts')).openBesideService(location.dataFolder)
  const { requirePostgresSchema } = await import('../store/postgres/open-postgres.ts')
  await requirePostgresSchema(location.database)
  return (await import('../store/postgres/open-postgres.ts')).openPostgres({ url: location.database, onError: () => undefined })
}

function twoKeys(given: string | null): KeyRing {
  const keys = given === null ? null : keysFromText(given)
  if (keys?.all().length === 2) return keys
  throw new RangeError(
    'set ZONEWRIGHT_SECRETS_KEY to two keys, the new one, a comma, then the old one; start every process of the service with both first',
  )
}

/** Adds a new key before the current one, unless an unfinished run or the operator has done so. */
async function addKey(database: Database, keyFile: string): Promise<void> {
  const texts = readKeyFile(keyFile)
  if (texts === null) throw new RangeError(`the key file ${keyFile} is missing`)
  const newest = keysFromFile(keyFile).newest().id
  const isUnfinished = await database.read(async (connection) => {
    return (await findKeyId(connection)) !== newest || [...(await countSealed(connection)).keys()].some((id) => id !== newest)
  })
  if (texts.length === 1 || !isUnfinished) replaceKeyFile(keyFile, [makeKey(), texts[0] as string])
}

async function changeKey(database: Database, keys: KeyRing): Promise<number> {
  const { id } = keys.newest()
  await database.write(async (connection) => {
    const used = await lockKeyId(connection)
    if (keys.find(used) === null) throw new RangeError(`the database is encrypted with another key (${used})`)
    await setKeyId(connection, id)
  })
  const { resealed } = await resealAll(database, createSecrets(keys))
  const others = [...(await database.read(countSealed))].filter(([used]) => used !== id)
  const left = others.reduce((sum, [, count]) => sum + count, 0)
  if (left > 0) throw new RangeError(`${left} secrets cannot be decrypted with these keys and are unchanged: keep the old key`)
  return resealed
}
