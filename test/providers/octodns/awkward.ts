/** A folder with a config whose provider is the class of `python/awkward.py`, an octoDNS provider that misbehaves on request. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliResult, cli } from '../../support/cli.ts'
import { OCTODNS_PYTHON } from '../../support/octodns-python.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

export const PYTHON_FOLDER = join(import.meta.dirname, 'python')
export const TOKEN = 'awkward-token-0123456789'

/** A record of the stored zone, as octoDNS's YAML describes it, with its name. */
export type StoredRecord = Readonly<Record<string, unknown>> & { readonly name: string; readonly type: string }

export interface AwkwardWorkspace {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Replaces the definition of example.com, in flow or block style below `records:`. */
  define(records: string): void
  /** Replaces the stored zone. */
  store(records: readonly StoredRecord[]): void
  stored(): readonly StoredRecord[]
  /** How the class misbehaves from now on; empty for not at all. */
  behave(mode: string): void
  /** What the class wrote about its process. */
  process(): {
    readonly pid: number
    readonly argv: readonly string[]
    readonly env: Readonly<Record<string, string>>
    readonly nested: unknown
    readonly cwd: string
  }
  /** How often the class has read a zone, and how often it was created. */
  reads(): number
  made(): number
  run(...args: string[]): Promise<CliResult>
}

const KEEP: StoredRecord = { name: 'keep', type: 'A', ttl: 300, value: '192.0.2.1' }

/** `settings` are more settings of the provider in flow style, `options` more options of the class. */
export function awkwardWorkspace({ settings = '', options = '', env = {} as Readonly<Record<string, string>> } = {}): AwkwardWorkspace {
  const folder = temporaryDirectory()
  for (const name of ['zones', 'stored']) mkdirSync(join(folder, name))
  const file = (name: string): string => join(folder, 'stored', name)
  const read = (name: string): string => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '')
  const entry = `{type: octodns, class: awkward.AwkwardProvider, python: '${OCTODNS_PYTHON}', options: {folder: stored, token: env:AWKWARD_TOKEN${options}}${settings}}`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  odd: ${entry}\n`)
  const all = { PATH: process.env['PATH'] ?? '', PYTHONPATH: PYTHON_FOLDER, AWKWARD_TOKEN: TOKEN, OTHER_TOKEN: 'another-token', ...env }
  const workspace: AwkwardWorkspace = {
    folder,
    env: all,
    define: (records) => writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\nrecords:\n${records}`),
    store: (records) => writeFileSync(file('example.com.json'), JSON.stringify(records)),
    stored: () => JSON.parse(read('example.com.json')) as StoredRecord[],
    behave: (mode) => writeFileSync(file('mode'), mode),
    process: () => JSON.parse(read('process.json')),
    reads: () => read('reads').split('\n').length - 1,
    made: () => read('made').split('\n').length - 1,
    run: (...args) => cli([...args, '--no-color'], { cwd: folder, env: all }),
  }
  workspace.store([KEEP])
  return workspace
}

export const KEPT = '  keep: {type: A, ttl: 300, value: 192.0.2.1}\n'
