/** Processes that race for a file, and are killed while they do. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect } from 'vitest'

interface WorkerOptions {
  /** For the program and its modules. */
  readonly folder: string
  /** The sources of the modules that the program imports as `./NAME.mjs`; all in one folder. */
  readonly modules: readonly string[]
  /** The text of the program. */
  readonly program: string
  readonly args: readonly string[]
  readonly count: number
}

/** Runs `count` workers at once. One that is killed is followed by another, until each has ended with status 0. Returns how many were killed. */
export async function raceWorkers({ folder, modules, program, args, count }: WorkerOptions): Promise<number> {
  const output = { outdir: folder, outExtension: { '.js': '.mjs' } }
  await build({ entryPoints: [...modules], bundle: true, platform: 'node', format: 'esm', ...output, logLevel: 'silent' })
  writeFileSync(join(folder, 'worker.mjs'), program)
  let killed = 0
  const work = async (): Promise<void> => {
    for (;;) {
      const child = spawn(process.execPath, [join(folder, 'worker.mjs'), ...args], { stdio: 'inherit' })
      const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
      if (signal === null) return expect(status).toBe(0)
      killed += 1
    }
  }
  await Promise.all(Array.from({ length: count }, work))
  return killed
}
