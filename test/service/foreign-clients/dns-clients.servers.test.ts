/** dns-lexicon and certbot-dns-linode, unchanged; `python/dns_clients_walk.py` uses them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { selfSigned } from '../../support/certificate.ts'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../harness.ts'
import { runClient, startClientService } from './client-service.ts'

const PROGRAM = fileURLToPath(new URL('python/dns_clients_walk.py', import.meta.url))
const python = findForeignClient('python-clients')

describeWithTools([python, 'openssl'], 'dns-lexicon and certbot-dns-linode', () => {
  test.each(['lexicon', 'certbot'])('every operation of %s succeeds', async (name) => {
    // The only host that these clients know.
    const tls = selfSigned('test', ['rsa:2048'], 'DNS:api.linode.com')
    const { environment } = await startClientService({ tls })
    const folder = temporaryDirectory()
    const certificate = join(folder, 'certificate.pem')
    writeFileSync(certificate, tls.cert)
    const { operations, used } = await runClient(python, ['-B', PROGRAM, name], {
      ...environment,
      FOLDER: folder,
      REQUESTS_CA_BUNDLE: certificate,
      TLDEXTRACT_CACHE_PATH: folder,
    })
    expect(operations.length).toBeGreaterThan(5)
    expect(operations.filter((operation: string) => !used.includes(operation))).toEqual([])
  })
})
