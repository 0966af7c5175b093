/**
 * Makes the folder of the journal what a store has, so that all readers read the folder: runs of other machines, and the states of changes in stages and
 * cutovers. A run that has ended never changes, so it is fetched once.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import pLimit from 'p-limit'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { makeFolder } from '../../files/make-folder.ts'
import { writeFileAtomically } from '../../files/replace-files.ts'
import { writeProblemText } from '../../files/write-problem.ts'
import { keepOutOfGit } from '../journal/journal-folder.ts'
import { isRunId, JOURNAL_FILE, PLANS_FOLDER, planFile } from '../journal/journal-format.ts'
import { endOf, outerLinesOf } from '../journal/journal-lines.ts'
import type { RunRecord } from '../journal/read-journal.ts'
import type { StateMirror } from '../states/state-file.ts'
import { type JournalStore, type ListedObject, StoreError } from './journal-store.ts'
import { isLive, listLeases, ownHolder } from './leases.ts'
import type { StoreContext } from './open-store.ts'
import { openStore } from './open-store.ts'
import { STORED_RUNS } from './stored-run.ts'

/** Runs that are fetched, the latest first. */
const MAX_RUNS = 500

const OBJECTS_AT_ONCE = 8

/** Fetches the runs, and with `states` all else that the folder of a journal in a bucket lacks, or without `runs` only that. Throws `StoreError`, and the system's error. */
async function fetchMissing(context: StoreContext, { states, runs }: { readonly states: boolean; readonly runs: boolean }): Promise<void> {
  // The folder itself is the store.
  if (context.config?.journalStore.bucket == null) return
  const store = await openStore(context)
  try {
    await Promise.all([runs ? fetchRuns(store, context.journal) : undefined, states ? fetchStates(store, context.journal) : undefined])
  } finally {
    await store.close()
  }
}

/** The error of fetching the journal; null if it was fetched. */
export async function fetchJournal(context: StoreContext, { states = false, runs = true } = {}): Promise<Diagnostic | null> {
  try {
    await fetchMissing(context, { states, runs })
    return null
  } catch (error) {
    const isOfStore = error instanceof StoreError
    if (!isOfStore && (error as NodeJS.ErrnoException).code === undefined) throw error
    const message = isOfStore ? error.message : `the journal in ${context.journal} cannot be written: ${writeProblemText(error)}`
    return { severity: 'error', code: 'journal-unreadable', message, hint: isOfStore ? error.hint : undefined }
  }
}

/** Fetches the runs that the folder of a journal lacks, and those that had not ended. What cannot be understood is reported by those who read the folder, for each run. */
async function fetchRuns(store: JournalStore, journal: string): Promise<void> {
  const byRun = new Map<string, ListedObject[]>()
  for (const object of await store.list(STORED_RUNS)) {
    const [, run = '', part = ''] = /^runs\/([^/]+)\/((?:plans|journal)-[1-9][0-9]{0,5})$/.exec(object.name) ?? []
    if (isRunId(run) && part !== '') byRun.set(run, [...(byRun.get(run) ?? []), object])
  }
  if (byRun.size === 0) return
  makeFolder(join(journal, 'runs'), 0o700)
  keepOutOfGit(journal)
  const limit = pLimit(OBJECTS_AT_ONCE)
  const latest = [...byRun].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, MAX_RUNS)
  await Promise.all(latest.map(([run, objects]) => limit(() => fetchRun(store, journal, run, objects))))
}

/** Removes runs from a journal in a bucket too, so that they are not fetched again. Throws `StoreError`. */
export async function removeStoredRuns(context: StoreContext, removed: readonly string[]): Promise<void> {
  if (context.config?.journalStore.bucket == null || removed.length === 0) return
  const store = await openStore(context)
  try {
    const runs = new Set(removed)
    const limit = pLimit(OBJECTS_AT_ONCE)
    const objects = (await store.list(STORED_RUNS)).filter(({ name }) => runs.has(name.split('/')[1] ?? ''))
    await Promise.all(objects.map(({ name }) => limit(() => store.remove(name, 'any'))))
  } finally {
    await store.close()
  }
}

async function fetchRun(store: JournalStore, journal: string, run: string, objects: readonly ListedObject[]): Promise<void> {
  const folder = join(journal, 'runs', run)
  const isHere = existsSync(folder)
  if (isHere && hasEnded(join(folder, JOURNAL_FILE))) return
  const lines = (await readParts(store, objects, 'journal')).join('')
  // A run without a line has sent nothing.
  if (lines === '') return
  if (isHere) {
    // The journal of a run of this machine is older only in the store.
    if (Buffer.byteLength(lines) > statSync(join(folder, JOURNAL_FILE)).size)
      await writeFileAtomically(join(folder, JOURNAL_FILE), lines, 0o600)
    return
  }
  const plans = (await readParts(store, objects, 'plans')).flatMap(plansOf)
  const temporary = join(journal, 'runs', `.${run}-${process.pid}`)
  await rm(temporary, { recursive: true, force: true })
  await mkdir(join(temporary, PLANS_FOLDER), { recursive: true, mode: 0o700 })
  try {
    for (const [index, text] of plans.entries()) await writeFile(join(temporary, PLANS_FOLDER, planFile(index)), text, { mode: 0o600 })
    await writeFile(join(temporary, JOURNAL_FILE), lines, { mode: 0o600, flush: true })
    await rename(temporary, folder)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    // Another process has just fetched it.
    if (!existsSync(folder)) throw error
  }
}

function hasEnded(path: string): boolean {
  try {
    const { last } = outerLinesOf(path)
    return last !== null && endOf(last) !== null
  } catch {
    return false
  }
}

/** The texts of the parts of one kind, in their order. */
async function readParts(store: JournalStore, objects: readonly ListedObject[], kind: string): Promise<string[]> {
  const numberOf = ({ name }: ListedObject): number => Number(name.slice(name.lastIndexOf('-') + 1))
  const parts = objects.filter(({ name }) => basename(name).startsWith(`${kind}-`)).sort((a, b) => numberOf(a) - numberOf(b))
  return Promise.all(parts.map(async ({ name }) => (await store.read(name))?.text ?? ''))
}

/** The plans of a part; none if it is not valid. Who needs one of them reports that it is missing. */
function plansOf(text: string): string[] {
  try {
    const plans: unknown = JSON.parse(text)
    return Array.isArray(plans) && plans.every((plan) => typeof plan === 'string') ? plans : []
  } catch {
    return []
  }
}

/** The folders of states, which are objects of the same names below `state/`. */
const STATE_FOLDERS = ['stages', 'cutovers'] as const

export const stateName = (folder: string, file: string): string => `state/${folder}/${file}`

/** The names of states that were in the store, so that one that was removed elsewhere is told from one that was never stored. */
const FETCHED = '.fetched'

const fetchedNames = (path: string): Set<string> =>
  new Set(existsSync(join(path, FETCHED)) ? readFileSync(join(path, FETCHED), 'utf8').split('\n').filter(Boolean) : [])

const writeFetched = (path: string, names: Iterable<string>): Promise<void> =>
  writeFileAtomically(join(path, FETCHED), [...names].map((name) => `${name}\n`).join(''), 0o600)

/** Makes the states in the folder of a journal those of the store. */
export async function fetchStates(store: JournalStore, journal: string): Promise<void> {
  const listed = await store.list('state/')
  for (const folder of STATE_FOLDERS) {
    const path = join(journal, folder)
    const inStore = new Set(
      listed.flatMap(({ name }) => (name.startsWith(`state/${folder}/`) && /\.json$/.test(name) ? [basename(name)] : [])),
    )
    const here = existsSync(path) ? readdirSync(path).filter((name) => /^[^.].*\.json$/.test(name)) : []
    const fetched = fetchedNames(path)
    if (inStore.size + here.length + fetched.size === 0) continue
    makeFolder(path, 0o700)
    for (const name of inStore) {
      const text = (await store.read(stateName(folder, name)))?.text
      if (text !== undefined) await writeFileAtomically(join(path, name), text, 0o600)
    }
    for (const name of here.filter((one) => !inStore.has(one))) {
      if (fetched.has(name)) await rm(join(path, name), { force: true })
      else {
        await store.write(stateName(folder, name), await readFile(join(path, name), 'utf8'), null)
        inStore.add(name)
      }
    }
    await writeFetched(path, inStore)
  }
}

/** Also writes states to the store of a journal in a bucket, and removes them there (`text` is null). Throws `StoreError`. */
export const mirrorOf =
  (context: StoreContext): StateMirror =>
  async (folder, file, text) => {
    if (context.config?.journalStore.bucket == null) return
    const store = await openStore(context)
    try {
      if (text === null) await store.remove(stateName(folder, file), 'any')
      else await store.write(stateName(folder, file), text, 'any')
      const path = join(context.journal, folder)
      const names = fetchedNames(path)
      if (text !== null) names.add(file)
      else names.delete(file)
      makeFolder(path, 0o700)
      await writeFetched(path, names)
    } finally {
      await store.close()
    }
  }

/** A run that has not ended is `running` while its lease is live, on whatever machine. Costs requests only if there is such a run. */
export async function markRunning(
  context: StoreContext,
  runs: readonly RunRecord[],
): Promise<{ readonly runs: readonly RunRecord[]; readonly problem: Diagnostic | null }> {
  if (!runs.some(mayRun)) return { runs, problem: null }
  try {
    const store = await openStore(context)
    try {
      const { leases, now } = await listLeases(store)
      const live = new Set(leases.filter((lease) => isLive(lease, now, store, ownHolder(context.env))).map(({ run }) => run))
      return { runs: runs.map((run) => (mayRun(run) && live.has(run.id) ? { ...run, state: 'running' } : run)), problem: null }
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { runs, problem: { severity: 'error', code: 'journal-unreadable', message: error.message, hint: error.hint } }
  }
}

const mayRun = ({ status, state }: RunRecord): boolean => status === null && state === 'interrupted'
