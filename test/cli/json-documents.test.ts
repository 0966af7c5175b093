/** A run with --format json always ends with a document. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { builtProgram, startProgram } from '../support/built-program.ts'
import type { Script } from './recording-proxy.ts'
import { TOKEN } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

interface PlanDocument {
  readonly format: string
  readonly zones: readonly { readonly changes: readonly { readonly outcome?: unknown }[] }[]
  readonly diagnostics: readonly { readonly code: string }[]
}

const documentOf = (text: string): PlanDocument => JSON.parse(text)

/** Never answers reads. */
const noReads: Script = ({ method }) => (method === 'GET' ? 'silence' : null)

async function interruptedBy(scene: ServiceScene, signal: NodeJS.Signals, ...args: string[]) {
  const run = await startProgram([...args, '--format', 'json'], { cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  onTestFinished(() => run.kill('SIGKILL'))
  while (scene.proxy.requests.length === 0) await wait(5)
  run.kill(signal)
  return { ...(await run.ended), document: documentOf(run.stdout()), stderr: run.stderr() }
}

describe('prints a JSON document', () => {
  test.each([['SIGTERM', 143] as const, ['SIGINT', 130] as const])('if %s interrupts an apply while it reads', async (signal, status) => {
    const scene = await openServiceScene({ script: noReads })
    const ended = await interruptedBy(scene, signal, 'apply', '--yes')
    expect(ended.status).toBe(status)
    expect(ended.document).toMatchObject({ format: 'zonewright-plan' })
    expect(ended.document.zones.flatMap(({ changes }) => changes.map(({ outcome }) => outcome))).not.toContain('applied')
    expect(scene.proxy.mutations()).toEqual([])
  })

  test('if the zone is locked, with the holder', async () => {
    const scene = await openServiceScene({ script: noReads })
    const first = await startProgram(['apply', '--yes'], { cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
    onTestFinished(() => first.kill('SIGKILL'))
    while (scene.proxy.requests.length === 0) await wait(5)
    const second = await scene.run('apply', '--yes', '--format', 'json')
    expect(second.status).toBe(1)
    expect(documentOf(second.stdout).diagnostics).toMatchObject([{ code: 'zone-locked' }])
  })

  test('if the journal cannot be written', async () => {
    const scene = await openServiceScene()
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    scene.write({
      'zones/example.com.yaml': 'domain: example.com\nsoa_email: hostmaster@example.com\nrecords:\n  x: {type: A, value: 192.0.2.9}\n',
    })
    const runs = join(scene.folder, '.zonewright/runs')
    execFileSync('mv', [runs, `${runs}.away`])
    writeFileSync(runs, '')
    const applied = await scene.run('apply', '--yes', '--allow', 'empty-zone', '--format', 'json')
    expect(applied.status).toBe(1)
    expect(applied.stderr).toContain('journal-failed')
    expect(documentOf(applied.stdout).zones).toHaveLength(1)
  })
})

test('a rollback obeys --timeout', async () => {
  let late = false
  const scene = await openServiceScene({
    script: async ({ method }) => {
      if (late && method !== 'GET') await wait(700)
      return null
    },
  })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const more = Array.from({ length: 20 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')
  scene.write({
    'zones/example.com.yaml': `domain: example.com\nsoa_email: hostmaster@example.com\nrecords:\n  '': {type: A, value: 192.0.2.1}\n${more}`,
  })
  expect((await scene.run('apply', '--yes', '--allow', 'deletes')).status).toBe(0)
  late = true
  const back = await scene.run('rollback', '--last', '--yes', '--timeout', '1', '--parallelism', '2', '--allow', 'deletes')
  expect(back.stderr).toContain('The 1 s of --timeout are over')
  expect(back.stdout).toContain('skipped: the time of the run, 1 s, is over')
  expect(back.status).toBe(4)
})

test('reports that a server asks to wait', async () => {
  const limited: Script = ({ method }) => (method === 'POST' ? { status: 429, headers: { 'retry-after': '100' }, body: 'slow down' } : null)
  const scene = await openServiceScene({ script: limited })
  const result = await scene.run('apply', '--yes', '--timeout', '1')
  expect(result.stderr).toMatch(/^cloud asks to wait for 100 s\.$/m)
  expect(result.stderr.match(/asks to wait/g)).toHaveLength(1)
  expect(result.status).toBe(1)
  expect((await scene.run('apply', '--yes', '--timeout', '1', '--quiet')).stderr).not.toContain('asks to wait')
})

test.each(['pipe', 'pipe.json'])('refuses a named pipe as a plan instead of waiting: %s', async (file) => {
  const scene = await openServiceScene()
  execFileSync('mkfifo', [join(scene.folder, file)])
  const result = await scene.run('apply', file, '--yes')
  expect(result.status).toBe(1)
  expect(scene.proxy.mutations()).toEqual([])
})
