/**
 * Receives the data of images. It goes to a file as it arrives and is inflated at the same time to be checked, so that memory is bounded;
 * the image is available when the disk has the whole. Who receives holds a claim in the database, which all processes see and which ends by
 * itself if its holder does: what that left behind is swept up, and the data can be sent anew.
 */
import { randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Quotas } from '../quotas.ts'
import { lockAccountRow } from '../store/account-store.ts'
import type { Database } from '../store/database.ts'
import type { WarnAboutMode } from '../store/private-files.ts'
import { lastNumber } from '../store/row-number.ts'
import {
  claimUpload,
  completeUpload,
  findAwaitingAccount,
  findReceivers,
  findUncounted,
  hashUploadKey,
  releaseAllUploadClaims,
  releaseUploadClaim,
  renewUploadClaim,
  setOctets,
  type UploadClaim,
} from '../store/upload-store.ts'
import type { Timers } from '../timers.ts'
import { formatTimestamp } from '../timestamp.ts'
import { checkGzip, GzipProblem } from './gzip-check.ts'
import { type ImageFile, type ImageFiles, openImageFiles } from './image-files.ts'
import { RESERVED_AHEAD, reserveOctets, UploadProblem, withDeadline } from './upload-limits.ts'

export interface ImageUploads {
  /** Whether there is a folder for the data of images. */
  readonly canReceive: boolean
  /** Receives the data that a key is for. `announced` is how many octets are to come, as far as it is known. Rejects with an `UploadProblem`. */
  receive(key: string, data: AsyncIterable<Buffer>, announced: number | null): Promise<void>
  /** To be called when an image has been deleted: its data goes too. */
  deleteData(image: number): void
  /** Removes what a process left behind that ended. */
  start(): Promise<void>
  /** Gives up what is arriving. */
  close(): Promise<void>
}

export interface UploadLimits {
  /** Octets of the data as it is sent (interface, Images). */
  readonly compressed: number
  /** Octets of what it inflates to. */
  readonly inflated: number
  /** Uploads that are received at a time by one process. */
  readonly atATime: number
  /** Those of them that one account has: nobody keeps out all others by sending slowly. */
  readonly ofAccount: number
  /** Octets of space that uploads leave: the database may be kept in the same place. */
  readonly spared: number
  /** Milliseconds of real time without any data after which the sender is taken to be gone. */
  readonly silence: number
  /** Milliseconds of real time after which a process that receives, and shows no sign of life, is taken to have ended. */
  readonly claim: number
}

export const DEFAULT_UPLOAD_LIMITS: UploadLimits = {
  compressed: 5_000_000_000,
  inflated: 100 * 1024 ** 3,
  atATime: 16,
  ofAccount: 8,
  spared: 512 * 1024 ** 2,
  silence: 60_000,
  claim: 15_000,
}

export interface ImageUploadsOptions {
  readonly database: Database
  readonly timers: Timers
  /** Where the data of images is kept; null for nowhere. */
  readonly directory: string | null
  readonly limits: Partial<UploadLimits>
  readonly quotas: Quotas
  readonly onError: (error: unknown) => void
  /** Called for each file and folder that others could read. */
  readonly warn?: WarnAboutMode
}

/** How often in its time a claim is renewed, and after how many such times there is a look for what was left behind. */
const RENEWALS = 4
const SWEEP_AFTER = 4

const MEBIBYTE = 1024 * 1024

/** Octets that are received between two looks at the space there is. */
const UNMEASURED = 8 * MEBIBYTE

export async function createImageUploads(options: ImageUploadsOptions): Promise<ImageUploads> {
  const { database, timers, quotas, onError } = options
  const limits = { ...DEFAULT_UPLOAD_LIMITS, ...options.limits }
  const files = options.directory === null ? null : await openImageFiles(options.directory, options.warn)
  /** What is arriving, and how to give it up. */
  const arriving = new Map<UploadClaim, AbortController>()
  const work = new Set<Promise<unknown>>()
  let sweeping: NodeJS.Timeout | undefined
  let closed = false
  const claimEnd = (): number => timers.now() + limits.claim * timers.speed

  const receive: ImageUploads['receive'] = async (key, data, announced) => {
    if (files === null || closed) throw new UploadProblem('unavailable')
    if (announced !== null && announced > limits.compressed) throw new UploadProblem('too-large', limits.compressed)
    if (arriving.size >= limits.atATime) throw new UploadProblem('too-many')
    const span = { now: timers.now(), until: claimEnd() }
    const hash = hashUploadKey(key)
    const account = await database.readOne((connection) => findAwaitingAccount(connection, hash, span.now))
    if (account === null) throw new UploadProblem('unknown')
    const receiver = randomBytes(8).toString('hex')
    const [least, most] = [announced ?? 1, announced ?? RESERVED_AHEAD]
    const { claim, reserved } = await database.write(async (connection) => {
      await lockAccountRow(connection, account)
      const claim = await claimUpload(connection, hash, receiver, span)
      if (claim === null || claim === 'busy') return { claim, reserved: 0 }
      return { claim, reserved: await reserveOctets(connection, quotas, { claim, least, most, now: span.now }) }
    })
    if (claim === null) throw new UploadProblem('unknown')
    if (claim === 'busy') throw new UploadProblem('busy')
    const abort = new AbortController()
    const deadline = timers.schedule(claim.deadline - timers.now(), () => abort.abort(new UploadProblem('unknown')))
    const renewing = setInterval(() => inBackground(renew(claim, abort)), limits.claim / RENEWALS)
    arriving.set(claim, abort)
    try {
      // Others may have come, or the end, while this one was claimed.
      if (closed) throw new UploadProblem('unavailable')
      const ofAccount = [...arriving.keys()].filter(({ account }) => account === claim.account).length
      if (arriving.size > limits.atATime || ofAccount > limits.ofAccount) throw new UploadProblem('too-many')
      await store(files, claim, reserved, withDeadline(data, { signal: abort.signal, silence: limits.silence }))
    } catch (error) {
      arriving.delete(claim)
      await giveUp(files, claim)
      throw error
    } finally {
      clearInterval(renewing)
      deadline.cancel()
      arriving.delete(claim)
    }
  }

  const store = async (files: ImageFiles, claim: UploadClaim, reserved: number, data: AsyncIterable<Buffer>): Promise<void> => {
    const file = await files.create(claim.image, claim.receiver)
    const { octets, inflated } = await write(file, withinQuota(claim, reserved, withRoom(files, data))).finally(() => file.close())
    if (!(await files.commit(claim.image, claim.receiver))) throw new UploadProblem('unknown')
    const size = Math.max(1, Math.ceil(inflated / MEBIBYTE))
    const now = timers.now()
    const done = await database.write(async (connection) => {
      await reserveOctets(connection, quotas, { claim, least: octets, most: octets, now })
      return completeUpload(connection, claim, size, { now, nowText: formatTimestamp(now) })
    })
    if (!done) throw new UploadProblem('unknown')
  }

  /** What arrives, as long as there is space for it. */
  async function* withRoom(files: ImageFiles, data: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let measured = 0
    for await (const piece of data) {
      if (measured <= 0) {
        if ((await files.freeSpace()) < limits.spared) throw new UploadProblem('no-room')
        measured = UNMEASURED
      }
      measured -= piece.length
      yield piece
    }
  }

  /** What arrives, as long as the account's quota has room for it. */
  async function* withinQuota(claim: UploadClaim, atFirst: number, data: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let [received, reserved] = [0, atFirst]
    for await (const piece of data) {
      received += piece.length
      if (received > reserved) {
        const wanted = { claim, least: received, most: received + RESERVED_AHEAD, now: timers.now() }
        reserved = await database.write((connection) => reserveOctets(connection, quotas, wanted))
      }
      yield piece
    }
  }

  /** Resolves with its octets, and those it inflates to, when the disk has it. */
  const write = async (file: FileHandle, data: AsyncIterable<Buffer>): Promise<{ readonly octets: number; readonly inflated: number }> => {
    const gzip = checkGzip(limits.inflated)
    let received = 0
    try {
      for await (const piece of data) {
        received += piece.length
        if (received > limits.compressed) throw new UploadProblem('too-large', limits.compressed)
        await Promise.all([file.writeFile(piece), gzip.write(piece)])
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
      const held = await database.write((connection) => renewUploadClaim(connection, claim, claimEnd()))
      if (!held) abort.abort(new UploadProblem('unknown'))
    } catch (error) {
      // The claim lasts a while yet; once it is lost, the end of the upload says so.
      onError(error)
    }
  }

  /** Removes what has arrived unless the database has it as the image's data: a commit may have been made whose answer was lost. */
  const giveUp = async (files: ImageFiles, claim: UploadClaim): Promise<void> => {
    try {
      // Before the database is asked: it may lack the very space that this takes.
      await files.discard(claim.image, claim.receiver)
      await database.write((connection) => releaseUploadClaim(connection, claim))
      await sweep(files, claim.image)
    } catch (error) {
      onError(error)
    }
  }

  /**
   * Removes files that are no image's data, of one image or of all. Those of numbers that the database has never given are another's: one that
   * is started on the wrong database must not lose all.
   */
  const sweep = async (files: ImageFiles, image?: number): Promise<void> => {
    // Files first: a claim is in the database before its file is made.
    const listed = await files.list()
    const last = await database.read((connection) => lastNumber(connection, 'images'))
    const found = listed.filter((file) => file.image <= last && (image === undefined || file.image === image))
    for (let at = 0; at < found.length; at += SWEPT) {
      const part = found.slice(at, at + SWEPT)
      const images = [...new Set(part.map((file) => file.image))]
      const receivers = await database.read((connection) => findReceivers(connection, images, timers.now()))
      // What arrives here stays, though its claim could not be renewed for a while.
      const here = new Set([...arriving.keys()].map(({ receiver }) => receiver))
      const isLeft = ({ image, receiver }: ImageFile): boolean => receivers.get(image) !== receiver && !here.has(receiver)
      for (const file of part) if (isLeft(file)) await files.remove(file)
    }
  }

  /** Counts the octets of data that a version received which did not count them. */
  const countFormer = async (files: ImageFiles): Promise<void> => {
    for (const { image, receiver } of await database.read(findUncounted)) {
      const octets = await files.size(image, receiver)
      if (octets !== null) await database.write((connection) => setOctets(connection, image, octets))
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
      const settled: Promise<unknown> = received.catch(() => undefined).finally(() => work.delete(settled))
      work.add(settled)
      return received
    },
    deleteData: (image) => {
      for (const [claim, abort] of arriving) if (claim.image === image) abort.abort(new UploadProblem('unknown'))
      if (files !== null) inBackground(sweep(files, image))
    },
    start: async () => {
      if (files === null) return
      if (database.otherProcesses === null) await database.write(releaseAllUploadClaims)
      await sweep(files)
      await countFormer(files)
      sweeping = setInterval(() => inBackground(sweep(files)), limits.claim * SWEEP_AFTER)
      sweeping.unref()
    },
    close: async () => {
      closed = true
      clearInterval(sweeping)
      for (const abort of arriving.values()) abort.abort(new UploadProblem('unavailable'))
      while (work.size > 0) await Promise.all(work)
    },
  }
}

/** Of a file system that is full, or a quota that is. */
const NO_SPACE: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

/** Files that the database is asked about at a time. */
const SWEPT = 500
