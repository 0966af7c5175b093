/** The key of the secrets at a start: finds or makes it, and encrypts what earlier versions stored in clear. */
import { existsSync } from 'node:fs'
import type { Log } from '../observability/log.ts'
import type { Database } from '../store/database.ts'
import { tightenFile, type WarnAboutMode } from '../store/private-files.ts'
import { countSealed, resealAll, tryUnnamedValue } from '../store/sealed-values.ts'
import { createSecretKeyRow, findSecretKey, lockKeyId, setErased, setKeyId } from '../store/secret-key-store.ts'
import { keyFilePath, makeKeyFile, removeUnfinishedKeys } from './key-file.ts'
import { createSecrets, type KeyRing, keysFromFile, keysFromText, SealedValueError, type Secrets } from './secrets.ts'

export interface SecretsToPrepare {
  readonly database: Database
  /** `ZONEWRIGHT_SECRETS_KEY`: one key, or two with the new one first; null for the file beside the database. */
  readonly given: string | null
  readonly log: Log
}

/** Of a process that serves no HTTP and has no key: it never asks for a secret. */
export const NO_SECRETS: Secrets = {
  seal: () => Promise.reject(new Error('this process has no key for secrets')),
  open: () => {
    throw new Error('this process has no key for secrets')
  },
}

/** Rejects with a `RangeError` if the key is missing, or is not the one that the database is encrypted with. */
export async function prepareSecrets({ database, given, log }: SecretsToPrepare): Promise<Secrets> {
  const keys = await findKeys(database, given, log.warn)
  const secrets = createSecrets(keys)
  await agreeOnKey(database, keys, secrets)
  const { resealed, left } = await resealAll(database, secrets)
  if (resealed > 0) log.info({ secrets: resealed }, 'secrets are encrypted with the key in use now')
  await refuseMissingKeys(database, keys)
  if (left > 0) log.error({ secrets: left }, 'secrets cannot be decrypted')
  await eraseOnce(database, log)
  return secrets
}

/** Where the keys come from. Makes the key file if nothing is encrypted yet. */
async function findKeys(database: Database, given: string | null, warn: WarnAboutMode): Promise<KeyRing> {
  if (given !== null) return keysFromText(given)
  if (database.directory === null) {
    throw new RangeError(
      'with PostgreSQL the key of the secrets must be in ZONEWRIGHT_SECRETS_KEY, the same for all processes: make one with "openssl rand -base64 32"',
    )
  }
  const path = keyFilePath(database.directory)
  removeUnfinishedKeys(path)
  if (!existsSync(path)) {
    const sealed = await database.read(countSealed)
    if ([...sealed.keys()].some((kind) => kind !== 'plain')) {
      throw new RangeError(
        `secrets in the database are encrypted, and their key is missing: put the key file back to ${path}, or give the key in ZONEWRIGHT_SECRETS_KEY`,
      )
    }
    makeKeyFile(path)
  }
  tightenFile(path, warn)
  return keysFromFile(path)
}

/** Says in the database which key is in use, unless it says so already. A key that nothing is encrypted with may be lost, where nobody else can have it. */
async function agreeOnKey(database: Database, keys: KeyRing, secrets: Secrets): Promise<void> {
  await database.write(async (connection) => {
    await createSecretKeyRow(connection)
    const keyId = await lockKeyId(connection)
    if (keyId !== '' && keys.find(keyId) !== null) return
    const sealed = await countSealed(connection)
    const isUsed = [...sealed.keys()].some((kind) => kind !== 'plain')
    if (keyId !== '' && (isUsed || database.otherProcesses !== null)) throw anotherKey(keyId)
    for (const kind of sealed.keys()) if (kind !== null && kind !== 'plain' && keys.find(kind) === null) throw anotherKey(kind)
    try {
      await tryUnnamedValue(connection, secrets)
    } catch (error) {
      throw error instanceof SealedValueError ? anotherKey(null) : error
    }
    await setKeyId(connection, keys.newest().id)
  })
}

const anotherKey = (id: string | null): RangeError =>
  new RangeError(
    `secrets in the database are encrypted with another key${id === null ? '' : ` (${id})`} than the one given; during a change of the key give both, the new one first`,
  )

/** Better at the start than when somebody asks for one. */
async function refuseMissingKeys(database: Database, keys: KeyRing): Promise<void> {
  for (const [kind, count] of await database.read(countSealed)) {
    if (kind === null || kind === 'plain' || keys.find(kind) !== null) continue
    throw new RangeError(
      `${count} secrets in the database are encrypted with a key that is not given (${kind}): give it as the second one, and run "zonewright serve rotate-key"`,
    )
  }
}

/** What earlier versions stored in clear is still in free pages of the files, until they are written anew. */
async function eraseOnce(database: Database, log: Log): Promise<void> {
  if ((await database.read(findSecretKey)).erased) return
  try {
    await database.eraseDeleted()
    await database.write(setErased)
  } catch (error) {
    log.warn({ error }, 'secrets that were stored in clear could not be erased from the files of the database: the next start tries again')
  }
}
