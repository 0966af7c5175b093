import { expect, test } from 'vitest'
import { createLog } from '../../src/service/observability/log.ts'

test('errors are logged with their message and without added properties', async () => {
  const lines: string[] = []
  const log = await createLog({ level: 'info', write: (line) => lines.push(line) })
  const error = Object.assign(new RangeError('the connection was lost', { cause: Object.assign(new Error('reset'), { key: 'secret' }) }), {
    code: '57P01',
    detail: 'Key (hash)=(secret) exists',
    client: { secretKey: 'secret', connectionParameters: { password: 'secret' } },
  })
  log.error({ error }, 'fault')
  log.error({ error: 'a text' }, 'fault')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'error',
      message: 'fault',
      error: { type: 'RangeError', message: 'the connection was lost', code: '57P01', cause: { message: 'reset' } },
    },
    { error: { message: 'a text' } },
  ])
  expect(lines.join('')).not.toContain('secret')
})
