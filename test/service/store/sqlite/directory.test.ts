import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startService } from '../../../../src/service/index.ts'
import { LOOPBACK, temporaryDirectory } from '../../harness.ts'
import { serviceProcesses } from '../../service-process.ts'

const serve = serviceProcesses()

test('one process locks the directory; its death releases the lock', async () => {
  const directory = temporaryDirectory()
  const { pid, kill } = await serve({ dataDirectory: directory })
  const start = () => startService({ dataDirectory: directory, listen: LOOPBACK, dns: null, bootstrapToken: 'bootstrap' })
  await expect(start()).rejects.toThrow(`the data directory ${directory} is in use by process ${pid}`)
  await kill()
  const service = await start()
  await expect(start()).rejects.toThrow(`in use by process ${process.pid}`)
  await service.stop()
  await (await start()).stop()
})

test('all data of a stopped service is in one file, without plain-text tokens', async () => {
  const directory = temporaryDirectory()
  const { token, stop } = await startService({ dataDirectory: directory, listen: LOOPBACK, dns: null })
  await stop()
  // The library closes a file after the garbage collection of its statements: until then an empty log may exist.
  const log = join(directory, 'service.db-wal')
  if (existsSync(log)) expect(statSync(log).size).toBe(0)
  const files = readdirSync(directory).filter((name) => !/-(shm|wal)$/.test(name))
  // The folder of images is for uploaded data.
  expect(files.sort()).toEqual(['images', 'secrets.key', 'service.db', 'service.lock'])
  expect(readdirSync(join(directory, 'images'))).toEqual([])
  expect(readFileSync(join(directory, 'service.db')).includes(token as string)).toBe(false)
})
