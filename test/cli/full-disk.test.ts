/** Output to a full disk: the command completes and reports the error. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { type FolderScene, TOKEN } from './scene.ts'
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
  test.each([[['plan']], [['apply', '--yes']]])('%j', async (args) => {
    const scene = await openServiceScene()
    expect(await run(scene, 'stdout', ...args)).toMatchObject({ status: 1, other: expect.stringContaining(DISK_FULL) })
    if (args[0] === 'apply') expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
  })
})
