/** A folder with a config for a served folder, and definitions. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliResult, cli } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

export interface Workspace {
  readonly folder: string
  /** Writes a definition; null deletes the zone. */
  define(zone: string, records: string | null, settings?: string): void
  run(...args: string[]): Promise<CliResult>
  apply(...args: string[]): Promise<CliResult>
  /** The text of a file of the workspace. */
  read(path: string): string
  write(path: string, text: string): void
  /** The names in the served folder, hidden ones included. */
  served(): string[]
  /** The absolute path of a new program with this shell text, which notes its arguments in `calls`. */
  program(name: string, text: string): string
  /** The calls of all programs so far, one line each. */
  calls(): string[]
}

export const NOW = new Date('2026-11-23T10:00:00Z')
export const NS = "  '': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n"

/** Settings of the provider as lines of YAML below `type: zonefile`. */
export function workspace(settings = '', env: Readonly<Record<string, string>> = {}): Workspace {
  const folder = temporaryDirectory()
  for (const name of ['zones', 'served', 'programs']) mkdirSync(join(folder, name))
  const lines = `type: zonefile\ndirectory: served\n${settings}`.trimEnd().split('\n')
  const config = `providers:\n  files:\n${lines.map((line) => `    ${line}\n`).join('')}defaults: {soa_email: hostmaster@example.com}\n`
  writeFileSync(join(folder, 'zonewright.yaml'), config)
  const run = (...args: string[]) =>
    cli([...args, '--no-color'], { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env }, now: () => NOW })
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
  return {
    folder,
    define(zone, records, more = '') {
      const text = records === null ? 'absent: true\n' : `records:\n${records}`
      writeFileSync(join(folder, 'zones', `${zone}.yaml`), `domain: ${zone}\n${more}${text}`)
    },
    run,
    apply: (...args) => run('apply', '--yes', ...args),
    read,
    write: (path, text) => writeFileSync(join(folder, path), text),
    served: () => readdirSync(join(folder, 'served')).sort(),
    program(name, text) {
      const path = join(folder, 'programs', name)
      writeFileSync(path, `#!/bin/sh\necho "${name} $*" >> "${folder}/calls"\n${text}\n`)
      chmodSync(path, 0o755)
      return path
    },
    calls: () => {
      try {
        return read('calls')
          .trimEnd()
          .split('\n')
          .map((line) => line.trim())
      } catch {
        return []
      }
    },
  }
}
