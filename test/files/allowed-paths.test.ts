/** The files that a config may name, and the programs that a run may start, in CI. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refusedPath } from '../../src/files/allowed-paths.ts'
import { isUntrusted } from '../../src/files/find-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** `checkout/dns/` has the config, `checkout/module/` is a submodule, `tools/` is elsewhere. */
const root = temporaryDirectory()
for (const path of ['checkout/.git', 'checkout/dns/zones', 'checkout/module', 'checkout/bin', 'tools'])
  mkdirSync(join(root, path), { recursive: true })
for (const path of ['checkout/module/.git', 'checkout/bin/python3', 'tools/python3']) writeFileSync(join(root, path), '')
const link = (path: string, to: string): void => symlinkSync(join(root, to), join(root, path))
link('checkout/dns/out', 'tools')
link('checkout/dns/dangling', 'nowhere')
link('checkout/bin/linked', 'tools/python3')
link('tools/linked', 'checkout/bin/python3')
link('tools/bin', 'checkout/bin')
const scope = (env: Readonly<Record<string, string>>, folder = 'checkout/dns') => ({ folder: join(root, folder), env })

test.each<[path: string, env: Readonly<Record<string, string>>, refused: boolean]>([
  ['checkout/dns', {}, false],
  ['checkout/dns/zones/new/file', {}, false],
  ['checkout', {}, true],
  ['checkout/dns-other', {}, true],
  ['tools', {}, true],
  ['checkout/dns/out', {}, true],
  ['checkout/dns/out/new', {}, true],
  ['checkout/dns/dangling', {}, true],
  ['checkout/dns/dangling/new', {}, true],
  ['tools', { CI: 'false' }, false],
  ['tools', { CI: '' }, false],
  ['tools/x', { ZONEWRIGHT_ALLOWED_PATHS: join(root, 'tools') }, false],
  ['checkout/dns/out/x', { ZONEWRIGHT_ALLOWED_PATHS: `/nonexistent:${join(root, 'tools')}` }, false],
  ['tools', { ZONEWRIGHT_ALLOWED_PATHS: 'tools:.::' }, true],
  ['tools', { CI: '', ZONEWRIGHT_ALLOWED_PATHS: '' }, true],
])('a config may name %s with %j: refused %j', (path, env, refused) =>
  expect(refusedPath(join(root, path), scope({ CI: 'true', ...env })) !== null).toBe(refused),
)

test.each<[path: string, folder: string, env: Readonly<Record<string, string>>, untrusted: boolean]>([
  ['tools/python3', 'checkout/dns', {}, false],
  ['checkout/bin/python3', 'checkout/dns', {}, true],
  ['checkout/bin/python3', 'checkout/dns', { CI: '' }, false],
  ['checkout/bin/python3', 'checkout/module', {}, true],
  ['checkout/bin/linked', 'checkout', {}, true],
  ['tools/linked', 'checkout', {}, true],
  ['tools/bin/linked', 'checkout', {}, true],
  ['checkout/bin/missing', 'checkout', {}, true],
  ['tools/python3', 'tools', {}, true],
  ['checkout/bin/python3', 'tools', {}, false],
  ['checkout/bin/python3', 'tools', { GITHUB_WORKSPACE: join(root, 'checkout') }, true],
  ['checkout/bin/python3', 'tools', { CI_PROJECT_DIR: join(root, 'checkout') }, true],
])('%s for a config in %s with %j: untrusted %j', (path, folder, env, untrusted) =>
  expect(isUntrusted(join(root, path), scope({ CI: 'true', ...env }, folder))).toBe(untrusted),
)
