import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { describeReadError } from '../../definition/files/read-text.ts'
import { failure, ok, type Result } from '../../dns/result.ts'

/** Octets a plan file may have: changes of some 400,000 records. */
export const MAX_PLAN_OCTETS = 64 * 1024 * 1024

/** Opening a named pipe must not wait for somebody to write into it. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** The text of a plan file. One that is too large is not read; one that grows while it is read is not read on. */
export async function readPlanText(path: string): Promise<Result<string>> {
  try {
    const handle = await open(path, READ)
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) return failure('is not a file')
      if (facts.size > MAX_PLAN_OCTETS) return failure(`has ${facts.size} octets; a saved plan has at most ${MAX_PLAN_OCTETS}`)
      const octets = Buffer.alloc(facts.size)
      let length = 0
      while (length < octets.length) {
        const { bytesRead } = await handle.read(octets, length, octets.length - length, length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return ok(UTF8.decode(octets.subarray(0, length)))
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof TypeError) return failure('is not text in UTF-8')
    return failure(describeReadError(error))
  }
}

/** What a file of that name would be to `apply`: its first octets tell a saved plan from a zone file that is called like its zone. */
export async function looksLikePlan(path: string): Promise<boolean> {
  try {
    const handle = await open(path, READ)
    try {
      if (!(await handle.stat()).isFile()) return false
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0)
      return /^(?:\ufeff)?\s*\{/.test(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await handle.close()
    }
  } catch {
    return false
  }
}
