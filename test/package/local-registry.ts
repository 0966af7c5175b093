import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterThisFile } from '../support/after-file.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool, type ToolResult } from '../support/tools.ts'

export interface PackageFacts {
  readonly name: string
  readonly version: string
  /** What the package's module exports. */
  readonly content: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly os?: readonly string[]
}

/** A package registry on a port of 127.0.0.1. */
export interface Registry {
  readonly url: string
  publish(facts: PackageFacts): Promise<void>
  /** Runs npm in a folder, with this registry and an empty cache. */
  npm(folder: string, ...args: string[]): Promise<ToolResult>
  /** The settings of `npm`, for programs that start npm. */
  readonly env: () => NodeJS.ProcessEnv
}

type Published = { readonly manifest: Record<string, unknown>; readonly archive: Buffer }

export async function startRegistry(): Promise<Registry> {
  const published = new Map<string, Map<string, Published>>()
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('/-/')
    const versions = published.get(name)
    const archive = version === undefined ? undefined : versions?.get(version)?.archive
    if (archive) return response.end(archive)
    if (!versions || version !== undefined) return response.writeHead(404).end('{}')
    const manifests = Object.fromEntries([...versions].map(([key, { manifest }]) => [key, manifest]))
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify({ name, 'dist-tags': { latest: [...versions.keys()].at(-1) }, versions: manifests }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterThisFile(() => server.closeAllConnections())
  afterThisFile(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  const env = (): NodeJS.ProcessEnv => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'npmrc'), '')
    return {
      npm_config_registry: url,
      npm_config_cache: join(folder, 'cache'),
      npm_config_userconfig: join(folder, 'npmrc'),
      npm_config_noproxy: '127.0.0.1',
      npm_config_update_notifier: 'false',
      // npm asks again after ten seconds and more if an archive does not have the checksum that the registry states.
      npm_config_fetch_retries: '0',
      // A silent npm around the tests would hide its errors.
      npm_config_loglevel: 'notice',
    }
  }
  return {
    url,
    env,
    npm: (folder, ...args) => runTool('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, env: env() }),
    async publish(facts) {
      const archive = await pack(facts)
      const { name, version, content: _, ...rest } = facts
      const versions = published.get(name) ?? new Map<string, Published>()
      published.set(name, versions)
      const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
      const dist = { tarball: `${url}${name}/-/${version}`, integrity, shasum: createHash('sha1').update(archive).digest('hex') }
      versions.set(version, { manifest: { name, version, ...rest, dist }, archive })
    },
  }
}

/** The archive of a package as `npm pack` makes it. */
async function pack({ content, ...facts }: PackageFacts): Promise<Buffer> {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'package'))
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify({ ...facts, main: 'index.js' }))
  writeFileSync(join(folder, 'package', 'index.js'), `module.exports = ${JSON.stringify(content)}\n`)
  const { status, stderr } = await runTool('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder })
  if (status !== 0) throw new Error(stderr)
  return readFileSync(join(folder, 'package.tgz'))
}
