import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Store } from './harness.ts'

const root = resolve(fileURLToPath(import.meta.url), '../../..')

export interface ServiceProcess {
  readonly pid: number
  readonly baseUrl: string
  readonly dnsAddress: { readonly host: string; readonly port: number }
  /** Kills it. */
  kill(): Promise<void>
}

/**
 * Services in their own processes, for the tests of a file. The returned function starts one on a store and resolves when it serves, with the token
 * `bootstrap`; it ends with the tests.
 */
export function serviceProcesses(): ((store: Store, kind?: 'full' | 'dns-only') => Promise<ServiceProcess>) & { killAll(): Promise<void> } {
  // Beside the packages that it loads, in an otherwise unused place.
  const program = join(root, 'node_modules', `.zonewright-serve-${process.pid}.mjs`)
  const running = new Set<ChildProcess>()
  beforeAll(async () => {
    await build({
      entryPoints: [join(root, 'test/service/fixtures/serve.ts')],
      outfile: program,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      logLevel: 'warning',
    })
  })
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(program, { force: true })
  })
  const start = async (store: Store, kind: 'full' | 'dns-only' = 'full'): Promise<ServiceProcess> => {
    const child = spawn(process.execPath, [program, JSON.stringify(store), kind], { stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(child)
    const line = once(createInterface(child.stdout), 'line') as Promise<[string]>
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('the service ended before it served')))
    const [addresses] = await Promise.race([line, ended])
    ended.catch(() => undefined)
    return {
      pid: child.pid as number,
      ...JSON.parse(addresses),
      kill: async () => {
        running.delete(child)
        if (child.exitCode !== null) throw new Error(`the service exited with ${child.exitCode}`)
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        expect((await exited)[1]).toBe('SIGKILL')
      },
    }
  }
  /** Kills all of them, also those that are still starting. */
  const killAll = async (): Promise<void> => {
    for (const child of running) {
      running.delete(child)
      if (child.exitCode !== null || child.signalCode !== null) continue
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
  }
  return Object.assign(start, { killAll })
}
