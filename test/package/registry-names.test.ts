/** Nobody owns the name `zonewright` in the package registry, nor those of provider packages: no text for users runs or installs them by name. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))

/** The package by name, not a file, an address or a folder (`./zonewright-0.1.0.tgz`). */
const NAME = String.raw`(?<![\w./:@-])zonewright(?:-provider-[\w-]+)?(?:@[\w^~.$\{]+)?(?![\w./-])`

const INSTALLS_BY_NAME = [
  new RegExp(String.raw`\b(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|ci|exec|x|dlx|create|init|update|view|pack)\b[^\n\x60&|;]*?${NAME}`),
  new RegExp(String.raw`\b(?:npx|pnpx|bunx)\s+(?!--no-install\b|--no\b)[^\n\x60&|;]*?${NAME}`),
  /(?<![\w-])zonewright@(?:[\d^~$]|latest|next|VERSION)/,
  /npmjs\.(?:com|org)/,
]

const findings = (text: string): string[] => text.split('\n').filter((line) => INSTALLS_BY_NAME.some((pattern) => pattern.test(line)))

test.each([
  ['npx zonewright plan', true],
  ['npx --yes zonewright plan', true],
  ['npm install --save-dev zonewright', true],
  ['npm install --global --ignore-scripts zonewright@0.1.0', true],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as a workflow would say it
  ['npm i zonewright@${version}', true],
  ['npm install zonewright-provider-NAME', true],
  ['npm exec zonewright', true],
  ['npm install ./zonewright-0.1.0.tgz', false],
  ['npm install https://releases.example.com/zonewright-0.1.0.tgz', false],
  ['npm install ../zonewright-provider-NAME', false],
  ['npx --no-install zonewright --version', false],
  ['npm ci && zonewright plan', false],
])('%s: %s', (line, isFound) => expect(findings(line).length > 0).toBe(isFound))

test('no file installs or runs the package by name', () => {
  const list = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const all = execFileSync('git', list, { cwd: PROJECT, encoding: 'utf8' }).split('\0')
  const [texts, others] = [/\.(?:ts|mjs|js|json|md|yaml|yml|sh|html|py)$|^Containerfile$/, /^(?:test|bench)\/|^package-lock\.json$/]
  const files = all.filter((file) => texts.test(file) && !others.test(file))
  expect(files.length).toBeGreaterThan(100)
  const found = files
    .filter((file) => existsSync(join(PROJECT, file)))
    .flatMap((file) => findings(readFileSync(join(PROJECT, file), 'utf8')).map((line) => `${file}: ${line.trim()}`))
  expect(found).toEqual([])
})

test('npm installs nothing for the peer dependency of the template of a provider package', () => {
  const text = readFileSync(join(PROJECT, 'templates/provider/package.json'), 'utf8')
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(text) as Record<string, Record<string, unknown>>
  expect(Object.keys(peerDependencies ?? {})).toEqual(['zonewright'])
  expect(peerDependenciesMeta).toEqual({ zonewright: { optional: true } })
})

test('the base images of the container file are pinned by digest, the tarball by its checksum, and the user is not root', () => {
  const text = readFileSync(join(PROJECT, 'Containerfile'), 'utf8')
  const bases = [...text.matchAll(/^ARG \w+=(docker\.io\/.*)$/gm)].map(([, base]) => base)
  expect(bases.length).toBe(2)
  for (const base of bases) expect(base).toMatch(/^docker\.io\/library\/[\w.:-]+-slim@sha256:[0-9a-f]{64}$/)
  expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from)).toEqual(['NODE', 'DEBIAN'].map((name) => `$\{${name}}`))
  expect(text.indexOf('sha256sum --check --strict')).toBeLessThan(text.indexOf('tar -xzf'))
  expect(text.lastIndexOf('\nUSER 65534:65534\n')).toBeGreaterThan(text.lastIndexOf('\nFROM '))
  expect(text).toContain('\nENTRYPOINT ["zonewright"]\n')
})
