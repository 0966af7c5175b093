/** `serve` and `serve rotate-key`, killed (SIGKILL) directly before any file operation: the key is complete or missing, and no data is lost. */
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { builtProgram, type ProgramRun, startProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const PRELOAD = fileURLToPath(new URL('../support/kill-at.mjs', import.meta.url))
const TOKEN = 'token-of-the-administrator'
const KEY = 'k'.repeat(44)
const ANSWERS = { security_questions: [1, 2, 3].map((question_id) => ({ question_id, response: `answer ${question_id}` })) }
const SERVE = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none']

/** Above the number of file operations. */
const MOST_STEPS = 40

const serve = (folder: string, env: Readonly<Record<string, string>> = {}): Promise<ProgramRun> =>
  startProgram([...SERVE, '--data', folder], { cwd: temporaryDirectory(), env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: TOKEN, ...env } })

/** Runs a service on a folder during `work`. */
async function during<T>(folder: string, work: (call: (method: string, path: string, body?: object) => Promise<Response>) => Promise<T>) {
  const run = await serve(folder)
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http } = JSON.parse(run.stdout())
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const done = await work((method, path, body) => fetch(http + path, { method, headers, ...(body && { body: JSON.stringify(body) }) }))
  run.kill('SIGTERM')
  await run.ended
  return done
}

const saveAnswers = (folder: string) =>
  during(folder, async (call) => expect((await call('POST', '/profile/security-questions', ANSWERS)).status).toBe(200))

const readAnswers = (folder: string): Promise<unknown> =>
  during(folder, async (call) => {
    const { security_questions } = (await (await call('GET', '/profile/security-questions')).json()) as {
      security_questions: { response: string | null }[]
    }
    return security_questions.flatMap(({ response }) => response ?? [])
  })

const killing = (folder: string, step: number) => ({ NODE_OPTIONS: `--import=${PRELOAD}`, KILL_BELOW: folder, KILL_AT: String(step) })

beforeAll(async () => void (await builtProgram()))

const LONG = { tags: ['long'] }

const secretFiles = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('secrets'))

/** Whether the process serves; the test ends it. */
const isServing = (run: ProgramRun): Promise<boolean> => {
  onTestFinished(() => run.kill('SIGKILL'))
  return run.until('listening').then(
    () => true,
    () => false,
  )
}

test('a first start killed before any step leaves a key that the next start uses, or none', LONG, async () => {
  let killed = 0
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const folder = join(temporaryDirectory(), 'data')
    const run = await serve(folder, killing(folder, step))
    const serves = await isServing(run)
    run.kill('SIGKILL')
    await run.ended
    if (serves) break
    killed += 1
    await saveAnswers(folder)
    expect(readFileSync(join(folder, 'secrets.key'), 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
    expect(statSync(join(folder, 'secrets.key')).mode & 0o777).toBe(0o600)
    expect(secretFiles(folder)).toEqual(['secrets.key'])
  }
  expect(killed).toBeGreaterThan(0)
})

test('of several concurrent first starts one serves, with one key', LONG, async () => {
  const folder = join(temporaryDirectory(), 'data')
  const runs = await Promise.all([1, 2].map(() => serve(folder)))
  expect((await Promise.all(runs.map(isServing))).filter(Boolean)).toHaveLength(1)
  const key = readFileSync(join(folder, 'secrets.key'), 'utf8')
  for (const run of runs) run.kill('SIGKILL')
  await Promise.all(runs.map(({ ended }) => ended))
  await saveAnswers(folder)
  expect(readFileSync(join(folder, 'secrets.key'), 'utf8')).toBe(key)
})

test('the same command completes a key rotation killed before any step', LONG, async () => {
  const source = join(temporaryDirectory(), 'data')
  await saveAnswers(source)
  const former = readFileSync(join(source, 'secrets.key'), 'utf8')
  let killed = 0
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const cwd = temporaryDirectory()
    const folder = join(cwd, 'data')
    cpSync(source, folder, { recursive: true })
    const run = await startProgram(['serve', 'rotate-key', '--data', folder], { cwd, env: killing(folder, step) })
    const { status } = await run.ended
    if (status === 0) break
    killed += 1
    // The folder option may be on either side of the command, or omitted.
    expectEnd(await cli(['serve', '--data', 'data', 'rotate-key'], { cwd }), 0, {
      err: /^All secrets are encrypted with the new key \(\d of them by this run\)\.\nThe previous key is the second line of \S+secrets\.key: /,
      out: '',
    })
    const keys = readFileSync(join(folder, 'secrets.key'), 'utf8')
    expect(keys.split('\n')).toHaveLength(3)
    expect(keys).not.toBe(former)
    expect(secretFiles(folder)).toEqual(['secrets.key'])
    expect(await readAnswers(folder)).toEqual(['answer 1', 'answer 2', 'answer 3'])
  }
  expect(killed).toBeGreaterThan(0)
})

test.each([
  ['the database is missing', {}, /^error\[service-store\] there is no database in \S+zonewright-data\n$/],
  ['it has one key', { ZONEWRIGHT_DATABASE: 'postgres://u:secret@127.0.0.1:1/x', ZONEWRIGHT_SECRETS_KEY: KEY }, /cannot be reached/],
])('reports that %s', async (_name, env, message) => {
  const { stderr } = expectEnd(await cli(['serve', 'rotate-key'], { cwd: temporaryDirectory(), env }), 1, { err: message })
  expect(stderr).not.toMatch(/secret@|kkkk/)
})
