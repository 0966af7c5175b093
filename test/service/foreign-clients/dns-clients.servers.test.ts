/** dns-lexicon and certbot-dns-linode, unchanged; `python/dns_clients_walk.py` uses them. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../harness.ts'
import { runClient, startBehindProxy } from './client-service.ts'
import { expectRow, pinnedVersion } from './client-table.ts'

const PROGRAM = fileURLToPath(new URL('python/dns_clients_walk.py', import.meta.url))
const python = findForeignClient('python-clients')

describeWithTools([python, 'openssl'], 'dns-lexicon and certbot-dns-linode', () => {
  test.each([
    ['lexicon', 'dns-lexicon'],
    ['certbot', 'certbot-dns-linode'],
  ])('every operation of %s succeeds', async (name, client) => {
    const { environment } = await startBehindProxy()
    const folder = temporaryDirectory()
    const { operations, used } = await runClient(python, ['-B', PROGRAM, name], {
      ...environment,
      FOLDER: folder,
      TLDEXTRACT_CACHE_PATH: folder,
    })
    expect(operations.filter((operation: string) => !used.includes(operation))).toEqual([])
    expectRow(client, pinnedVersion('python/requirements.txt', client), operations.length)
  })
})
