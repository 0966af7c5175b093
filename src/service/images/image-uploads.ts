/**
 * Receives image data. The data is written to a file and checked while it arrives, so memory stays bounded; the image becomes available when the
 * complete file is on disk. The receiving process holds a claim in the database. If the process ends, the claim expires: its file is deleted and the
 * data can be sent again.
 */
import { randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Quotas } from '../quotas.ts'
import { lockAccountRow } from '../store/account-store.ts'
import type { Database } from '../store/database.ts'
import type { WarnAboutMode } from '../store/private-files.ts'
import { highestId } from '../store/row-id.ts'
import {
  claimUpload,
  completeUpload,
  findAwaitingAccount,
  findReceivers,
  hashUploadKey,
  releaseAllUploadClaims,
  releaseUploadClaim,
  renewUploadClaim,
  type UploadClaim,
} from '../store/upload-store.ts'
import type { Timers } from '../timers.ts'
import { formatTimestamp } from '../timestamp.ts'
import { checkGzip, GzipProblem } from './gzip-check.ts'
import { type ImageFile, type ImageFiles, openImageFiles } from './image-files.ts'
import { RESERVED_AHEAD, reserveOctets, UploadProblem, withDeadline } from './upload-limits.ts'

export interface ImageUploads {
  /** Whether there is a folder for image data. */
  readonly canReceive: boolean
  /** Receives the data of the upload with this key. `announced` is the length in octets, if known. Rejects with an `UploadProblem`. */
  receive(key: string, data: AsyncIterable<Buffer>, announced: number | null): Promise<void>
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

export const DEFAULT_UPLOAD_LIMITS: UploadLimits = {
  compressed: 5_000_000_000,
  inflated: 100 * 1024 ** 3,
  concurrent: 16,
  concurrentPerAccount: 8,
  minFreeSpace: 512 * 1024 ** 2,
  silence: 60_000,
  claim: 15_000,
}

export interface ImageUploadsOptions {
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

  const receive: ImageUploads['receive'] = async (key, data, announced) => {
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
      const claim = await claimUpload(connection, hash, receiver, span)
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
      await store(files, claim, reserved, withDeadline(data, { signal: abort.signal, silence: limits.silence }))
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

  const store = async (files: ImageFiles, claim: UploadClaim, reserved: number, data: AsyncIterable<Buffer>): Promise<void> => {
    const file = await files.create(claim.image, claim.receiver)
    const { octets, inflated } = await write(file, withinQuota(claim, reserved, withFreeSpace(files, data))).finally(() => file.close())
    if (!(await files.commit(claim.image, claim.receiver))) throw new UploadProblem('unknown')
    const size = Math.max(1, Math.ceil(inflated / MEBIBYTE))
    const now = timers.now()
    const done = await database.write(async (connection) => {
      await reserveOctets(connection, quotas, { claim, required: octets, desired: octets, now })
      return completeUpload(connection, claim, size, { now, nowText: formatTimestamp(now) })
    })
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
