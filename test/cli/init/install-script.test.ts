/** The script with which CI jobs install the program, with a server for releases on this machine, and what `init` knows of the release. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ciFiles } from '../../../src/cli/init/ci-files.ts'
import { ADD_TO_GITHUB_PATH, cloudNeeds, codeOf, INSTALL_SCRIPT, installPythonPackages } from '../../../src/cli/init/ci-needs.ts'
import { installedRelease, NO_RELEASE } from '../../../src/cli/init/release.ts'
import { afterThisFile } from '../../support/after-file.ts'
import { builtProgram } from '../../support/built-program.ts'
import { selfSigned } from '../../support/certificate.ts'
import { cli, expectEnd } from '../../support/cli.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const listen = async (server: Server | ReturnType<typeof createHttpServer>): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisFile(() => server.close())
  return (server.address() as AddressInfo).port
}

describeWithTools(['curl', 'openssl', 'tar', 'sha256sum'], 'the script that installs a release', () => {
  const { cert, key } = selfSigned('releases')
  const authority = join(temporaryDirectory(), 'ca.pem')
  writeFileSync(authority, cert)
  let tarball: Buffer
  let server: string
  let plain: string
  let requests: string[] = []

  beforeAll(async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'package'))
    cpSync(dirname(await builtProgram()), join(folder, 'package/dist'), { recursive: true })
    execFileSync('tar', ['-czf', 'zonewright.tgz', 'package'], { cwd: folder })
    tarball = readFileSync(join(folder, 'zonewright.tgz'))
    plain = `http://127.0.0.1:${await listen(createHttpServer((_, response) => response.end(tarball)))}`
    const secure = createServer({ cert, key }, ({ url = '' }, response) => {
      requests.push(url)
      if (url === '/moved.tgz') response.writeHead(302, { location: '/zonewright.tgz' }).end()
      else if (url === '/insecure.tgz') response.writeHead(302, { location: `${plain}/zonewright.tgz` }).end()
      else if (url === '/zonewright.tgz') response.end(tarball)
      else response.writeHead(404).end()
    })
    server = `https://127.0.0.1:${await listen(secure)}`
  })

  const sumOf = (algorithm: string, data: Buffer): string => createHash(algorithm).update(data).digest('hex')

  /** What a program writes to standard error. */
  const execute = (program: string, words: readonly string[]): Promise<string> =>
    new Promise((resolve) => execFile(program, words, { cwd: temporaryDirectory() }, (_, __, stderr) => resolve(stderr)))

  interface Installation {
    readonly status: number | null
    readonly output: string
    /** The files that the script left, and the folder that it added to the path. */
    readonly left: readonly string[]
    readonly path: string
  }

  const install = (address: string, checksum: string): Promise<Installation> => {
    requests = []
    const folder = temporaryDirectory()
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    const added = join(folder, 'path')
    writeFileSync(added, '')
    const runner = { PATH: process.env['PATH'], RUNNER_TEMP: temporary, CURL_CA_BUNDLE: authority, GITHUB_PATH: added }
    const env = { ...runner, ZONEWRIGHT_TARBALL: address, ZONEWRIGHT_CHECKSUM: checksum }
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', INSTALL_SCRIPT + ADD_TO_GITHUB_PATH], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
      child.on('error', reject)
      child.on('close', (status) => {
        const left = readdirSync(temporary, { recursive: true, encoding: 'utf8' })
        resolve({ status, output, left, path: readFileSync(added, 'utf8').trim() })
      })
    })
  }

  test.each(['sha256', 'sha512'])('installs the tarball with its %s, by way of a redirect', async (algorithm) => {
    const { status, output, path } = await install(`${server}/moved.tgz`, sumOf(algorithm, tarball))
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('OK') })
    expect(execFileSync(join(path, 'zonewright'), ['--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(requests).toEqual(['/moved.tgz', '/zonewright.tgz'])
    for (const command of ['serve', 'demo', 'backup', 'restore'])
      expect(await execute(join(path, 'zonewright'), [command, '--port', '1', 'x'])).toMatch(
        /^error\[usage\] "\w+" needs packages that this installation of Zonewright lacks, such as \w+ \(.*installing\.md\)\n$/,
      )
  })

  test('unpacks nothing that has another checksum', async () => {
    const other = await install(`${server}/zonewright.tgz`, sumOf('sha256', Buffer.from('another file')))
    expect(other).toMatchObject({ status: 1, path: '' })
    expect(other.output).toContain('FAILED')
    expect(other.left.filter((name) => name.includes('package'))).toEqual([])
  })

  test.each([
    ['no address', '', 'a'.repeat(64)],
    ['no checksum', '/zonewright.tgz', ''],
    ['a checksum that is too short', '/zonewright.tgz', 'a'.repeat(40)],
    ['a checksum with other characters', '/zonewright.tgz', `${'a'.repeat(62)}$x`],
    ['a checksum with a second line', '/zonewright.tgz', `${'a'.repeat(63)}\n${'a'.repeat(64)}`],
  ])('says what to set, and contacts no server: %s', async (_, address, checksum) => {
    const refused = await install(address === '' ? '' : server + address, checksum)
    expect(refused).toMatchObject({ status: 1, path: '' })
    expect(refused.output).toMatch(/^Set ZONEWRIGHT_TARBALL and ZONEWRIGHT_CHECKSUM: /)
    expect(refused.left.filter((name) => name.includes('package'))).toEqual([])
    expect(requests).toEqual([])
  })

  test.each([
    ['plain HTTP', () => `${plain}/zonewright.tgz`],
    ['a redirect to plain HTTP', () => `${server}/insecure.tgz`],
    ['a release that does not exist', () => `${server}/other.tgz`],
  ])('refuses %s', async (_, address) => {
    const refused = await install(address(), sumOf('sha256', tarball))
    expect(refused.status).not.toBe(0)
    expect(refused.output).toMatch(/^curl: /)
    expect(refused).toMatchObject({ path: '', left: [expect.stringMatching(/^zonewright\.\w+$/)] })
  })
})

test('without a release the workflow has empty settings, and init says so', async () => {
  const folder = temporaryDirectory()
  expectEnd(await cli(['init'], { cwd: folder }), 0, {
    out: /^Set ZONEWRIGHT_TARBALL and ZONEWRIGHT_CHECKSUM in \.github\S+ and \.github\S+: each job ends with an error until then\.$/m,
  })
  const text = readFileSync(join(folder, '.github/workflows/dns.yml'), 'utf8')
  expect(text).toMatch(/^ {2}ZONEWRIGHT_TARBALL: ''\n {2}ZONEWRIGHT_CHECKSUM: ''$/m)
  const given = { tarball: 'https://releases.example.com/zonewright-1.2.3.tgz', checksum: 'ab'.repeat(64) }
  const [workflow] = ciFiles('github', given, [], cloudNeeds('ZONEWRIGHT_TOKEN'))
  expect(workflow?.text).toContain(`  ZONEWRIGHT_TARBALL: '${given.tarball}'\n  ZONEWRIGHT_CHECKSUM: '${given.checksum}'\n`)
  expect(existsSync(join(folder, 'package.json'))).toBe(false)
})

const SRI = `sha512-${Buffer.from('ab'.repeat(64), 'hex').toString('base64')}`

test.each([
  ['an address and a checksum', 'https://example.com/z-1.tgz', SRI, 'https://example.com/z-1.tgz', 'ab'.repeat(64)],
  ['a file', 'file:../z-1.tgz', SRI, '', 'ab'.repeat(64)],
  ['plain HTTP', 'http://releases.example.com/z-1.tgz', SRI, '', 'ab'.repeat(64)],
  ['text that would end the quotes', "https://releases.example.com/'; evil", SRI, '', 'ab'.repeat(64)],
  ['an old checksum', 'https://example.com/z-1.tgz', 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=', 'https://example.com/z-1.tgz', ''],
  ['neither', undefined, undefined, '', ''],
])('the release is what npm recorded: %s', (_, resolved, integrity, tarball, checksum) => {
  const modules = temporaryDirectory()
  writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ packages: { 'node_modules/zonewright': { resolved, integrity } } }))
  expect(installedRelease(() => join(modules, 'zonewright'))).toEqual({ tarball, checksum })
})

test('without a record of npm, the release is what the build states', () => {
  const built = { tarball: 'https://releases.example.com/z-2.tgz', checksum: 'cd'.repeat(32) }
  expect(installedRelease(() => join(temporaryDirectory(), 'zonewright'), built)).toEqual(built)
  expect(installedRelease()).toEqual(NO_RELEASE)
})

test('a service of dns-lexicon is allowed by its name, and the shell takes its extra as it is', () => {
  expect(codeOf('lexicon', { provider: 'inwx', options: {} })).toEqual(['lexicon:inwx'])
  expect(installPythonPackages(['octodns==1.2', 'dns-lexicon[inwx]==3.25.2'])).toContain(" octodns==1.2 'dns-lexicon[inwx]==3.25.2' >&2\n")
})
