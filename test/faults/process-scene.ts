/** A folder with a config and a fault proxy, for real processes with real sockets; scenes may share the service behind the proxy. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProgramRun, startProgram } from '../support/built-program.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type ServiceProcess, TOKEN } from './service-process.ts'

export interface ProcessScene {
  readonly folder: string
  readonly proxy: FaultProxy
  /** Writes the definition of a zone, from the lines of its record map. */
  define(zone: string, records: readonly string[]): void
  /** Starts the program as a separate process. */
  start(...args: string[]): Promise<ProgramRun>
  /** Runs the program in this process, which is never killed. */
  run(...args: string[]): Promise<CliResult>
}

const ENV = { ZONEWRIGHT_TOKEN: TOKEN }

export async function openProcessScene(service: ServiceProcess): Promise<ProcessScene> {
  const folder = temporaryDirectory()
  const proxy = await startFaultProxy(service.origin)
  mkdirSync(join(folder, 'zones'))
  const cloud = `{type: cloud, base_url: '${proxy.origin}/v4', token: env:ZONEWRIGHT_TOKEN}`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  cloud: ${cloud}\n`)
  return {
    folder,
    proxy,
    define(zone, records) {
      const lines = records.map((line) => `  ${line}\n`).join('')
      writeFileSync(join(folder, `zones/${zone}.yaml`), `domain: ${zone}\nsoa_email: hostmaster@example.com\nrecords:\n${lines}`)
    },
    start: (...args) => startProgram(args, { cwd: folder, env: ENV }),
    run: (...args) => cli(args, { cwd: folder, env: ENV }),
  }
}
