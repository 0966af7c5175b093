import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startService } from '../../../../src/service/index.ts'
import { LOOPBACK, temporaryDirectory } from '../../harness.ts'
import { serviceProcesses } from '../../service-process.ts'

const serve = serviceProcesses()

test('one process locks the folder; its death releases the lock', async () => {
  const folder = temporaryDirectory()
  const { pid, kill } = await serve({ dataFolder: folder })
  const start = () => startService({ dataFolder: folder, listen: LOOPBACK, dns: null, bootstrapToken: 'bootstrap' })
  await expect(start()).rejects.toThrow(`the data folder ${folder} is in use by process ${pid}`)
  await kill()
  const service = await start()
  await expect(start()).rejects.toThrow(`in use by process ${process.pid}`)
  await service.stop()
  await (await start()).stop()
})

test('all data of a stopped service is in one file, without plain-text tokens', async () => {
  const folder = temporaryDirectory()
  const { token, stop } = await startService({ dataFolder: folder, listen: LOOPBACK, dns: null })
  await stop()
  // The library closes a file after the garbage collection of its statements: until then an empty log may exist.
  const log = join(folder, 'service.db-wal')
  if (existsSync(log)) expect(statSync(log).size).toBe(0)
  const files = readdirSync(folder).filter((name) => !/-(shm|wal)$/.test(name))
  // The folder of images is for uploaded data.
  expect(files.sort()).toEqual(['images', 'secrets.key', 'service.db', 'service.lock'])
  expect(readdirSync(join(folder, 'images'))).toEqual([])
  expect(readFileSync(join(folder, 'service.db')).includes(token as string)).toBe(false)
})
