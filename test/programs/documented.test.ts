/** The programs on the pages of `docs/programs/` make zones without findings. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { openScene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'

const pages = resolve(import.meta.dirname, '../../docs/programs')

/** The code blocks of a page in a language. */
function blocks(page: string, language: string): string[] {
  const found = readFileSync(join(pages, page), 'utf8').matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)
  return [...found].flatMap(([, indent = '', name, text = '']) =>
    name === language ? text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') : [],
  )
}

const [HOSTS = ''] = blocks('hosts-from-csv.md', 'csv')

test.each<
  [page: string, paths: readonly string[], more: Readonly<Record<string, string>>, args: readonly string[], shown: readonly string[]]
>([
  [
    'README.md',
    ['zones/example.ts'],
    { 'data/hosts.csv': HOSTS },
    [],
    ['web1: {type: A, ttl: 300, value: 192.0.2.21, owner: team-web}', "'31': {type: PTR, value: db1.example.com.}"],
  ],
  ['hosts-from-csv.md', ['zones/hosts.ts'], { 'data/hosts.csv': HOSTS }, [], ['db1: {type: A, value: 192.0.2.31, owner: team-data}']],
  [
    'same-mail.md',
    ['zones/mail.ts', 'zones/domains.ts'],
    { 'data/dkim.json': blocks('same-mail.md', 'json')[0] ?? '', 'data/domains.csv': blocks('same-mail.md', 'csv')[0] ?? '' },
    [],
    ['domain: example.com', 'domain: example.org', 'p=reject; rua=mailto:dmarc@example.net'],
  ],
  ['environments.md', ['zones/environments.ts'], {}, [], ['domain: test.example.com', '198.51.100.10']],
  ['environments.md', ['zones/environments.ts'], {}, ['--var', 'environment=production'], ['domain: example.com', '192.0.2.10']],
])('%s: %s', async (page, paths, more, args, shown) => {
  const programs = blocks(page, 'ts')
  expect(programs).toHaveLength(paths.length)
  const [config = ''] = blocks('README.md', 'yaml')
  const rules = config.slice(config.indexOf('zones:'))
  const scene = openScene({ files: { ...Object.fromEntries(paths.map((path, i) => [path, programs[i] ?? ''])), ...more }, config: rules })
  expect(expectEnd(await scene.run('validate', ...args), 0).stdout).toBe('')
  expectEnd(await scene.run('render', ...args), 0, { out: shown })
})
