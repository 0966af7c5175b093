import { expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

test.each<[string, string, RegExp]>([
  ['is endless', '/dev/zero', /^error\[service-start\] \/dev\/zero is larger than 1000000 octets\n$/],
  ['is missing', 'nothing.pem', /^error\[service-start\] ENOENT: .*nothing\.pem'\n$/],
  ['is a folder', '.', /^error\[service-start\] EISDIR: /],
  ['is empty', '/dev/null', /^error\[service-start\] the service cannot start: the certificate is empty\n$/],
])('serve does not start if the certificate %s', async (_name, file, message) => {
  const args = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none', '--tls-cert', file, '--tls-key', '/dev/null']
  const { status, stderr } = await cli(args, { cwd: temporaryDirectory() })
  expect(status).toBe(1)
  expect(stderr).toMatch(message)
})
