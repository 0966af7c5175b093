import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../../src/service/index.ts'
import { connect, LOOPBACK, temporaryDirectory } from './harness.ts'

const root = resolve(fileURLToPath(import.meta.url), '../../..')
// Beside the packages it loads, where nothing else looks.
const program = join(root, 'node_modules', `.zonewright-serve-${process.pid}.mjs`)

beforeAll(async () => {
  await build({
    entryPoints: [join(root, 'test/service/fixtures/serve.ts')],
    outfile: program,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  })
})
afterAll(() => rmSync(program, { force: true }))

/** Starts the service on a directory; resolves when it serves. */
async function serve(directory: string): Promise<{ process: ChildProcess; baseUrl: string }> {
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { process: child, ...JSON.parse(line) }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  expect((await exited)[1]).toBe('SIGKILL')
}

test('nothing that was acknowledged is lost when the process is killed', { timeout: 60_000 }, async () => {
  const directory = temporaryDirectory()
  const acknowledged = { created: new Map<number, string>(), asked: new Set<number>(), deleted: new Set<number>() }
  let domainId = 0
  for (let round = 0; round < 3; round += 1) {
    const { process: child, baseUrl } = await serve(directory)
    const { client, close } = connect(baseUrl, 'bootstrap')
    if (domainId === 0) {
      domainId = (await client.ok('POST', '/domains', { domain: 'kept.example', type: 'master', soa_email: 'a@kept.example' })).id
    }
    const path = `/domains/${domainId}/records`
    let killed = false
    const writers = Array.from({ length: 16 }, async (_, writer) => {
      for (let index = 0; !killed; index += 1) {
        try {
          const name = `r${round}-${writer}-${index}`
          const { id } = await client.ok('POST', path, { type: 'A', name, target: '192.0.2.1' })
          acknowledged.created.set(id, name)
          if (index % 4 === 3) {
            acknowledged.asked.add(id)
            await client.ok('DELETE', `${path}/${id}`)
            acknowledged.deleted.add(id)
          }
        } catch (error) {
          if (!killed) throw error
        }
      }
    })
    await new Promise((done) => setTimeout(done, 400))
    killed = true
    await kill(child)
    await Promise.all(writers)
    await close()
  }

  expect(acknowledged.created.size).toBeGreaterThan(100)
  const service = await startService({ dataDirectory: directory, listen: LOOPBACK, dns: null, bootstrapToken: 'bootstrap' })
  const { client, close } = connect(service.baseUrl, 'bootstrap')
  try {
    const path = `/domains/${domainId}/records`
    const first = await client.ok('GET', `${path}?page_size=500`)
    const kept = new Map<number, string>(first.data.map((record: { id: number; name: string }) => [record.id, record.name]))
    for (let page = 2; page <= first.pages; page += 1) {
      for (const { id, name } of (await client.ok('GET', `${path}?page_size=500&page=${page}`)).data) kept.set(id, name)
    }
    expect(first.results).toBe(kept.size)
    // A delete that was under way when the process was killed may or may not have been done.
    const mustStand = [...acknowledged.created].filter(([id]) => !acknowledged.asked.has(id))
    expect(mustStand.filter(([id, name]) => kept.get(id) !== name)).toEqual([])
    expect([...acknowledged.deleted].filter((id) => kept.has(id))).toEqual([])
    const zone = (await client.ok('GET', `/domains/${domainId}/zone-file`)).zone_file.join('\n')
    for (const name of kept.values()) expect(zone).toContain(`\n${name}\t`)
  } finally {
    await close()
    await service.stop()
  }
})

test('the directory is one process’s, and free when that is killed', { timeout: 30_000 }, async () => {
  const directory = temporaryDirectory()
  const { process: child } = await serve(directory)
  const start = () => startService({ dataDirectory: directory, listen: LOOPBACK, dns: null, bootstrapToken: 'bootstrap' })
  await expect(start()).rejects.toThrow(`the data directory ${directory} is in use by process ${child.pid}`)
  await kill(child)
  const service = await start()
  await expect(start()).rejects.toThrow(`in use by process ${process.pid}`)
  await service.stop()
  await (await start()).stop()
})
