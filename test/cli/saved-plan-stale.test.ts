/** Zones that change between a plan and its application. */
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { runCli } from '../../src/cli/program.ts'
import type { Memory } from '../../src/providers/memory/memory-provider.ts'
import { expectEnd } from '../support/cli.ts'
import { planSchemaErrors } from '../support/plan-schema.ts'
import { openLiveScene, type Scene, TOKEN, withoutToken, ZONE, zoneFiles } from './scene.ts'

const CHANGED = ZONE.replace('192.0.2.2', '192.0.2.7')
const APPLY = ['apply', 'plan.json', '--yes']

/** Two live zones, both changed in their definitions, and a saved plan. */
async function plannedScene(): Promise<Scene & { readonly sent: number }> {
  const files = (text: string) => zoneFiles(['example.com', 'example.net'], text)
  const scene = await openLiveScene({ files: files(ZONE) })
  scene.write(files(CHANGED))
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  return { ...scene, sent: scene.memory.writes().length }
}

const addTheirs = ({ memory }: Pick<Scene, 'memory'>): void => memory.add('example.com', 'theirs TXT x')

test.each<[string, (memory: Memory) => void, RegExp]>([
  [
    'a new record',
    (memory) => addTheirs({ memory }),
    /: 1 record added \(plan again.*\n(?:.*\n)*notice\[plan-stale\] example\.com\. at cloud: added theirs\.example\.com\. default TXT "x"\n/,
  ],
  ['another setting', (memory) => memory.changeSettings('example.com', { group: '\u001b' }), /: 1 setting .*\n.*: group is "\\u001b"/],
  [
    'a zone that was deleted and created again',
    (memory) => {
      memory.removeZone('example.com')
      memory.set('example.com', '')
    },
    /: it was deleted and created again: its identifier is \d+, and was \d+, 3 records removed/,
  ],
])('%s: changes no zone of the plan', async (_, move, expected) => {
  const scene = await plannedScene()
  move(scene.memory)
  const { status, stderr } = await scene.run(...APPLY)
  expect(stderr).toMatch(/^error\[plan-stale\] example\.com\. at cloud has changed since the plan was made/m)
  expect(stderr).toMatch(expected)
  expect(stderr).not.toContain('example.net')
  expect(stderr).toMatch(/Nothing was applied\.\n$/)
  expect(status).toBe(3)
  expect(scene.memory.writes()).toHaveLength(scene.sent)
})

test('lists the first of many differences', async () => {
  const scene = await plannedScene()
  for (let index = 0; index < 25; index += 1) scene.memory.add('example.com', `n${index} A 192.0.2.1`)
  const { stderr } = await scene.run(...APPLY)
  expect(stderr).toContain('25 records added; the first 20 differences are shown')
  expect(stderr.match(/notice\[plan-stale\]/g)).toHaveLength(20)
  expect(await scene.run(...APPLY, '--quiet')).toMatchObject({ status: 3, stderr: expect.not.stringContaining('notice') })
})

test('a zone without planned changes may change', async () => {
  const scene = await plannedScene()
  scene.write({ 'zones/example.com.yaml': ZONE })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  addTheirs(scene)
  expectEnd(await scene.run(...APPLY), 0, { out: 'Applied: 0 created, 1 updated, 0 deleted in 1 zone' })
})

/** Runs the program on a terminal that confirms after `seconds`; `meanwhile` runs before that. */
async function onTerminal({ folder, providerTypes }: Scene, args: readonly string[], seconds: number, meanwhile: () => void) {
  const written = { stdout: '', stderr: '' }
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 200 })
  let clock = Date.now()
  let asked = false
  stderr.on('data', (chunk) => {
    written.stderr += chunk
    if (asked || !written.stderr.includes('[y/N]')) return
    asked = true
    meanwhile()
    clock += seconds * 1000
    stdin.write('yes\n')
  })
  const stdout = { write: (text: string) => (written.stdout += text) }
  const env = { ZONEWRIGHT_TOKEN: TOKEN, NO_COLOR: '1' }
  const io = { stdout, stderr, stdin, env, cwd: folder, now: () => new Date(clock), secrets: noSecrets(), providerTypes }
  return withoutToken({ status: await runCli(args, io), ...written })
}

test.each([
  ['definitions', ['apply']],
  ['a saved plan', ['apply', 'plan.json']],
])('%s: reads the zones again after a late confirmation', async (_, args) => {
  const scene = await plannedScene()
  const { status, stderr } = await onTerminal(scene, args, 31, () => addTheirs(scene))
  expect(stderr).toContain('example.com. at cloud has changed since it was read for this plan: 1 record added')
  expect(stderr).toContain('added theirs.example.com. default TXT "x"')
  expect(stderr).toContain('Nothing was applied.')
  expect(status).toBe(3)
  expect(scene.memory.writes()).toHaveLength(scene.sent)
})

test.each([
  [31, 2],
  [29, 0],
])('applies an unchanged zone after %i seconds, with %i more reads of zones', async (seconds, reads) => {
  const scene = await plannedScene()
  let asked = 0
  const { status } = await onTerminal(scene, ['apply', 'plan.json'], seconds, () => {
    asked = scene.memory.requests.length
  })
  expect(status).toBe(0)
  const after = scene.memory.requests.slice(asked)
  const first = after.findIndex(({ kind }) => kind === 'write')
  expect(after.slice(0, first).filter(({ kind }) => kind === 'read')).toHaveLength(reads)
})

describe('--partial', () => {
  const refusedIn = (document: { zones: { refused?: string }[] }) => document.zones.map(({ refused }) => refused)

  test('applies the zones that have not changed, and lists the others', async () => {
    const scene = await plannedScene()
    addTheirs(scene)
    const held = expectEnd(await scene.run(...APPLY, '--format', 'json'), 3)
    expect(refusedIn(JSON.parse(held.stdout))).toEqual(['moved', undefined])

    expectEnd(await scene.run(...APPLY, '--partial'), 3, {
      err: [
        /^error\[plan-stale\] example\.com\. at cloud has changed since the plan was made .*: 1 record added/m,
        /^Not applied: 1 zone that has changed .*: example\.com\. at cloud\. Plan it again\.$/m,
      ],
      out: ['the zone has changed since the plan was made', /^1 error\. Applied in part: 1 skipped; 0 created, 1 updated, /m],
    })
    const pending = await scene.run('plan', '--format', 'json')
    expect(JSON.parse(pending.stdout).zones.map(({ changes }: { changes: unknown[] }) => changes.length)).toEqual([2, 0])
    const history = await scene.run('history', '--format', 'json')
    expect(JSON.parse(history.stdout).runs[0]).toMatchObject({ status: 3, zones: [{ zone: 'example.net.' }] })
  })

  test('applies the others if a zone cannot be read', async () => {
    const scene = await plannedScene()
    const fault = { kind: 'refused', code: 'provider-forbidden', message: '403' } as const
    scene.memory.use(({ kind, zone }) => (kind === 'read' && zone === 'example.com.' ? fault : null))
    expect((await scene.run(...APPLY)).status).toBe(1)
    const { stdout } = expectEnd(await scene.run(...APPLY, '--partial', '--format', 'json'), 4)
    const document = JSON.parse(stdout)
    expect(planSchemaErrors(document)).toEqual([])
    expect(refusedIn(document)).toEqual(['unread', undefined])
    expect(document.summary).toMatchObject({ applied: 1, skipped: 1 })
  })

  test('leaves out a zone that changes while it asks', async () => {
    const scene = await plannedScene()
    const { status, stdout, stderr } = await onTerminal(scene, ['apply', 'plan.json', '--partial'], 31, () => addTheirs(scene))
    expect(stderr).toContain('Apply 2 changes to 2 zones?')
    expect(stdout).toContain('1 updated, 0 deleted in 1 zone')
    expect(status).toBe(3)
  })

  test('needs a plan file', async () => {
    const scene = await plannedScene()
    expectEnd(await scene.run('apply', '--yes', '--partial'), 1, { err: 'error[usage] --partial is for saved plans only' })
    expect(scene.memory.writes()).toHaveLength(scene.sent)
  })
})
