import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { plainTextSecretWarnings, resolveSecret } from '../../src/config/resolve-secret.ts'
import { folderWith } from '../definition/files.ts'

const AT = { file: 'zonewright.yaml', line: 3, column: 5 }

describe('resolveSecret', () => {
  const folder = folderWith({
    'keys/token': 's3cret\n',
    'keys/windows': 's3cret\r\n\r\n',
    'keys/inner': 'two\nlines\n',
    'keys/empty': '\n',
    'keys/latin1': Buffer.from('s\xe9cret', 'latin1'),
    'keys/large': 'x'.repeat(70_000),
  })
  const source = { folder, env: { TOKEN: 's3cret', EMPTY: '' }, loaded: noSecrets() }

  test.each<[reference: string, value: string]>([
    ['env:TOKEN', 's3cret'],
    ['file:keys/token', 's3cret'],
    ['file:./keys/windows', 's3cret'],
    [`file:${join(folder, 'keys/token')}`, 's3cret'],
    ['file:keys/inner', 'two\nlines'],
    ['plain', 'plain'],
  ])('%s', async (reference, value) => {
    expect(await resolveSecret(reference, 'providers.cloud.token', AT, source)).toEqual({ value, diagnostic: null })
  })

  test.each<[reference: string, message: string]>([
    ['env:MISSING', 'providers.cloud.token: the environment variable MISSING is not set'],
    ['env:EMPTY', 'providers.cloud.token: the environment variable EMPTY is not set'],
    ['env:__proto__x', 'providers.cloud.token: the environment variable __proto__x is not set'],
    ['file:keys/none', 'providers.cloud.token: the file keys/none does not exist'],
    ['file:keys', 'providers.cloud.token: the file keys is a folder, not a file'],
    ['file:keys/empty', 'providers.cloud.token: the file keys/empty is empty'],
    ['file:keys/latin1', 'providers.cloud.token: the file keys/latin1 is not UTF-8 text'],
    ['file:keys/large', 'providers.cloud.token: the file keys/large is larger than 65536 octets'],
    ['', 'providers.cloud.token: the value is empty'],
    ['$TOKEN', 'providers.cloud.token: the reference has the syntax of another tool'],
    ['\u0024{TOKEN}', 'providers.cloud.token: the reference has the syntax of another tool'],
    ['\u0024{{ secrets.TOKEN }}', 'providers.cloud.token: the reference has the syntax of another tool'],
    ['env/TOKEN', 'providers.cloud.token: the reference has the syntax of another tool'],
  ])('%s is missing', async (reference, message) => {
    const { value, diagnostic } = await resolveSecret(reference, 'providers.cloud.token', AT, source)
    expect(value).toBeNull()
    expect(diagnostic).toMatchObject({ severity: 'error', code: 'secret-missing', message, at: AT })
  })

  it('never shows a value in a message', async () => {
    const { diagnostic } = await resolveSecret('file:keys/large', 'x', AT, source)
    expect(JSON.stringify(diagnostic)).not.toContain('xxxx')
  })
})

it('warns of secrets at any depth of the settings', () => {
  const at = { file: 'zonewright.yaml', line: 1, column: 1 }
  const options = { auth_pass: 'x', auth_consumer_key: 'x', auth_service_account_info: 'base64::x', auth_key_id: 'x' }
  const settings = { tsig: { name: 'k.', secret: 'abc=' }, keys: [{ password: 'x' }, { password: 'env:P' }], options }
  const warnings = plainTextSecretWarnings({ name: 'lab', type: 'x', settings, at, placeOf: () => at })
  expect(warnings.map(({ message }) => message)).toEqual([
    'providers.lab.tsig.secret contains a secret in plain text',
    'providers.lab.keys.0.password contains a secret in plain text',
    ...['pass', 'consumer_key', 'service_account_info'].map((key) => `providers.lab.options.auth_${key} contains a secret in plain text`),
  ])
})
