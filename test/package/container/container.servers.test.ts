/** The container file: hadolint checks it; if there is a builder with the base images, the image is built from a release and runs. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { runTool } from '../../support/tools.ts'

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url))
const FILE = join(PROJECT, 'Containerfile')
const text = readFileSync(FILE, 'utf8')
const hadolint = findForeignClient('hadolint')

describeWithTools([hadolint], 'hadolint', () => {
  test('finds nothing in the container file, and finds what is wrong in another', async () => {
    expect(await runTool(hadolint, [FILE])).toMatchObject({ status: 0, stdout: '' })
    const bad = join(temporaryDirectory(), 'Containerfile')
    writeFileSync(
      bad,
      text
        .replace(/@sha256:\w+/g, '')
        .replace(/:[\w.]+-slim/g, '')
        .replace('WORKDIR /data', 'WORKDIR data'),
    )
    const { status, stdout } = await runTool(hadolint, [bad])
    expect(status).toBe(1)
    expect(stdout).toMatch(/DL3000/)
  })
})

/** What stands in for the base images where they cannot be fetched: names of images that the builder has. */
const BASES = ['NODE', 'DEBIAN'].flatMap((name) => {
  const image = process.env[`ZONEWRIGHT_CONTAINER_${name}`]
  return image === undefined ? [] : ['--build-arg', `${name}=${image}`]
})

const succeeds = (command: string, ...words: string[]): boolean => {
  try {
    execFileSync(command, words, { stdio: 'ignore', timeout: 20_000 })
    return true
  } catch {
    return false
  }
}

/** The first builder that works and has the base images, or can fetch them. */
function findBuilder(): string | null {
  const builder = ['podman', 'docker', 'buildah'].find((one) => succeeds(one, 'info'))
  if (builder === undefined) return null
  const bases = BASES.length > 0 ? [] : [...text.matchAll(/^ARG \w+=(docker\.io\/\S+)$/gm)].map(([, base]) => base as string)
  return bases.every((base) => succeeds(builder, 'pull', base)) ? builder : null
}

const builder = findBuilder()
if (builder === null) {
  const line = 'the container image (needs podman, docker or buildah, and the base images)'
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
}

describe.skipIf(builder === null)('the container image', { tags: ['servers'] }, () => {
  const IMAGE = 'localhost/zonewright-test'
  const folder = temporaryDirectory()
  const program = builder as string
  const [version] = [(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }).version]
  const tarball = `zonewright-${version}.tgz`
  const build = (checksum: string) => {
    const args = ['--build-arg', `TARBALL=${tarball}`, '--build-arg', `CHECKSUM=${checksum}`]
    return runTool(program, ['build', ...BASES, ...args, '-t', IMAGE, '-f', FILE, folder])
  }

  beforeAll(async () => {
    const made = await runTool(process.execPath, [join(PROJECT, 'scripts/release.mjs'), '--allow-dirty', '--out', folder], { cwd: PROJECT })
    expect(`${made.status} ${made.stderr}`).toMatch(/^0 /)
    const built = await build(
      createHash('sha256')
        .update(readFileSync(join(folder, tarball)))
        .digest('hex'),
    )
    expect(`${built.status} ${built.stderr}`).toMatch(/^0 /)
  })

  /** Runs a command in a new container with a folder at /data; buildah has no command for that. */
  const run = async (mounted: string, ...words: string[]) => {
    if (program !== 'buildah')
      return runTool(program, ['run', '--rm', '-v', `${mounted}:/data:ro`, '--entrypoint', words[0] as string, IMAGE, ...words.slice(1)])
    const container = execFileSync('buildah', ['from', IMAGE], { encoding: 'utf8' }).trim()
    const result = await runTool('buildah', ['run', '-v', `${mounted}:/data:ro`, container, '--', ...words])
    execFileSync('buildah', ['rm', container], { stdio: 'ignore' })
    return result
  }

  test('is not built from a tarball with another checksum', async () => {
    const { status, stdout, stderr } = await build('0'.repeat(64))
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('did NOT match')
  })

  test('runs the commands, and the service with its database, as a user that is not root', async () => {
    const mounted = temporaryDirectory()
    mkdirSync(join(mounted, 'zones'))
    copyFileSync(join(PROJECT, 'zones/example.net.yaml'), join(mounted, 'zones/example.net.yaml'))
    execFileSync('chmod', ['-R', 'a+rX', mounted])
    expect(await run(mounted, 'zonewright', '--version')).toMatchObject({ status: 0, stdout: `${version}\n` })
    expect(await run(mounted, 'zonewright', 'validate', 'zones')).toMatchObject({ status: 0 })
    expect((await run(mounted, 'id', '-u')).stdout.trim()).toBe('65534')
    expect(await run(mounted, 'zonewright', 'demo')).toMatchObject({ status: 0, stdout: expect.stringContaining('Verified: 4 of 4 zones') })
  })
})
