/**
 * Copies the journal of a run in progress to a store that is not its folder. The plans are stored before the first call. Lines are stored in parts: the last part
 * is written again with every line until it is full. Lines that arrive during a request are stored by the next one, so a run costs far fewer requests than it
 * has lines. A call is sent only when the part with its line is stored.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PLANS_FOLDER, planFile } from '../journal/journal-format.ts'
import { type JournalStore, StoreError } from './journal-store.ts'

/** The folder of runs in a store: `runs/RUN/plans-1`, …, and `runs/RUN/journal-1`, … */
export const STORED_RUNS = 'runs/'
const plansPart = (run: string, part: number): string => `${STORED_RUNS}${run}/plans-${part}`
const journalPart = (run: string, part: number): string => `${STORED_RUNS}${run}/journal-${part}`

/** Characters after which another part is begun. */
const FULL_PART = 64 * 1024
const FULL_PLANS = 8 * 1024 * 1024

export interface StoredRun {
  /** Adds a line, without its newline. */
  line(text: string): void
  /** Stores all lines so far. Returns why they could not be stored; null if they were. */
  stored(): Promise<string | null>
}

/** Stores the plans of a run from its folder. Throws `StoreError`, and the system's error. */
export async function storeRun(store: JournalStore, run: string, folder: string): Promise<StoredRun> {
  await storePlans(store, run, join(folder, PLANS_FOLDER))
  let part = 1
  let text = ''
  /** The version of the part. Each write replaces the one before, so that one which arrives late changes nothing. */
  let version: string | null = null
  /** How much of the part is stored. */
  let done = 0
  let storing: Promise<string | null> | null = null

  const storeOnce = async (): Promise<string | null> => {
    const [now, number] = [text, part]
    try {
      const name = journalPart(run, number)
      let written = await store.write(name, now, version)
      if (written.state === 'conflict') {
        // A previous request may have been carried out although its response was lost.
        const rest = await store.read(name)
        if (rest !== null && now.startsWith(rest.text)) written = await store.write(name, now, rest.version)
      }
      if (written.state === 'conflict') return `another process has written the journal of run ${run} in ${store.address}`
      version = written.version
    } catch (error) {
      if (error instanceof StoreError) return error.message
      throw error
    }
    done = now.length
    return null
  }
  const stored = async (): Promise<string | null> => {
    // What is being stored may lack the latest lines.
    if (storing !== null) await storing.catch(() => null)
    if (done === text.length) return null
    storing ??= storeOnce().finally(() => {
      storing = null
    })
    return storing
  }
  return {
    line(line) {
      if (text.length > FULL_PART && done === text.length) {
        part += 1
        text = ''
        version = null
        done = 0
      }
      text += `${line}\n`
    },
    stored,
  }
}

/** Several plans in one object, as a list of texts. */
async function storePlans(store: JournalStore, run: string, folder: string): Promise<void> {
  const count = (await readdir(folder)).length
  let part = 1
  let batch: string[] = []
  let size = 0
  const flush = async (): Promise<void> => {
    await store.write(plansPart(run, part), JSON.stringify(batch), 'any')
    part += 1
    batch = []
    size = 0
  }
  for (let zone = 0; zone < count; zone += 1) {
    const text = await readFile(join(folder, planFile(zone)), 'utf8')
    if (batch.length > 0 && size + text.length > FULL_PLANS) await flush()
    batch.push(text)
    size += text.length
  }
  if (batch.length > 0) await flush()
}
