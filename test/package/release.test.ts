/** The release script, run as a user runs it, in copies of this repository: the same commit gives the same tarball, and nothing else gets into it. */
import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { contentProblems } from '../../scripts/release/contents.mjs'
import { preAuthenticationEncoding } from '../../scripts/release/provenance.mjs'
import { releaseManifest, shrinkwrapOf } from '../../scripts/release/shrinkwrap.mjs'
import { expectEnd } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool, type ToolResult } from '../support/tools.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const AS = ['-c', 'safe.directory=*', '-c', 'user.name=t', '-c', 'user.email=t@example.com']
const git = (cwd: string, ...args: string[]): string => execFileSync('git', [...AS, ...args], { cwd, encoding: 'utf8' })

/** A repository with one commit: the files of this one that a release is made from, as they are now. */
function copyOfRepository(): string {
  const folder = temporaryDirectory()
  const files = git(PROJECT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0')
  const released = /^(?:src|scripts|docs|schemas|zones|templates|examples)\/|^[\w.-]+$/
  for (const file of files.filter((one) => released.test(one) && existsSync(join(PROJECT, one)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(PROJECT, file), join(folder, file))
  }
  git(folder, 'init', '-q', '.')
  alterPackages(folder)
  git(folder, 'add', '-A')
  const dates = { GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z', GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z' }
  execFileSync('git', [...AS, 'commit', '-q', '-m', 'release'], { cwd: folder, env: { ...process.env, ...dates } })
  return folder
}

/** Packages of the checkout that are not those of package-lock.json, with their names: a release uses none of them. */
function alterPackages(folder: string): void {
  for (const name of ['esbuild', 'commander', 'ipaddr.js']) {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true })
    writeFileSync(join(folder, 'node_modules', name, 'index.js'), 'throw new Error("altered")\n')
  }
  writeFileSync(join(folder, '.git/info/exclude'), 'node_modules\n')
}

const release = (folder: string, ...args: string[]): Promise<ToolResult> =>
  runTool(process.execPath, [join(folder, 'scripts/release.mjs'), ...args], { cwd: folder, timeout: 150_000 })

describeWithTools(['git', 'npm', 'tar'], 'a release', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  let repository: string
  let out: string
  let version: string
  const read = (name: string): Buffer => readFileSync(join(out, name))

  beforeAll(async () => {
    repository = copyOfRepository()
    version = (JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }).version
    const key = join(temporaryDirectory(), 'key.pem')
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    out = join(repository, 'release')
    const named = ['--url', 'https://releases.example.com/v1/', '--builder', 'https://ci.example.com']
    const { status, stderr } = await release(repository, ...named, '--sign-key', key)
    expect(`${status} ${stderr}`).toMatch(/^0 /)
  })

  test('has the same octets in another folder, without a key too', async () => {
    const clone = temporaryDirectory()
    git(clone, 'clone', '-q', repository, '.')
    const other = join(temporaryDirectory(), 'out')
    expect(await release(clone, '--url', 'https://releases.example.com/v1', '--out', other)).toMatchObject({ status: 0 })
    expect(readFileSync(join(other, `zonewright-${version}.tgz`)).equals(read(`zonewright-${version}.tgz`))).toBe(true)
    expect(readFileSync(join(other, 'SHA256SUMS')).equals(read('SHA256SUMS'))).toBe(true)
    const parts = ['-docs.tar.gz', '-notes.md', '.intoto.json', '.tgz'].map((end) => `zonewright-${version}${end}`)
    expect(readdirSync(other).sort()).toEqual(['SHA256SUMS', ...parts])
    expect(git(clone, 'status', '--porcelain')).toBe('')
  })

  test('states its checksums, commit and packages; the signature is that of the key', () => {
    const names = ['.tgz', '-docs.tar.gz', '-notes.md'].map((end) => `zonewright-${version}${end}`)
    const sums = names.map((name) => ({ name, sha256: createHash('sha256').update(read(name)).digest('hex') }))
    expect(read('SHA256SUMS').toString()).toBe(sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''))
    const text = read(`zonewright-${version}.intoto.json`)
    const { subject, predicate } = JSON.parse(text.toString())
    expect(subject).toEqual(sums.map(({ name, sha256 }) => ({ name, digest: { sha256 } })))
    expect(predicate.runDetails).toEqual({ builder: { id: 'https://ci.example.com' } })
    const [source, ...packages] = predicate.buildDefinition.resolvedDependencies
    expect(source.digest).toEqual({ gitCommit: git(repository, 'rev-parse', 'HEAD').trim() })
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; integrity: string }>
    }
    const { version: esbuild, integrity } = lock.packages['node_modules/esbuild'] as { version: string; integrity: string }
    const sha512 = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
    expect(packages).toContainEqual({ uri: `pkg:npm/esbuild@${esbuild}`, digest: { sha512 } })
    for (const { digest } of packages) expect(digest.sha512).toMatch(/^[0-9a-f]{128}$/)
    const { payload, payloadType, signatures } = JSON.parse(read(`zonewright-${version}.intoto.dsse.json`).toString())
    expect(Buffer.from(payload, 'base64').equals(text)).toBe(true)
    const signed = preAuthenticationEncoding(payloadType, text)
    expect(verify(null, signed, createPublicKey(privateKey), Buffer.from(signatures[0].sig, 'base64'))).toBe(true)
  })

  test('has the documents as a site', () => {
    const user = temporaryDirectory()
    execFileSync('tar', ['-xzf', join(out, `zonewright-${version}-docs.tar.gz`), '-C', user])
    const site = join(user, `zonewright-${version}-docs`)
    expect(readFileSync(join(site, 'index.html'), 'utf8')).toContain('href="docs/installing.html"')
    expect(readFileSync(join(site, 'docs/installing.html'), 'utf8')).toContain('href="../site/site.css"')
  })

  test('has the changes of its version alone as notes, and is refused without them', async () => {
    const notes = read(`zonewright-${version}-notes.md`).toString()
    expect(notes).toMatch(new RegExp(`^# Zonewright ${version}\n\n`))
    expect(notes).not.toMatch(/^## |\]\((?!https?:)/m)
    const before = git(repository, 'rev-parse', 'HEAD').trim()
    const changelog = join(repository, 'CHANGELOG.md')
    writeFileSync(changelog, readFileSync(changelog, 'utf8').replace(`\n## ${version}\n`, '\n## 0.0.1\n'))
    git(repository, 'commit', '-q', '-a', '-m', 'no notes')
    const refused = await release(repository, '--out', join(repository, 'release/other'))
    git(repository, 'reset', '-q', '--hard', before)
    expect(`${refused.status} ${refused.stderr}`).toMatch(/^1 release: CHANGELOG\.md does not say what version /)
  })

  test('knows its address; it has the licences of bundled packages, and a lock file for the others only', async () => {
    const user = temporaryDirectory()
    execFileSync('tar', ['-xzf', join(out, `zonewright-${version}.tgz`), '-C', user])
    const packed = (path: string): string => readFileSync(join(user, 'package', path), 'utf8')
    const { scripts, devDependencies, dependencies } = JSON.parse(packed('package.json'))
    expect([scripts, devDependencies, Object.keys(dependencies)]).toEqual([undefined, undefined, expect.arrayContaining(['libsql', 'pg'])])
    const locked = Object.entries<{ integrity: string }>(JSON.parse(packed('npm-shrinkwrap.json')).packages).slice(1)
    for (const name of Object.keys(dependencies)) expect(locked.map(([path]) => path)).toContain(`node_modules/${name}`)
    for (const [, { integrity }] of locked) expect(integrity).toMatch(/^sha512-/)
    expect(locked.map(([path]) => path)).not.toContain('node_modules/undici')
    expect(packed('THIRD-PARTY-LICENSES.txt')).toMatch(/^undici \d.*\n\nMIT License$/m)
    const folder = temporaryDirectory()
    const program = join(user, 'package/dist/zonewright.js')
    expectEnd(await runTool(process.execPath, [program, 'init'], { cwd: folder }), 0, { out: /^Set ZONEWRIGHT_CHECKSUM in /m })
    expect(readFileSync(join(folder, '.github/workflows/dns.yml'), 'utf8')).toContain(
      `  ZONEWRIGHT_TARBALL: 'https://releases.example.com/v1/zonewright-${version}.tgz'\n  ZONEWRIGHT_CHECKSUM: ''\n`,
    )
  })

  test('is refused if the tree has changes, also if the only change is a new file', async () => {
    writeFileSync(join(repository, 'docs/extra.md'), 'text\n')
    const refused = await release(repository)
    expect(refused.status).toBe(1)
    expect(refused.stderr).toMatch(/^release: the tree has changes; commit them first:\n\?\? docs\/extra\.md\n$/)
    rmSync(join(repository, 'docs/extra.md'))
  })

  test('is refused if a committed file is none that users get', async () => {
    const before = git(repository, 'rev-parse', 'HEAD').trim()
    writeFileSync(join(repository, 'docs/notes.test.ts'), 'text\n')
    writeFileSync(join(repository, 'docs/key.md'), `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n`)
    git(repository, 'add', '-A')
    git(repository, 'commit', '-q', '-m', 'extra')
    const { status, stderr } = await release(repository, '--out', join(repository, 'release/other'))
    git(repository, 'reset', '-q', '--hard', before)
    expect(status).toBe(1)
    expect(stderr).toContain('docs/notes.test.ts: no release has files of this name\n')
    expect(stderr).toContain('docs/key.md: has what looks like a private key\n')
    expect(existsSync(join(repository, 'release/other'))).toBe(false)
  })
})

describe('the contents of a tarball', () => {
  const TRACKED = new Set(['docs/page.md', 'docs/.env', 'test/a.json', 'dist/zonewright.js', 'docs/token.md'])
  test.each([
    ['docs/stray.md', 'text', 'docs/stray.md: neither built nor a file of the repository'],
    ['dist/chunks/evil.sh', 'text', 'dist/chunks/evil.sh: neither built nor a file of the repository'],
    ['dist/chunks/a.js', '//# sourceMappingURL=a.js.map', 'dist/chunks/a.js: refers to a source map'],
    ['dist/chunks/a.js', 'const at = "/builder/project/x"', 'dist/chunks/a.js: contains /builder/project'],
    ['docs/.env', 'TOKEN=1', 'docs/.env: no release has files of this name'],
    ['test/a.json', '{}', 'test/a.json: not for users'],
    ['docs/token.md', `ghp_${'a'.repeat(36)}`, 'docs/token.md: has what looks like a token of GitHub'],
    ['docs/page.md', 'x'.repeat(1_500_001), 'docs/page.md: 1500001 octets, more than 1500000'],
  ])('%s is refused', (path, text, problem) => {
    const folder = temporaryDirectory()
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    const problems = contentProblems(folder, { tracked: TRACKED, forbidden: ['/builder/project'] })
    expect(problems.filter((one: string) => !one.endsWith(': missing'))).toEqual([problem])
    expect(problems).toContain('dist/provider.mjs: missing')
  })

  test('a link is refused', () => {
    const folder = temporaryDirectory()
    symlinkSync('/etc/passwd', join(folder, 'LICENSE'))
    expect(contentProblems(folder, { tracked: TRACKED })).toContain('LICENSE: neither a file nor a folder')
  })
})

test('the lock file of a release has the dependencies that are not bundled, as Node.js finds them, for all systems', () => {
  const entry = (dependencies = {}, rest = {}) => ({ version: '1.0.0', integrity: 'sha512-x', dependencies, ...rest })
  const manifest = releaseManifest(
    { name: 'a', version: '1.0.0', scripts: {}, devDependencies: { d: '1' }, dependencies: { bundled: '1', server: '1', '@x/y': '1' } },
    ['server', '@x/*'],
  )
  expect(manifest).toEqual({ name: 'a', version: '1.0.0', dependencies: { server: '1', '@x/y': '1' } })
  const peers = { peerDependencies: { peer: '1', perhaps: '1' }, peerDependenciesMeta: { perhaps: { optional: true } } }
  const packages = {
    'node_modules/bundled': entry(),
    'node_modules/server': entry({ both: '1' }, { dev: true }),
    'node_modules/server/node_modules/both': entry({}, { version: '2.0.0', optionalDependencies: { native: '1', 'not-locked': '1' } }),
    'node_modules/both': entry(),
    'node_modules/native': entry({}, { os: ['other'], optional: true }),
    'node_modules/@x/y': entry({ both: '1' }, peers),
    'node_modules/peer': entry(),
    'node_modules/unrelated': entry(),
  }
  const { packages: kept } = shrinkwrapOf(manifest, { packages })
  expect(Object.keys(kept)).toEqual([
    '',
    'node_modules/@x/y',
    'node_modules/both',
    'node_modules/native',
    'node_modules/peer',
    'node_modules/server',
    'node_modules/server/node_modules/both',
  ])
  const withPeer = (peer?: object) => () => shrinkwrapOf(manifest, { packages: { ...packages, 'node_modules/peer': peer } })
  expect(withPeer()).toThrow('no peer for node_modules/@x/y')
  expect(withPeer({ version: '1.0.0' })).toThrow('no SHA-512 of node_modules/peer')
})
