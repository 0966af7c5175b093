/** Small state files in the folder of the journal, so that a later run goes on where one has stopped. */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../files/make-folder.ts'
import { describeReadError } from '../../files/read-text.ts'
import { writeFileAtomically } from '../../files/replace-files.ts'

/** Larger files are none of ours. */
const MAX_STATE_OCTETS = 16 * 1024 * 1024

/** A validator compiled from a schema. */
export type Validator = (data: unknown) => boolean

export interface StateFile<State> {
  /** The state; null if there is none. Throws `BrokenState` if the file cannot be read or is not valid. */
  read(): Promise<State | null>
  /** Replaces the state. Throws the system's error. */
  write(state: State): Promise<void>
  /** Throws the system's error. */
  remove(): Promise<void>
}

/** Writes a state to another place too; removes it there if the text is null. */
export type StateMirror = (folder: string, file: string, text: string | null) => Promise<void>

/** A state file that cannot be read or understood; `why` follows its path. */
export class BrokenState extends Error {
  constructor(path: string, why: string) {
    super(`${path} ${why}`)
  }
}

/** The state of `subject` in a folder of the journal, such as `stages`. The file's name is readable and different for every subject. */
export function stateFile<State>(
  journal: string,
  folder: string,
  subject: readonly string[],
  isValid: Validator,
  mirror?: StateMirror,
): StateFile<State> {
  const hash = createHash('sha256').update(JSON.stringify(subject)).digest('hex').slice(0, 16)
  const readable = subject
    .join('@')
    .replace(/[^a-z0-9.@_-]/g, '_')
    .slice(0, 100)
  const file = `${readable}-${hash}.json`
  const path = join(journal, folder, file)
  return {
    async read() {
      const text = await readBounded(path)
      if (text === null) return null
      let state: unknown
      try {
        state = JSON.parse(text)
      } catch {
        throw new BrokenState(path, 'is not valid: it is not JSON')
      }
      if (!isValid(state)) throw new BrokenState(path, 'is not valid: it does not have the form of this version')
      return state as State
    },
    async write(state) {
      makeFolder(join(journal, folder), 0o700)
      const text = `${JSON.stringify(state, null, 2)}\n`
      await writeFileAtomically(path, text, 0o600)
      await mirror?.(folder, file, text)
    },
    async remove() {
      await mirror?.(folder, file, null)
      rmSync(path, { force: true })
    },
  }
}

async function readBounded(path: string): Promise<string | null> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new BrokenState(path, describeReadError(error))
  })
  if (file === null) return null
  try {
    if ((await file.stat()).size > MAX_STATE_OCTETS) throw new BrokenState(path, 'is not valid: it is too large')
    return await file.readFile('utf8').catch((error: unknown) => {
      throw new BrokenState(path, describeReadError(error))
    })
  } finally {
    await file.close()
  }
}
