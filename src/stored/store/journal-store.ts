/**
 * The store of a journal: small named texts that many processes and machines read and replace. Every object has a version, and a write can state which version
 * it replaces, so that of two writers who read the same version one succeeds.
 */
import { createHash } from 'node:crypto'
import type { LoadedSecrets } from '../../base/secret-guard.ts'

/** What a store needs of its process: variables, and the secrets that it must not write. */
export interface StoreEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secrets: LoadedSecrets
}

export interface StoredObject {
  readonly text: string
  /** Differs for every text of the name; equal texts may have equal versions. */
  readonly version: string
  /** When it was written, in milliseconds since 1970 by the clock of the store. */
  readonly modified: number
}

export interface ListedObject extends Omit<StoredObject, 'text'> {
  readonly name: string
}

/** The version that an object must have: null if it must not exist. */
export type ExpectedVersion = string | null | 'any'

export type Written = { readonly state: 'written'; readonly version: string } | { readonly state: 'conflict' }

/** All methods throw `StoreError`. Names have parts of `[A-Za-z0-9._@-]`, separated by slashes; `storeName` makes one of any text. */
export interface JournalStore {
  /** The folder or URL for messages. */
  readonly address: string
  /** Whether other machines are known to use it: the config names it by a URL. */
  readonly isShared: boolean
  /** The requests sent so far; 0 for a folder. */
  readonly requests: number
  /** Null if the object does not exist. */
  read(name: string): Promise<StoredObject | null>
  /** The objects whose name begins with `prefix`, which ends with a slash; sorted by name. */
  list(prefix: string): Promise<readonly ListedObject[]>
  /** Writes an object if it has the expected version. A write whose response is lost is judged by a read. */
  write(name: string, text: string, expected: ExpectedVersion): Promise<Written>
  /** Removes an object if it has the expected version. An object that does not exist is removed. */
  remove(name: string, expected: string | 'any'): Promise<'removed' | 'conflict'>
  /** The time by the clock that `modified` is from, in milliseconds since 1970. */
  clock(): Promise<number>
  close(): Promise<void>
}

/** A store that cannot be read or written. */
export class StoreError extends Error {
  readonly hint: string | undefined
  constructor(message: string, options: { readonly hint?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'StoreError'
    this.hint = options.hint
  }
}

/** Maximum octets of an object: those of a saved plan, and its JSON syntax. */
export const MAX_OBJECT_OCTETS = 80 * 1024 * 1024

/** Maximum objects of one listing. */
export const MAX_LISTED_OBJECTS = 200_000

const PART = /^[A-Za-z0-9_-][A-Za-z0-9._@-]*$/

/** Whether the store takes such a name. */
export const isStoreName = (name: string): boolean => name.length <= 400 && name.split('/').every((part) => PART.test(part))

/** A name for a subject of any text in a folder: readable, and different for every subject. */
export function storeName(folder: string, ...subject: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(subject)).digest('hex').slice(0, 16)
  const readable = subject
    .join('@')
    .replace(/[^a-z0-9.@_-]/g, '_')
    .replace(/^\./, '_')
    .slice(0, 100)
  return `${folder}/${readable}-${hash}`
}

/** Throws for a name that is not one of ours: a bug. */
export function assertStoreName(name: string): void {
  if (!isStoreName(name)) throw new Error(`no name of a stored object: ${JSON.stringify(name)}`)
}
