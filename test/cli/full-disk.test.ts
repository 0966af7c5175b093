/** Output to a full disk: the command completes and reports the error. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { TOKEN } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

/** Runs the program with one of its streams on a full disk. */
async function run(
  { folder }: ServiceScene,
  full: 'stdout' | 'stderr',
  ...args: string[]
): Promise<{ status: number | null; other: string }> {
  const disk = openSync('/dev/full', 'w')
  const stdio = full === 'stdout' ? (['ignore', disk, 'pipe'] as const) : (['ignore', 'pipe', disk] as const)
  const program = spawn(process.execPath, [await builtProgram(), ...args], {
    cwd: folder,
    env: { ...process.env, ZONEWRIGHT_TOKEN: TOKEN },
    stdio: [...stdio],
  })
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
  test.each([
    ['export', ['export', 'json']],
    ['record', ['record', 'add', 'example.com', 'new', 'A', '192.0.2.3']],
    ['plan', ['plan']],
    ['apply', ['apply', '--yes']],
  ])('%s', async (_, args) => {
    const scene = await openServiceScene()
    const { status, other } = await run(scene, 'stdout', ...args)
    expect(status).toBe(1)
    expect(other).toContain(DISK_FULL)
    expect(other).not.toMatch(/\n\s+at /)
    if (args[0] === 'apply') expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
    if (args[0] === 'record') expect(scene.files()['zones/example.com.yaml']).toContain('\n  new: {type: A, value: 192.0.2.3}\n')
  })

  test('progress messages of an apply', async () => {
    const scene = await openServiceScene()
    const { status, other } = await run(scene, 'stderr', 'apply', '--yes', '--verbose')
    expect(other).not.toBe('')
    expect([0, 1]).toContain(status)
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
  })
})
