/** The lock file has a SHA-512 of every package, and npm installs nothing else. The registry is one on this machine. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { type Registry, startRegistry } from './local-registry.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
type LockEntry = { version?: string; integrity?: string; resolved?: string; inBundle?: boolean; link?: boolean }
type Lock = { lockfileVersion: number; packages: Record<string, LockEntry> }
const readLock = (folder: string): Lock => JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock
const writeLock = (folder: string, lock: Lock): void => writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
const checkLock = (folder: string, ...args: string[]) => runTool('node', [join(PROJECT, 'scripts/check-lock-file.mjs'), ...args, folder])
const SHA_1 = 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk='
const otherSystem = process.platform === 'linux' ? 'darwin' : 'linux'

/** `direct` and `indirect` are required; `optional` and `elsewhere` are optional, the latter for another system. */
const PACKAGES = [
  { name: 'direct', version: '1.0.0', content: 'direct 1', dependencies: { indirect: '2.0.0' } },
  { name: 'indirect', version: '1.0.0', content: 'indirect 1' },
  { name: 'indirect', version: '2.0.0', content: 'indirect 2' },
  { name: '@scope/optional', version: '1.0.0', content: 'optional 1', os: [process.platform] },
  { name: 'elsewhere', version: '1.0.0', content: 'elsewhere 1', os: [otherSystem] },
]

/** A project whose lock file npm wrote, without addresses. */
async function lockedProject(registry: Registry): Promise<string> {
  const folder = temporaryDirectory()
  const dependencies = { direct: '1.0.0', indirect: '1.0.0' }
  const optionalDependencies = { '@scope/optional': '1.0.0', elsewhere: '1.0.0' }
  const facts = { name: 'project', version: '1.0.0', dependencies, optionalDependencies }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(facts))
  const { status, stderr } = await registry.npm(folder, 'install', '--package-lock-only', '--omit-lockfile-registry-resolved')
  expect(stderr).not.toContain('npm error')
  expect(status).toBe(0)
  return folder
}

describe('npm with a local registry', { tags: ['servers'] }, () => {
  test('--fix restores the lock file as npm wrote it, for packages of other systems too', async () => {
    const registry = await startRegistry()
    for (const facts of PACKAGES) await registry.publish(facts)
    const folder = await lockedProject(registry)
    const whole = readLock(folder)
    const lock = readLock(folder)
    for (const path of ['node_modules/direct/node_modules/indirect', 'node_modules/elsewhere', 'node_modules/@scope/optional'])
      delete lock.packages[path]?.integrity
    Object.assign(lock.packages['node_modules/direct'] ?? {}, { resolved: `${registry.url}direct/-/direct-1.0.0.tgz` })
    Object.assign(lock.packages['node_modules/indirect'] ?? {}, { integrity: SHA_1 })
    writeLock(folder, lock)
    expect(await checkLock(folder)).toMatchObject({ status: 1 })
    const fixed = await runTool('node', [join(PROJECT, 'scripts/check-lock-file.mjs'), '--fix', folder], { env: registry.env() })
    expect(fixed).toMatchObject({ status: 0, stderr: '' })
    expect(readLock(folder)).toEqual(whole)
    expect(await registry.npm(folder, 'ci')).toMatchObject({ status: 0 })
  })
})

describe("the project's lock file", () => {
  test('passes, and .ci/run checks it before the installation', async () => {
    expect(await checkLock(PROJECT)).toMatchObject({ status: 0, stderr: '' })
    const steps = readFileSync(join(PROJECT, '.ci/run'), 'utf8').match(/^stage .*/gm)
    expect(steps?.slice(0, 2)).toEqual(['stage "lock file" node scripts/check-lock-file.mjs', 'stage "install" install'])
  })

  const alterations: [name: string, alter: (entry: LockEntry, lock: Lock) => void, message: string][] = [
    ['no checksum', (entry) => delete entry.integrity, 'no SHA-512'],
    ['an empty checksum', (entry) => (entry.integrity = ''), 'no SHA-512'],
    ['SHA-1', (entry) => (entry.integrity = SHA_1), 'no SHA-512'],
    ['a second checksum', (entry) => (entry.integrity += ` sha512-${'A'.repeat(86)}==`), 'no SHA-512'],
    ['a bundled package without a bundle', (entry) => Object.assign(entry, { integrity: undefined, inBundle: true }), 'no SHA-512'],
    ['a registry address', (entry) => (entry.resolved = 'https://registry.example/yaml/-/yaml-2.9.1.tgz'), 'names a registry'],
    ['a git address', (entry) => (entry.resolved = 'git+ssh://git@git.example/yaml.git#0123'), 'not a package from a registry'],
    ['a link', (entry) => (entry.link = true), 'not a package from a registry'],
    ['an older format', (_, lock) => (lock.lockfileVersion = 1), 'lockfileVersion is 1'],
  ]

  test.each(alterations)('with %s fails', async (_, alter, message) => {
    const folder = temporaryDirectory()
    const lock = readLock(PROJECT)
    const entry = lock.packages['node_modules/yaml']
    if (!entry) throw new Error('the project needs another example')
    alter(entry, lock)
    writeLock(folder, lock)
    const { status, stderr } = await checkLock(folder)
    expect(status).toBe(1)
    expect(stderr).toContain(message)
    expect(stderr).toContain('npm run lock')
  })
})
