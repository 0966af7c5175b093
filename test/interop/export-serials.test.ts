/** Exports of zone files over existing ones. The judges are named-checkzone (BIND) and kzonecheck (Knot), which load every result. */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderOf } from '../cli/zone-file-folder.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { runTool } from '../support/tools.ts'

const NOW = '2026-11-23T12:00:00Z'

const definition = (address: string, soa = ''): string =>
  `domain: example.com\nsoa_email: h@example.com\nttl_sec: 300\n${soa}records:\n  '': {type: NS, values: [ns1, ns2.example.net.]}\n  ns1: {type: A, value: ${address}}\n`

const zoneFile = (serial: number, address = '192.0.2.1'): string =>
  `; written by hand\n$TTL 300\n@ SOA ns1 h.example.com. (${serial} 4h 4h 2w 5m) ; times\n@ NS ns2.example.net.\n NS ns1\nns1 A ${address}\n`

interface Served {
  readonly result: CliResult
  /** The serial as BIND loads it. */
  readonly serial: string | undefined
  readonly text: string
}

/** Exports into `out`, and loads the result. */
async function exportZone(cwd: string, ...options: string[]): Promise<Served> {
  const result = await cli(['export', 'zonefile', '-o', 'out', ...options], { cwd, now: () => new Date(NOW) })
  const path = join(cwd, 'out/example.com.zone')
  const { status, stdout } = await runTool('named-checkzone', ['-i', 'local', 'example.com', path])
  expect(status).toBe(0)
  expect(await runTool('kzonecheck', ['-o', 'example.com', path])).toMatchObject({ status: 0 })
  return { result, serial: /loaded serial (\d+)/.exec(stdout)?.[1], text: readFileSync(path, 'utf8') }
}

const write = (cwd: string, text: string): void => writeFileSync(join(cwd, 'zones/example.com.yaml'), text)

describeWithTools(['named-checkzone', 'kzonecheck'], 'export zonefile over an existing file', () => {
  it('keeps the serial if nothing changed and raises it if something did', async () => {
    const cwd = folderOf({ 'zones/example.com.yaml': definition('192.0.2.1') })
    const first = await exportZone(cwd)
    expect(first).toMatchObject({ result: { status: 0 }, serial: '1' })
    expect(await exportZone(cwd)).toMatchObject({ result: { status: 0 }, serial: '1', text: first.text })
    write(cwd, definition('192.0.2.2'))
    expect(await exportZone(cwd)).toMatchObject({ result: { status: 0, stdout: 'out/example.com.zone\n' }, serial: '2' })
    // Another layout of the same zone is no change.
    expect(await exportZone(cwd, '--canonical')).toMatchObject({ result: { status: 0 }, serial: '2' })
    expect(await exportZone(cwd, '--force')).toMatchObject({ result: { status: 0 }, serial: '2' })
    write(cwd, definition('192.0.2.2', 'retry_sec: 300\n'))
    expect(await exportZone(cwd)).toMatchObject({ result: { status: 0 }, serial: '3' })
  })

  it.each([
    ['increment', 7, '8'],
    ['date', 2026112399, '2026112400'],
    ['unixtime', 7, '1795435200'],
    ['1', 4294967295, '1'],
  ])('--serial %s after %d', async (how, before, after) => {
    const cwd = folderOf({ 'zones/example.com.yaml': definition('192.0.2.2'), 'out/example.com.zone': zoneFile(before) })
    expect(await exportZone(cwd, '--serial', how)).toMatchObject({ result: { status: 0 }, serial: after })
  })

  it.each(['7'])('--serial %s after 7 is refused without --force', async (serial) => {
    const cwd = folderOf({ 'zones/example.com.yaml': definition('192.0.2.2'), 'out/example.com.zone': zoneFile(7) })
    const refused = await exportZone(cwd, '--serial', serial)
    expect(refused).toMatchObject({
      result: { status: 1, stderr: expect.stringContaining('error[serial-not-newer] example.com.: ') },
      serial: '7',
    })
    expect(refused.text).toBe(zoneFile(7))
    expect(await exportZone(cwd, '--serial', serial, '--force')).toMatchObject({ result: { status: 0 }, serial })
  })

  it('is written with a temporary file and a rename, and keeps the mode', async () => {
    const cwd = folderOf({ 'zones/example.com.yaml': definition('192.0.2.2'), 'out/example.com.zone': zoneFile(7) })
    const path = join(cwd, 'out/example.com.zone')
    chmodSync(path, 0o640)
    const before = statSync(path)
    expect(await exportZone(cwd)).toMatchObject({ result: { status: 0 }, serial: '8' })
    const after = statSync(path)
    expect(after.ino).not.toBe(before.ino)
    expect(after.mode).toBe(before.mode)
    expect(readdirSync(join(cwd, 'out'))).toEqual(['example.com.zone'])
  })
})

it.each([
  ['no zone file', 'hello\n'],
  ['the file of another zone', '$ORIGIN example.net.\n@ 300 SOA ns1 h 7 1 1 1 1\n@ 300 NS ns1\nns1 300 A 192.0.2.1\n'],
  ['a zone file with an error', `${zoneFile(7)}$INCLUDE missing\n`],
])('needs --force to replace %s', async (_, text) => {
  const cwd = folderOf({ 'zones/example.com.yaml': definition('192.0.2.2'), 'out/example.com.zone': text })
  expectEnd(await cli(['export', 'zonefile', '-o', 'out'], { cwd }), 1, { err: 'error[file-exists]' })
  expect(readFileSync(join(cwd, 'out/example.com.zone'), 'utf8')).toBe(text)
  expect(await cli(['export', 'zonefile', '-o', 'out', '--force'], { cwd })).toMatchObject({ status: 0 })
  expect(readFileSync(join(cwd, 'out/example.com.zone'), 'utf8')).toMatch(text.includes('missing') ? /\n +8 +; serial/ : /\n +1 +; serial/)
})

it('needs --force to replace the definition itself', async () => {
  const text = zoneFile(7)
  const cwd = folderOf({ 'zones/example.com.zone': text })
  expectEnd(await cli(['export', 'zonefile', '-o', 'zones'], { cwd }), 1, { err: 'error[file-exists]' })
  expect(readFileSync(join(cwd, 'zones/example.com.zone'), 'utf8')).toBe(text)
})
