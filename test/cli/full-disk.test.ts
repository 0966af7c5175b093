/** Output to a full disk: the command completes and reports the error. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { type FolderScene, openScene, TOKEN } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

/** Runs the program with one of its streams on a full disk. */
async function run({ folder }: FolderScene, full: 'stdout' | 'stderr', ...args: string[]): Promise<{ status: unknown; other: string }> {
  const disk = openSync('/dev/full', 'w')
  const stdio = full === 'stdout' ? (['ignore', disk, 'pipe'] as const) : (['ignore', 'pipe', disk] as const)
  const env = { ...process.env, ZONEWRIGHT_TOKEN: TOKEN }
  const program = spawn(process.execPath, [await builtProgram(), ...args], { cwd: folder, env, stdio: [...stdio] })
  closeSync(disk)
  let other = ''
  ;(program.stdout ?? program.stderr)?.setEncoding('utf8').on('data', (text: string) => {
    other += text
  })
  const [status] = (await once(program, 'close')) as [number | null]
  return { status, other }
}

const DISK_FULL = 'error[file-unwritable] standard output cannot be written: the disk is full\n'

describe.runIf(process.platform === 'linux')('standard output', () => {
  const commands = { export: 'export json', import: 'import zonefile more.zone', record: 'record add example.com new A 192.0.2.3' }
  test.each(Object.entries(commands))('%s', { tags: ['long'] }, async (name, words) => {
    const scene = openScene()
    scene.write({ 'more.zone': '$ORIGIN example.net.\n$TTL 60\n@ SOA ns1 hostmaster 1 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.53\n' })
    const { status, other } = await run(scene, 'stdout', ...words.split(' '))
    expect([status, other]).toEqual([1, expect.stringContaining(DISK_FULL)])
    expect(other).not.toMatch(/\n\s+at /)
    if (name === 'record') expect(scene.files()['zones/example.com.yaml']).toContain('\n  new: {type: A, value: 192.0.2.3}\n')
  })

  test.each([[['plan']], [['apply', '--yes']]])('%j', async (args) => {
    const scene = await openServiceScene()
    expect(await run(scene, 'stdout', ...args)).toMatchObject({ status: 1, other: expect.stringContaining(DISK_FULL) })
    if (args[0] === 'apply') expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
  })

  test('progress messages of an apply', { tags: ['long'] }, async () => {
    const scene = await openServiceScene()
    const { status, other } = await run(scene, 'stderr', 'apply', '--yes', '--verbose')
    expect(other).not.toBe('')
    expect([0, 1]).toContain(status)
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
  })
})
