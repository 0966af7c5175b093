/**
 * A store in a folder. Version 7 of the object `leases/RUN` is the file `leases/RUN.7`; the highest version is the object. A version is written under a temporary
 * name and linked to its own, which fails if another process has made that version. So one of many writers succeeds, and no process reads a part of a text, also
 * on a file system that several machines share.
 *
 * A writer removes all but the latest versions. One that was suspended before its link may link a version that was removed since: it sees that the version before
 * is gone, and takes its own back. Readers take the highest version, so they never see it.
 */
import type { BigIntStats } from 'node:fs'
import { link, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { lacksHardLinks } from '../../files/file-error.ts'
import { makeFolder } from '../../files/make-folder.ts'
import { describeReadError } from '../../files/read-text.ts'
import { removeDeadTemporaries, syncFolder, temporaryName, writeTemporary } from '../../files/temporary-file.ts'
import { writeProblemText } from '../../files/write-problem.ts'
import {
  assertStoreName,
  type ExpectedVersion,
  isStoreName,
  type JournalStore,
  type ListedObject,
  MAX_LISTED_OBJECTS,
  MAX_OBJECT_OCTETS,
  type StoredObject,
  StoreError,
  type Written,
} from './journal-store.ts'

/** Versions of an object that are kept. */
const KEPT = 4

/** Milliseconds after which the last version of a removed object is removed. */
const REMOVED_FOR = 86_400_000

/** The text of the last version of a removed object. Objects are JSON. */
const REMOVED = 'removed'

/** Attempts to read or write an object that others write. */
const ATTEMPTS = 100

interface Version {
  readonly number: number
  readonly path: string
}

export function folderStore(folder: string, isShared: boolean): JournalStore {
  const guarded = async <T>(verb: 'read' | 'written', work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof StoreError || (error as NodeJS.ErrnoException).code === undefined) throw error
      const why = verb === 'read' ? describeReadError(error) : writeProblemText(error)
      throw new StoreError(`the journal in ${folder} cannot be ${verb}: ${why}`, {
        hint: '"journal" in the config names another folder',
        cause: error,
      })
    }
  }
  return {
    address: folder,
    isShared,
    requests: 0,
    read: (name) => guarded('read', () => readLatest(pathOf(folder, name))),
    list: (prefix) => guarded('read', () => listObjects(folder, prefix)),
    write: (name, text, expected) => guarded('written', () => writeVersion(pathOf(folder, name), text, expected)),
    remove: (name, expected) =>
      guarded('written', () => {
        // Those of the fences and of the clock, which are never removed as objects.
        removeDeadTemporaries(folder)
        return removeObject(pathOf(folder, name), expected)
      }),
    // Who may only read has the clock of this machine.
    clock: () => clockOf(folder).catch(() => Date.now()),
    close: async () => undefined,
  }
}

function pathOf(folder: string, name: string): string {
  assertStoreName(name)
  return join(folder, name)
}

/** The number at the end of a file's name. */
const VERSION = /^(.+)\.([1-9][0-9]{0,14})$/

/** The versions of an object, the highest first. */
async function versionsOf(path: string): Promise<Version[]> {
  const [folder, name] = [dirname(path), basename(path)]
  return (await namesIn(folder))
    .flatMap((file): Version[] => {
      const [, object, number] = VERSION.exec(file) ?? []
      return object === name ? [{ number: Number(number), path: join(folder, file) }] : []
    })
    .sort((a, b) => b.number - a.number)
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The highest version of an object; null if there is none. `text` is null for the last version of a removed object. */
interface Latest {
  readonly number: number
  readonly text: string | null
  readonly version: string
  readonly modified: number
}

async function latestOf(path: string): Promise<Latest | null> {
  for (let attempt = 1; ; attempt += 1) {
    const [latest] = await versionsOf(path)
    if (latest === undefined) return null
    const read = await readVersion(latest)
    if (read !== null) return read
    if (attempt === ATTEMPTS) throw new StoreError(`${latest.path} is incomplete`, { hint: 'remove the file' })
    // Others have written many versions since, or a file system without links is still writing this one.
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Null if it was removed meanwhile, or is incomplete. */
async function readVersion({ number, path }: Version): Promise<Latest | null> {
  try {
    const facts = await stat(path, { bigint: true })
    if (!facts.isFile() || facts.size > MAX_OBJECT_OCTETS) throw new StoreError(`${path} is no object of a journal`, { hint: 'remove it' })
    const octets = await readFile(path, 'utf8')
    if (!octets.endsWith('\n')) return null
    const text = octets.slice(0, -1)
    return { number, text: text === REMOVED ? null : text, version: versionText(number, facts), modified: Number(facts.mtimeMs) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The number alone would return when an object is created again long after its removal. */
const versionText = (number: number, { mtimeNs }: BigIntStats): string => `${number}-${mtimeNs.toString(36)}`

async function readLatest(path: string): Promise<StoredObject | null> {
  const latest = await latestOf(path)
  if (latest === null || latest.text === null) return null
  const { text, version, modified } = latest
  return { text, version, modified }
}

async function listObjects(folder: string, prefix: string): Promise<ListedObject[]> {
  assertStoreName(prefix.replace(/\/$/, ''))
  const names = new Set<string>()
  const collect = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    for (const entry of entries) {
      if (entry.isDirectory()) await collect(`${below}${entry.name}/`)
      const [, object] = VERSION.exec(entry.name) ?? []
      if (object !== undefined && isStoreName(below + object) && entry.isFile()) names.add(below + object)
      if (names.size > MAX_LISTED_OBJECTS) throw new StoreError(`${join(folder, prefix)} has more than ${MAX_LISTED_OBJECTS} objects`)
    }
  }
  await collect(prefix)
  const listed: ListedObject[] = []
  for (const name of [...names].sort()) {
    const found = await readLatest(join(folder, name))
    if (found !== null) listed.push({ name, version: found.version, modified: found.modified })
  }
  return listed
}

async function writeVersion(path: string, text: string, expected: ExpectedVersion): Promise<Written> {
  makeFolder(dirname(path), 0o700)
  const temporary = temporaryName(path)
  await writeTemporary(temporary, `${text}\n`, 0o600)
  try {
    const written = await linkNext(temporary, path, expected)
    if (written === null) return { state: 'conflict' }
    await syncFolder(dirname(path))
    await removeOld(path, written.number)
    return { state: 'written', version: versionText(written.number, written.facts) }
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Links a file to the next version of an object. Null if the object has not the expected version. */
async function linkNext(
  temporary: string,
  path: string,
  expected: ExpectedVersion,
): Promise<{ readonly number: number; readonly facts: BigIntStats } | null> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const latest = await latestOf(path)
    const version = latest === null || latest.text === null ? null : latest.version
    if (expected !== 'any' && version !== expected) return null
    const number = (latest?.number ?? 0) + 1
    const own = `${path}.${number}`
    if (!(await linkNew(temporary, own))) continue
    if (await isNext(path, number)) return { number, facts: await stat(temporary, { bigint: true }) }
    await rm(own, { force: true })
  }
  throw new StoreError(`${path} is written by others all the time`)
}

/** Whether a version was linked when the one before was the latest, and not after its removal. */
async function isNext(path: string, number: number): Promise<boolean> {
  const versions = await versionsOf(path)
  const highest = versions[0]?.number ?? number
  return number === 1 ? highest < number + KEPT : versions.some((version) => version.number === number - 1)
}

/** False if the name is taken. */
async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    if (!lacksHardLinks(error)) throw error
  }
  try {
    const file = await open(to, 'wx', 0o600)
    try {
      await file.writeFile(await readFile(from))
      await file.sync()
      const { atime, mtime } = await stat(from)
      await file.utimes(atime, mtime)
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function removeOld(path: string, latest: number): Promise<void> {
  for (const { number, path: file } of await versionsOf(path)) if (number <= latest - KEPT) await rm(file, { force: true })
}

async function removeObject(path: string, expected: string | 'any'): Promise<'removed' | 'conflict'> {
  const latest = await latestOf(path)
  if (latest === null || latest.text === null) return 'removed'
  if (expected === 'any') {
    // The highest version goes last: until then it is the object.
    for (const version of (await versionsOf(path)).toReversed()) await rm(version.path, { force: true })
  } else {
    if (latest.version !== expected) return 'conflict'
    const written = await writeVersion(path, REMOVED, latest.version)
    if (written.state === 'conflict') return 'conflict'
  }
  await removeGone(dirname(path))
  return 'removed'
}

/** Removes what is left of objects that were removed long ago, and of killed processes. */
async function removeGone(folder: string): Promise<void> {
  removeDeadTemporaries(folder)
  const names = new Set((await namesIn(folder)).flatMap((file) => VERSION.exec(file)?.[1] ?? []))
  for (const name of names) {
    const versions = await versionsOf(join(folder, name))
    const [latest] = versions
    if (latest === undefined) continue
    const facts = await stat(latest.path).catch(() => null)
    if (facts === null || facts.size !== REMOVED.length + 1 || Date.now() - facts.mtimeMs < REMOVED_FOR) continue
    if ((await readVersion(latest))?.text !== null) continue
    for (const { path } of versions.toReversed()) await rm(path, { force: true })
  }
}

/** The clock of the file system, which may be that of another machine: the time of a file that is written. */
async function clockOf(folder: string): Promise<number> {
  makeFolder(folder, 0o700)
  const path = temporaryName(join(folder, 'clock'))
  await writeTemporary(path, '', 0o600)
  try {
    return (await stat(path)).mtimeMs
  } finally {
    await rm(path, { force: true })
  }
}
