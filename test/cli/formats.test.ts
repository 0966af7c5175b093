import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { validate as validatePlan } from '../../generated/plan-schema.js'
import { validate as validateValidation } from '../../generated/validation-schema.js'
import { validate as validateVerification } from '../../generated/verification-schema.js'
import { documentIn as documentOf, expectEnd } from '../support/cli.ts'
import { type FolderScene, openLiveScene, openScene, ZONE } from './scene.ts'

const UNSUPPORTED = `${ZONE}  x: {type: HINFO, value: {cpu: PC, os: UNIX}}\n`
const ROUNDED = `${ZONE}  x: {type: A, value: 192.0.2.9, ttl: 301}\n`
const BROKEN = 'domain: example.com\nrecords: {www: {type: A, valu: 192.0.2.1}}\n'

describe('plan and apply --format json', () => {
  test.each([
    ['changes', ZONE, 0, { create: 4, changedZones: 1, calls: 4 }],
    ['a notice', ROUNDED, 0, { create: 5 }],
    ['a zone with an error', UNSUPPORTED, 1, {}],
    ['definitions with errors', BROKEN, 1, { zones: 0 }],
  ])('of %s', async (_, zone, status, summary) => {
    const scene = openScene({ files: { 'zones/example.com.yaml': zone } })
    for (const command of ['plan', 'apply']) {
      const result = await scene.run(command, '--format', 'json')
      expect(documentOf(result, validatePlan)).toMatchObject({ format: 'zonewright-plan', version: 2, summary })
      if (command === 'plan') expect(result.status).toBe(status)
    }
  })

  test('the document contains errors of definitions with their positions', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': BROKEN } })
    const document = documentOf(await scene.run('plan', '--format', 'json'), validatePlan)
    const place = { file: 'zones/example.com.yaml', line: 2, hint: 'Did you mean "value"?' }
    expect(document.diagnostics).toContainEqual(expect.objectContaining({ severity: 'error', code: 'schema-unknown-key', ...place }))
  })

  test('an apply contains the outcome of every change; without confirmation every change is skipped', async () => {
    const scene = openScene()
    const states = async (...args: string[]): Promise<unknown[]> => {
      const document = documentOf(await scene.run('apply', '--format', 'json', ...args), validatePlan)
      return document.zones[0].changes.map(({ outcome }: { outcome: { state: string } }) => outcome.state)
    }
    expect(await states()).toEqual(['skipped', 'skipped', 'skipped', 'skipped'])
    expect(await states('--yes')).toEqual(['applied', 'applied', 'applied', 'applied'])
    expect(await states('--yes')).toEqual([])
  })
})

describe('validate --format json', () => {
  test.each([
    ['no problems', ZONE, 0, { errors: 0, warnings: 0, files: 1, zones: 1, records: 3 }],
    ['a warning', `${ZONE}  m: {type: MX, value: {preference: 1, exchange: www}}\n`, 0, { errors: 0, warnings: 1, records: 4 }],
    ['an error with a related position', `${ZONE}  mail: {type: A, value: 192.0.2.9}\n`, 1, { errors: 1 }],
    ['a duplicate record', `${ZONE}  x: {type: A, values: [192.0.2.9, 192.0.2.9]}\n`, 1, { errors: 1 }],
    ['broken YAML', 'a: [', 1, { errors: 1 }],
  ])('of %s', async (_, zone, status, figures) => {
    const scene = openScene({ files: { 'zones/example.com.yaml': zone } })
    const result = expectEnd(await scene.run('validate', '--format', 'json'), status)
    expect(documentOf(result, validateValidation)).toMatchObject({ format: 'zonewright-validation', version: 1, ...figures })
    expect(result.stderr).toBe('')
  })

  test('the document contains errors of the config', async () => {
    const scene = openScene()
    scene.write({ 'zonewright.yaml': 'provider: {}\n' })
    const document = documentOf(await scene.run('validate', '--format', 'json'), validateValidation)
    expect(document.diagnostics).toMatchObject([{ code: 'schema-unknown-key', file: 'zonewright.yaml', line: 1, column: 1 }])
  })
})

describe('verify --format json', () => {
  const verify = async (scene: FolderScene, ...args: string[]) => {
    const result = await scene.run('verify', '--format', 'json', ...args)
    return { ...result, document: documentOf(result, validateVerification) }
  }

  test('definitions with errors', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': BROKEN } })
    const { status, document } = await verify(scene)
    expect(status).toBe(1)
    expect(document).toMatchObject({ zones: [], diagnostics: [{ code: 'schema-unknown-key' }, ...document.diagnostics.slice(1)] })
  })

  test('the diagnostics contain a zone that cannot be read', async () => {
    const scene = openScene({
      zones: { 'example.com': '' },
      fault: ({ kind }) => (kind === 'read' ? { kind: 'refused', code: 'provider-forbidden', message: '403 Unauthorized' } : null),
    })
    const { status, document } = await verify(scene)
    expect(status).toBe(1)
    expect(document).toMatchObject({ zones: [], diagnostics: [{ code: 'provider-forbidden', file: 'zones/example.com.yaml' }] })
  })
})

describe('other formats', () => {
  test('github annotates the positions of the errors', async () => {
    const rounded = openScene({ files: { 'zones/example.com.yaml': ROUNDED } })
    const notice = /^::notice file=zones\/example\.com\.yaml,line=7,col=\d+,title=ttl-rounded::/m
    expectEnd(await rounded.run('plan', '--format', 'github'), 0, { out: notice })
    rounded.write({ 'zones/example.com.yaml': BROKEN })
    for (const command of ['validate', 'plan', 'apply', 'verify']) {
      const { status, stdout } = await rounded.run(command, '--format', 'github')
      expect(status).toBe(1)
      expect(stdout).toMatch(/^::error file=zones\/example\.com\.yaml,line=2,col=\d+,title=schema-unknown-key::/m)
    }
  })

  test('verify --format github names the zone that differs', async () => {
    const scene = openScene()
    const { status, stdout } = await scene.run('verify', '--format', 'github')
    expect(status).toBe(2)
    expect(stdout).toMatch(/^::error title=verify-differs::example\.com\. at cloud is not as defined$/m)
  })
})

/** Runs that end early: by a lock, a journal, a timeout, a pipe. With --format json they end with a document. */
test('a locked zone is in the document, with the holder', async () => {
  let [reached, release] = [() => {}, () => {}]
  const isRead = new Promise<void>((resolve) => {
    reached = resolve
  })
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  const scene = openScene({
    fault: async () => {
      reached()
      await isReleased
      return null
    },
  })
  const first = scene.run('apply', '--yes')
  await isRead
  const second = expectEnd(await scene.run('apply', '--yes', '--format', 'json'), 1)
  expect(JSON.parse(second.stdout).diagnostics).toMatchObject([{ code: 'zone-locked' }])
  release()
  expect((await first).status).toBe(0)
})

test('a journal that cannot be written does not prevent the document', async () => {
  const scene = await openLiveScene()
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.9') })
  const runs = join(scene.folder, '.zonewright/runs')
  renameSync(runs, `${runs}.away`)
  writeFileSync(runs, '')
  const applied = expectEnd(await scene.run('apply', '--yes', '--format', 'json'), 1, { err: 'journal-failed' })
  expect(JSON.parse(applied.stdout).zones).toHaveLength(1)
})

test('a rollback obeys --timeout', async () => {
  const scene = await openLiveScene()
  const more = Array.from({ length: 20 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')
  scene.write({ 'zones/example.com.yaml': `${ZONE}${more}` })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  // The hour of the run is over at its second write.
  const { setTimeout: later } = globalThis
  let endTime = (): void => {}
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, time: number) => {
    if (time === 3_600_000) endTime = work
    return later(work, time)
  }) as typeof setTimeout)
  onTestFinished(() => timers.mockRestore())
  const sent = scene.memory.writes().length
  scene.memory.use(() => {
    if (scene.memory.writes().length === sent + 2) endTime()
    return null
  })
  expectEnd(await scene.run('rollback', '--last', '--yes', '--timeout', '3600', '--parallelism', '2', '--allow', 'deletes'), 4, {
    err: 'The 3600 s of --timeout are over',
    out: 'skipped: the time of the run, 3600 s, is over',
  })
})

test.each(['pipe', 'pipe.json'])('refuses a named pipe as a plan instead of waiting: %s', async (file) => {
  const scene = openScene()
  execFileSync('mkfifo', [join(scene.folder, file)])
  expect((await scene.run('apply', file, '--yes')).status).toBe(1)
  expect(scene.memory.writes()).toEqual([])
})
