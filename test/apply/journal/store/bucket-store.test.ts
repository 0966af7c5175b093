import { afterAll, beforeAll } from 'vitest'
import { bucketStore } from '../../../../src/apply/journal/store/bucket-store.ts'
import { noSecrets } from '../../../../src/definition/config/secret-guard.ts'
import { MOTO, type Moto, type StoreProxy, startMoto, startStoreProxy } from '../../../support/moto.ts'
import { describeWithTools } from '../../../support/skip.ts'
import { storeContract } from './store-contract.ts'

describeWithTools([MOTO], 'moto', () => {
  let moto: Moto
  let proxy: StoreProxy
  beforeAll(async () => {
    moto = await startMoto()
    proxy = await startStoreProxy(moto.origin)
  }, 60_000)
  afterAll(async () => {
    await proxy?.close()
    moto?.stop()
  })

  storeContract('a bucket of moto', async () => {
    await fetch(`${moto.origin}/dns-journal`, { method: 'PUT' })
    return bucketStore(
      {
        name: 'dns-journal',
        prefix: 'prod/zones',
        region: null,
        endpoint: new URL(proxy.origin),
        profile: null,
        at: { file: 'a', line: 1, column: 1 },
      },
      { env: { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG' }, secrets: noSecrets() },
    )
  })
})
