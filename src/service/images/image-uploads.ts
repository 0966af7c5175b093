/**
 * Receives image data. The data is written to a file and checked while it arrives, so memory stays bounded; the image becomes available when the
 * complete file is on disk. The receiving process holds a claim in the database. If the process ends, the claim expires: its file is deleted and the
 * data can be sent again.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type Quotas, quotaReason } from '../quotas.ts'
import { countImageOctets, lockAccountRow, lockQuota } from '../store/account-store.ts'
import type { Origin } from '../store/audit.ts'
import type { Connection, Database } from '../store/database.ts'
import {
  claimUpload,
  completeUpload,
  findAwaitingAccount,
  findReceivers,
  hashUploadKey,
  releaseAllUploadClaims,
  releaseUploadClaim,
  renewUploadClaim,
  setReservation,
  type UploadClaim,
} from '../store/image-store.ts'
import { NO_WARNING, privateFolder, tightenFile, type WarnAboutMode } from '../store/private-files.ts'
import { highestId } from '../store/rows.ts'
import { formatTimestamp, type Timers } from '../time.ts'
import { checkGzip, GzipProblem } from './gzip-check.ts'

/** Why image data is refused. */
export type UploadRefusal =
  /** There is no such upload, or it is complete or expired. */
  | 'unknown'
  | 'busy'
  | 'too-large'
  | 'inflates'
  | 'no-gzip'
  /** The sender has paused for too long. */
  | 'silent'
  | 'too-many'
  /** The account's image data would exceed its quota. */
  | 'over-quota'
  /** The file system has too little free space. */
  | 'no-room'
  | 'unavailable'

/** An upload is refused; `detail` explains it in words, or is the allowed number of octets. */
export class UploadProblem extends Error {
  override readonly name = 'UploadProblem'
  readonly refusal: UploadRefusal
  readonly detail: string | number | null

  constructor(refusal: UploadRefusal, detail: string | number | null = null) {
    super(detail === null ? refusal : `${refusal}: ${detail}`)
    this.refusal = refusal
    this.detail = detail
  }
}

interface Deadline {
  /** Ends the upload with its reason. */
  readonly signal: AbortSignal
  /** Milliseconds to wait for each chunk. */
  readonly silence: number
}

/** Passes on the arriving chunks. Throws the reason of the signal, or `silent` if no chunk arrives in time. */
export async function* withDeadline(data: AsyncIterable<Buffer>, deadline: Deadline): AsyncGenerator<Buffer> {
  const chunks = data[Symbol.asyncIterator]()
  while (true) {
    const { done, value } = await within(chunks.next(), deadline)
    if (done) return
    yield value
  }
}

/** Awaits a promise with a deadline. It does not use `Promise.race` with a long-lived promise, which would keep every chunk in memory. */
function within<T>(promise: Promise<T>, { signal, silence }: Deadline): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    const timer = setTimeout(() => reject(new UploadProblem('silent')), silence)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    void promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    })
  })
}

/** Octets reserved ahead of the received ones if the length is unknown. */
export const RESERVED_AHEAD = 64 * 1024 ** 2

interface Reservation {
  readonly claim: UploadClaim
  /** Octets that must fit in the quota. */
  readonly required: number
  /** Octets to reserve if they fit. */
  readonly desired: number
  /** Milliseconds of the service's clock. */
  readonly now: number
}

/**
 * Reserves octets of an account's quota for an image, replacing the earlier reservation; returns how many. It locks the account's row, so that
 * concurrent uploads cannot exceed the quota together. Rejects with an `UploadProblem` if they do not fit or the claim has expired.
 */
async function reserveOctets(connection: Connection, quotas: Quotas, { claim, required, desired, now }: Reservation): Promise<number> {
  const limit = await lockQuota(connection, claim.account, 'image_octets', quotas)
  const free = limit === null ? desired : limit - (await countImageOctets(connection, claim.account, now, claim.image))
  if (limit !== null && required > free) throw new UploadProblem('over-quota', quotaReason('image_octets', limit))
  const octets = Math.min(desired, free)
  if (!(await setReservation(connection, claim, octets))) throw new UploadProblem('unknown')
  return octets
}

/**
 * The data of images in a folder, one file per image: `NUMBER-RECEIVER.img.gz`, or `NUMBER-RECEIVER.part` while it arrives. The receiver is a
 * unique name of one upload, so that no two uploads write the same file.
 */
interface ImageFiles {
  /** Creates the file for arriving data. */
  create(image: number, receiver: string): Promise<FileHandle>
  /** Gives complete data its final name and resolves when it is on disk; with false if another process has removed it. */
  commit(image: number, receiver: string): Promise<boolean>
  /** The size of complete data in octets; null if it is not in this folder. */
  size(image: number, receiver: string): Promise<number | null>
  /** Removes incomplete data; does nothing if the data is complete. */
  discard(image: number, receiver: string): Promise<void>
  remove(file: ImageFile): Promise<void>
  /** The free space of the folder's file system, in octets. */
  freeSpace(): Promise<number>
  list(): Promise<readonly ImageFile[]>
}

interface ImageFile {
  readonly name: string
  readonly image: number
  readonly receiver: string
}

/** Opens a folder of image files and creates it if necessary. Removes the access of other users to the folder and its files. */
async function openImageFiles(folder: string, warn: WarnAboutMode = NO_WARNING): Promise<ImageFiles> {
  privateFolder(folder, warn)
  for (const { name } of (await readdir(folder)).sort().flatMap(fileOf)) tightenFile(join(folder, name), warn)
  const fileOfImage = (image: number, receiver: string): string => join(folder, `${image}-${receiver}.img.gz`)
  const partOf = (image: number, receiver: string): string => join(folder, `${image}-${receiver}.part`)
  return {
    create: (image, receiver) => open(partOf(image, receiver), 'wx', 0o600),
    commit: async (image, receiver) => {
      try {
        await rename(partOf(image, receiver), fileOfImage(image, receiver))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
        throw error
      }
      const handle = await open(folder, 'r')
      await handle.sync().finally(() => handle.close())
      return true
    },
    size: async (image, receiver) => {
      try {
        return (await stat(fileOfImage(image, receiver))).size
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
    discard: (image, receiver) => rm(partOf(image, receiver), { force: true }),
    freeSpace: async () => {
      const { bavail, bsize } = await statfs(folder)
      return bavail * bsize
    },
    remove: ({ name }) => rm(join(folder, name), { force: true }),
    list: async () => (await readdir(folder)).flatMap(fileOf),
  }
}

/** Parses a file name; files with other names do not belong to the service and are ignored. */
function fileOf(name: string): ImageFile[] {
  const [, image, receiver] = /^([1-9][0-9]{0,14})-([0-9a-f]{16})\.(?:img\.gz|part)$/.exec(name) ?? []
  return image === undefined || receiver === undefined ? [] : [{ name, image: Number(image), receiver }]
}

export interface ImageUploads {
  /** Whether there is a folder for image data. */
  readonly canReceive: boolean
  /** Receives the data of the upload with this key. `announced` is the length in octets, if known. `origin` is for the audit log. Rejects with an `UploadProblem`. */
  receive(key: string, data: AsyncIterable<Buffer>, announced: number | null, origin: Origin): Promise<void>
  /** Deletes the data of a deleted image. */
  deleteData(image: number): void
  /** Removes the files of processes that ended during an upload, now and periodically. */
  start(): Promise<void>
  /** Aborts running uploads. */
  close(): Promise<void>
}

export interface UploadLimits {
  /** Maximum size of compressed data in octets (API, Images). */
  readonly compressed: number
  /** Maximum size of inflated data in octets. */
  readonly inflated: number
  /** Concurrent uploads per process. */
  readonly concurrent: number
  /** Concurrent uploads per account and process, so that slow senders of one account cannot block all others. */
  readonly concurrentPerAccount: number
  /** Octets that uploads leave free, since the database may be on the same file system. */
  readonly minFreeSpace: number
  /** Milliseconds of real time without data after which the sender is treated as disconnected. */
  readonly silence: number
  /** Milliseconds of real time without renewal after which a claim expires. */
  readonly claim: number
}

const DEFAULT_UPLOAD_LIMITS: UploadLimits = {
  compressed: 5_000_000_000,
  inflated: 100 * 1024 ** 3,
  concurrent: 16,
  concurrentPerAccount: 8,
  minFreeSpace: 512 * 1024 ** 2,
  silence: 60_000,
  claim: 15_000,
}

interface ImageUploadsOptions {
  readonly database: Database
  readonly timers: Timers
  /** The folder for image data; null if images cannot be uploaded. */
  readonly folder: string | null
  readonly limits: Partial<UploadLimits>
  readonly quotas: Quotas
  readonly onError: (error: unknown) => void
  /** Called for each file and folder that other users could read. */
  readonly warn?: WarnAboutMode
}

/** Renewals per lifetime of a claim, and the sweep interval in lifetimes. */
const RENEWALS = 4
const SWEEP_INTERVAL = 4

const MEBIBYTE = 1024 * 1024

/** Octets received between two checks of the free space. */
const CHECK_INTERVAL = 8 * MEBIBYTE

export async function createImageUploads(options: ImageUploadsOptions): Promise<ImageUploads> {
  const { database, timers, quotas, onError } = options
  const limits = { ...DEFAULT_UPLOAD_LIMITS, ...options.limits }
  const files = options.folder === null ? null : await openImageFiles(options.folder, options.warn)
  /** The running uploads with their abort controllers. */
  const running = new Map<UploadClaim, AbortController>()
  const work = new Set<Promise<unknown>>()
  let sweeping: NodeJS.Timeout | undefined
  let closed = false
  const claimEnd = (): number => timers.now() + limits.claim * timers.speed

  const receive: ImageUploads['receive'] = async (key, data, announced, origin) => {
    if (files === null || closed) throw new UploadProblem('unavailable')
    if (announced !== null && announced > limits.compressed) throw new UploadProblem('too-large', limits.compressed)
    if (running.size >= limits.concurrent) throw new UploadProblem('too-many')
    const span = { now: timers.now(), until: claimEnd() }
    const hash = hashUploadKey(key)
    const account = await database.readOne((connection) => findAwaitingAccount(connection, hash, span.now))
    if (account === null) throw new UploadProblem('unknown')
    const receiver = randomBytes(8).toString('hex')
    const [required, desired] = [announced ?? 1, announced ?? RESERVED_AHEAD]
    const { claim, reserved } = await database.write(async (connection) => {
      await lockAccountRow(connection, account)
      // It may have been suspended since.
      const isAwaited = (await findAwaitingAccount(connection, hash, span.now)) !== null
      const claim = isAwaited ? await claimUpload(connection, hash, receiver, span) : null
      if (claim === null || claim === 'busy') return { claim, reserved: 0 }
      return { claim, reserved: await reserveOctets(connection, quotas, { claim, required, desired, now: span.now }) }
    })
    if (claim === null) throw new UploadProblem('unknown')
    if (claim === 'busy') throw new UploadProblem('busy')
    const abort = new AbortController()
    const deadline = timers.schedule(claim.deadline - timers.now(), () => abort.abort(new UploadProblem('unknown')))
    const renewing = setInterval(() => inBackground(renew(claim, abort)), limits.claim / RENEWALS)
    running.set(claim, abort)
    try {
      // Other uploads may have started, or the service may be stopping, since the first check.
      if (closed) throw new UploadProblem('unavailable')
      const sameAccount = [...running.keys()].filter(({ account }) => account === claim.account).length
      if (running.size > limits.concurrent || sameAccount > limits.concurrentPerAccount) throw new UploadProblem('too-many')
      const received = withDeadline(data, { signal: abort.signal, silence: limits.silence })
      await store(files, claim, reserved, received, { ...origin, account })
    } catch (error) {
      running.delete(claim)
      await discard(files, claim)
      throw error
    } finally {
      clearInterval(renewing)
      deadline.cancel()
      running.delete(claim)
    }
  }

  const store = async (
    files: ImageFiles,
    claim: UploadClaim,
    reserved: number,
    data: AsyncIterable<Buffer>,
    origin: Origin,
  ): Promise<void> => {
    const file = await files.create(claim.image, claim.receiver)
    const { octets, inflated } = await write(file, withinQuota(claim, reserved, withFreeSpace(files, data))).finally(() => file.close())
    if (!(await files.commit(claim.image, claim.receiver))) throw new UploadProblem('unknown')
    const size = Math.max(1, Math.ceil(inflated / MEBIBYTE))
    const now = timers.now()
    const done = await database.write(async (connection) => {
      await reserveOctets(connection, quotas, { claim, required: octets, desired: octets, now })
      return completeUpload(connection, claim, size, { now, nowText: formatTimestamp(now) })
    }, origin)
    if (!done) throw new UploadProblem('unknown')
  }

  /** Passes on the data while there is enough free space. */
  async function* withFreeSpace(files: ImageFiles, data: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let untilCheck = 0
    for await (const chunk of data) {
      if (untilCheck <= 0) {
        if ((await files.freeSpace()) < limits.minFreeSpace) throw new UploadProblem('no-room')
        untilCheck = CHECK_INTERVAL
      }
      untilCheck -= chunk.length
      yield chunk
    }
  }

  /** Passes on the data while it fits in the account's quota. */
  async function* withinQuota(claim: UploadClaim, initial: number, data: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let [received, reserved] = [0, initial]
    for await (const chunk of data) {
      received += chunk.length
      if (received > reserved) {
        const reservation = { claim, required: received, desired: received + RESERVED_AHEAD, now: timers.now() }
        reserved = await database.write((connection) => reserveOctets(connection, quotas, reservation))
      }
      yield chunk
    }
  }

  /** Writes and checks the data; resolves with its sizes when it is on disk. */
  const write = async (file: FileHandle, data: AsyncIterable<Buffer>): Promise<{ readonly octets: number; readonly inflated: number }> => {
    const gzip = checkGzip(limits.inflated)
    let received = 0
    try {
      for await (const chunk of data) {
        received += chunk.length
        if (received > limits.compressed) throw new UploadProblem('too-large', limits.compressed)
        await Promise.all([file.writeFile(chunk), gzip.write(chunk)])
      }
      const inflated = await gzip.end()
      await file.sync()
      return { octets: received, inflated }
    } catch (error) {
      if (error instanceof GzipProblem) throw new UploadProblem(error.tooLarge ? 'inflates' : 'no-gzip', error.message)
      throw NO_SPACE.has((error as NodeJS.ErrnoException).code ?? '') ? new UploadProblem('no-room') : error
    } finally {
      gzip.close()
    }
  }

  const renew = async (claim: UploadClaim, abort: AbortController): Promise<void> => {
    try {
      const isHeld = await database.write((connection) => renewUploadClaim(connection, claim, claimEnd()))
      if (!isHeld) abort.abort(new UploadProblem('unknown'))
    } catch (error) {
      // The claim is still valid for a while. If it expires, the upload fails at its end.
      onError(error)
    }
  }

  /** Removes the file of a failed upload, unless the database has it as the image's data: a commit may succeed although its response is lost. */
  const discard = async (files: ImageFiles, claim: UploadClaim): Promise<void> => {
    try {
      // Before using the database, which may need the space that this frees.
      await files.discard(claim.image, claim.receiver)
      await database.write((connection) => releaseUploadClaim(connection, claim))
      await sweep(files, claim.image)
    } catch (error) {
      onError(error)
    }
  }

  /**
   * Removes the files, of one image or all, that are not the data of an image. It spares files with numbers that the database has never assigned, so
   * that a service started with the wrong database does not delete everything.
   */
  const sweep = async (files: ImageFiles, image?: number): Promise<void> => {
    // List the files first: a claim is committed before its file is created.
    const listed = await files.list()
    const last = await database.read((connection) => highestId(connection, 'images'))
    const found = listed.filter((file) => file.image <= last && (image === undefined || file.image === image))
    for (let at = 0; at < found.length; at += SWEEP_BATCH) {
      const part = found.slice(at, at + SWEEP_BATCH)
      const images = [...new Set(part.map((file) => file.image))]
      const receivers = await database.read((connection) => findReceivers(connection, images, timers.now()))
      // Keep the running uploads of this process even if their claims have expired.
      const own = new Set([...running.keys()].map(({ receiver }) => receiver))
      const isOrphan = ({ image, receiver }: ImageFile): boolean => receivers.get(image) !== receiver && !own.has(receiver)
      for (const file of part) if (isOrphan(file)) await files.remove(file)
    }
  }

  const inBackground = (task: Promise<void>): void => {
    const done = task.catch(onError).finally(() => work.delete(done))
    work.add(done)
  }

  return {
    canReceive: files !== null,
    receive: (...upload) => {
      const received = receive(...upload)
      const done: Promise<unknown> = received.catch(() => undefined).finally(() => work.delete(done))
      work.add(done)
      return received
    },
    deleteData: (image) => {
      for (const [claim, abort] of running) if (claim.image === image) abort.abort(new UploadProblem('unknown'))
      if (files !== null) inBackground(sweep(files, image))
    },
    start: async () => {
      if (files === null) return
      if (database.otherProcesses === null) await database.write(releaseAllUploadClaims)
      await sweep(files)
      sweeping = setInterval(() => inBackground(sweep(files)), limits.claim * SWEEP_INTERVAL)
      sweeping.unref()
    },
    close: async () => {
      closed = true
      clearInterval(sweeping)
      for (const abort of running.values()) abort.abort(new UploadProblem('unavailable'))
      while (work.size > 0) await Promise.all(work)
    },
  }
}

/** Error codes of a full file system or disk quota. */
const NO_SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

/** Files per query of a sweep. */
const SWEEP_BATCH = 500
