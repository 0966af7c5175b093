import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { waitForZone } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type TsigKey, transferZone } from '../support/tools.ts'

const secret = (octet: number): string => Buffer.alloc(32, octet).toString('base64')
const key = (name: string, octet: number): TsigKey => ({ name, algorithm: 'hmac-sha256', secret: secret(octet) })

const SERVE = ['serve', '--listen', '127.0.0.1:0', '--dns', '127.0.0.1:0', '--peer-port', '1', '--tsig-keys', 'keys.yaml']

describeWithTools(['dig'], 'serve --tsig-keys', () => {
  test('transfers zones with the keys of the file, and with new keys after SIGHUP', async () => {
    const folder = temporaryDirectory()
    const write = (text: string): void => writeFileSync(join(folder, 'keys.yaml'), text, { mode: 0o600 })
    write(`keys:\n  - {name: one.example, account: admin, secret: env:TRANSFER_SECRET}\n`)
    writeFileSync(join(folder, 'secret'), `${secret(2)}\n`, { mode: 0o600 })
    const env = { ZONEWRIGHT_BOOTSTRAP_TOKEN: 'bootstrap', TRANSFER_SECRET: secret(1) }
    const run = await startProgram(SERVE, { cwd: folder, env })
    onTestFinished(() => run.kill('SIGKILL'))
    await run.until('listening')
    const { http, dns } = JSON.parse(run.stdout())
    const port = Number(dns.split(':')[1])
    const body = JSON.stringify({ domain: 'example.com', type: 'master', soa_email: 'a@example.com', axfr_ips: ['127.0.0.1'] })
    await fetch(`${http}/domains`, {
      method: 'POST',
      body,
      headers: { authorization: 'Bearer bootstrap', 'content-type': 'application/json' },
    })
    await waitForZone(port, 'example.com')
    const given = async (signed?: TsigKey): Promise<boolean> =>
      (await transferZone({ port, name: 'example.com', ...(signed && { key: signed }) })).length > 1
    expect([await given(), await given(key('one.example.', 1)), await given(key('two.example.', 2))]).toEqual([false, true, false])

    write('keys:\n  - {name: two.example, account: nobody, secret: file:secret}\n')
    run.kill('SIGHUP')
    await run.until(
      'The new transfer keys cannot be used, so the former ones stay: the key two.example. belongs to the account of the user "nobody"',
    )
    write('keys:\n  - {name: two.example, account: admin, secret: file:nothing}\n')
    run.kill('SIGHUP')
    await run.until('The former transfer keys stay.\n')
    expect(await given(key('one.example.', 1))).toBe(true)

    write('keys:\n  - {name: two.example, account: admin, secret: file:secret}\n')
    run.kill('SIGHUP')
    await run.until('The transfer keys have been read again.')
    expect([await given(), await given(key('one.example.', 1)), await given(key('two.example.', 2))]).toEqual([false, false, true])
    expect(run.stdout() + run.stderr()).not.toMatch(new RegExp(`${secret(1).slice(0, 20)}|${secret(2).slice(0, 20)}`))
    expect(run.stderr()).not.toContain('tsig-keys-readable')
  })
})

test.each<[string, string, RegExp]>([
  ['with errors', 'keys: [{name: a.example, account: admin}]', /^keys\.yaml:1:8: error\[tsig-keys-invalid\] keys\.secret is required\n$/],
  [
    'whose secret is not in the environment',
    'keys: [{name: a.example, account: admin, secret: env:NOT_SET}]',
    /error\[secret-missing\] secret of the key a\.example: the environment variable NOT_SET is not set/,
  ],
  [
    'of an unknown user',
    `keys: [{name: a.example, account: nobody, secret: ${secret(1)}}]`,
    /error\[service-start\] the service cannot start: the key a\.example\. belongs to the account of the user "nobody", which does not exist\n$/,
  ],
])('serve does not start with a key file %s', async (_name, text, message) => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'keys.yaml'), text, { mode: 0o600 })
  const { status, stdout, stderr } = await cli(SERVE, { cwd: folder })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain(secret(1))
})

test('warns of a key file that other users can read', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'keys.yaml'), 'keys: [{}]')
  chmodSync(join(folder, 'keys.yaml'), 0o644)
  const { stderr } = await cli(SERVE, { cwd: folder })
  expect(stderr).toContain('warning[tsig-keys-readable] keys.yaml has the mode 0644: other users of this machine may read it')
  expect(stderr).toContain('chmod 600 keys.yaml')
})
