/** A service account for tests: its key file, and what the scripted sign-in knows of it. */
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto'
import type { Account } from './sign-in.ts'

export const PROJECT = 'test-project'

export interface TestAccount {
  readonly account: Account
  /** The content of its key file, as the console of Google offers it. */
  readonly keyFile: string
}

/** Made when it is first needed, and once per worker: that takes a tenth of a second or more. */
let keys: KeyPairKeyObjectResult | undefined

export function createTestAccount(tokenUri = 'https://oauth2.googleapis.com/token'): TestAccount {
  keys ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { publicKey, privateKey } = keys
  const email = `dns@${PROJECT}.iam.gserviceaccount.com`
  const keyFile = JSON.stringify({
    type: 'service_account',
    project_id: PROJECT,
    private_key_id: '1'.repeat(40),
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: email,
    client_id: '1'.repeat(21),
    token_uri: tokenUri,
  })
  return { account: { email, publicKey }, keyFile }
}
