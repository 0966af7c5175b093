/** Folders with a config whose provider `live` is a service of dns-lexicon. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cli } from '../../support/cli.ts'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

export const LEXICON_PYTHON = findForeignClient('cloud-clients')
const PROGRAMS = join(import.meta.dirname, 'python')

export interface LexiconScene {
  readonly service: string
  readonly options: Readonly<Record<string, string>>
  /** Where its requests go; to nowhere else if `hosts` are given. */
  readonly server?: string
  readonly hosts?: readonly string[]
  /** A folder with more services. */
  readonly services?: string
  /** More settings of the provider, in flow style. */
  readonly more?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A folder that Python reads when it starts, so that it reaches the server. */
export function pythonFolder({ server = '', hosts = [], services = '' }: Pick<LexiconScene, 'server' | 'hosts' | 'services'>): string {
  const folder = temporaryDirectory()
  const text = [server, hosts, services].map((one) => (one === '' ? 'None' : JSON.stringify(one))).join(', ')
  writeFileSync(
    join(folder, 'sitecustomize.py'),
    `import sys\nsys.path.append(${JSON.stringify(PROGRAMS)})\nimport lexicon_scene\nlexicon_scene.start(${text})\n`,
  )
  return folder
}

/** Options whose values are secrets, as references to variables, and these. */
export function secretOptions(options: LexiconScene['options']) {
  const names = Object.entries(options).map(([key, value], index) => [key, `OPTION_${index}`, value] as const)
  return {
    text: `{${names.map(([key, name]) => `${key}: env:${name}`).join(', ')}}`,
    env: Object.fromEntries(names.map(([, name, value]) => [name, value])),
  }
}

export const lexiconEntry = (service: string, options: string, more = ''): string =>
  `{type: lexicon, provider: ${service}, python: '${LEXICON_PYTHON}', options: ${options}${more}}`

export function lexiconScene(scene: LexiconScene) {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const { text, env } = secretOptions(scene.options)
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: ${lexiconEntry(scene.service, text, scene.more)}\n`)
  const variables = { PATH: process.env['PATH'] ?? '', PYTHONPATH: pythonFolder(scene), PYTHONDONTWRITEBYTECODE: '1', ...env, ...scene.env }
  const run = (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: variables })
  return {
    folder,
    env: variables,
    run,
    /** Replaces the definition by the lines of a zone file. */
    define: (lines: readonly string[], name = 'example.com'): void =>
      writeFileSync(
        join(folder, `zones/${name}.zone`),
        `@ 3600 IN SOA ns1.example.net. hostmaster.example.com. 1 2 3 4 5\n${lines.join('\n')}\n`,
      ),
    /** Applies, and returns the zone of the report. */
    apply: async (...args: string[]) => {
      const { stdout, stderr } = await run('apply', '--yes', '--format', 'json', ...args)
      const [zone] = (JSON.parse(stdout || '{"zones":[]}') as { zones: Record<string, unknown>[] }).zones
      return { stderr, ...zone }
    },
  }
}
