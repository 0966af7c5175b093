import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { inject } from 'vitest'
import type {} from './build-folder.ts'

let built: Promise<string> | null = null

/** The bundled program: that of the scripts that run the tests, or else one per worker in its own folder, which finds the packages. */
export function builtProgram(): Promise<string> {
  built ??= (async () => {
    const { ZONEWRIGHT_TEST_PROGRAM: ready } = process.env
    if (ready !== undefined) return ready
    const { buildProgram } = await import('../../scripts/build.mjs')
    const { file } = await buildProgram({ out: join(inject('buildFolder'), `dist-${process.pid}`) })
    return file as string
  })()
  return built
}

export interface ProgramRun {
  readonly pid: number
  /** The output so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  kill(signal: NodeJS.Signals): void
  /** Resolves when the output has the text; rejects if the program ends without it. */
  until(text: string | RegExp): Promise<void>
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>
}

export interface ProgramSetting {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Words before the command line, such as a program that drops privileges before it runs the rest. */
  readonly before?: readonly string[]
}

/** Starts the built program as a child process. */
export async function startProgram(args: readonly string[], { cwd, env = {}, before = [] }: ProgramSetting): Promise<ProgramRun> {
  const { FORCE_COLOR: _, NO_COLOR: __, ...inherited } = process.env
  const [command, ...words] = [...before, process.execPath, await builtProgram(), ...args] as [string, ...string[]]
  const child = spawn(command, words, { cwd, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const written = { stdout: '', stderr: '' }
  const watchers = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
      for (const watcher of watchers) watcher()
    })
  }
  const ended = new Promise<{ status: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status, signal) => resolve({ status, signal }))
  })
  return {
    pid: child.pid as number,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    kill: (signal) => void child.kill(signal),
    ended,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = written.stdout + written.stderr
          if (typeof text === 'string' ? !all.includes(text) : !text.test(all)) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
        void ended.then(() => {
          look()
          if (watchers.delete(look)) reject(new Error(`ended without ${text}:\n${written.stdout}${written.stderr}`))
        })
      }),
  }
}
