/** Texts on terminals of 60, 80 and 200 columns: nothing is longer than a line, and no word is broken. */
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { addSecret, noSecrets } from '../../src/base/secret-guard.ts'
import { type CliIo, fitLines } from '../../src/cli/io.ts'
import { openLiveScene, type Scene, ZONE } from './scene.ts'

const WIDTHS = [60, 80, 200]

const DKIM = `v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhkiG9w0'.repeat(20)}`

const MUCH = `${ZONE.replace('192.0.2.1', '192.0.2.80')}  _dmarc: {type: TXT, value: 'v=DMARC1; p=reject; rua=mailto:dmarc-reports@example.com; ruf=mailto:failures@example.com'}
  mx: {type: MX, values: [{preference: 10, exchange: mx1.some-region.mail.example.net.}]}
  selector1._domainkey: {type: TXT, ttl: 42, value: '${DKIM}'}
  of-the-cluster-with-the-number-17.in-some-region.with-a-long-name-of-a-service: {type: A, value: 192.0.2.77}
  spf: {type: TXT, value: 'v=spf1 include:_spf.mail.example.net include:nonexistent.example.com ip4:192.0.2.0/24 -all'}
  日本語: {type: TXT, value: 'こんにちは世界 — ein Text mit Umlauten, der länger ist als die Zeile eines schmalen Terminals'}
`

const open = async (): Promise<Scene> => {
  const scene = await openLiveScene()
  scene.write({ 'zones/example.com.yaml': MUCH })
  return scene
}

const shownAt = async (scene: Scene, columns: number, args: string): Promise<string> => {
  const { stdout, stderr } = await scene.runIn({ columns, env: { TZ: 'UTC' } }, ...args.split(' ').filter((word) => word !== ''))
  return stripVTControlCharacters(stderr + stdout)
}

/** Wide characters take two columns. */
const columnsOf = (line: string): number => [...line].length + [...line].filter((one) => one >= '\u3000' && one < '\uff00').length

const tooLong = (text: string, columns: number): string[] =>
  text.split('\n').filter((line) => columnsOf(line) > columns && !/^ {2}zonewright (?!.* {2})/.test(line) && /\S\S\s+\S/.test(line))

describe('no word is broken', () => {
  test.each([
    '',
    '--help',
    'apply --help-all',
    'import --help-all',
    'schema --help',
    'explain',
    'explain ptr-conflict',
    'zones',
    'providers cloud',
    'history',
    'plan --formt json',
    'plan nonexistent.example.net',
    'record remove example.com some-name.below-another-one A',
    'rollback 20260101T000000Z-0000',
  ])('%s', { timeout: 60_000 }, async (args) => {
    const scene = await open()
    const whole = (await shownAt(scene, 1_000, args)).split(/\s+/)
    expect(whole.length).toBeGreaterThan(5)
    for (const columns of WIDTHS) {
      const shown = await shownAt(scene, columns, args)
      expect(tooLong(shown, columns)).toEqual([])
      expect(shown.split(/\s+/)).toEqual(whole)
    }
  })
})

test.each(WIDTHS)('%i columns: validate, plan and verify fit, and records are aligned or on lines of their own', async (columns) => {
  const scene = await open()
  for (const command of ['validate', 'plan', 'plan --allow updates', 'apply --yes --dry-run', 'verify', 'history'])
    expect(tooLong(await shownAt(scene, columns, command), columns)).toEqual([])
  const frames = (await shownAt(scene, columns, 'validate')).split('\n')
  const carets = frames.filter((_, at) => /^ {2}> +\d+ \| /.test(frames[at - 1] ?? ''))
  expect(carets.length).toBeGreaterThan(2)
  for (const line of carets) expect(line).toMatch(/^ +\| +\^$/)
  const plan = await shownAt(scene, columns, 'plan')
  for (const name of ['_dmarc', 'mx', 'selector1._domainkey']) expect(plan).toMatch(new RegExp(`^  \\+ ${name} `, 'm'))
  expect(plan).toContain('mx1.some-region.mail.example.net.')
  expect(plan).toMatch(/^ {2}\+ mx .*( {2}|\n {6})10 mx1\.some-region\.mail\.example\.net\.$/m)
})

test('a command in an example stays one line, since a copy of two lines would be two commands', async () => {
  const shown = await shownAt(await open(), 60, 'import --help')
  expect(shown).toContain('\n  zonewright import octodns config -o zones --lossy=geo,URLFWD\n')
})

test('--verbose keeps the lines of records whole, and wraps the others', async () => {
  const scene = await open()
  const lines = (await shownAt(scene, 60, 'plan --verbose')).split('\n')
  const isRecord = (line: string): boolean => /^ {2}[+-] /.test(line)
  expect(lines.filter((line) => isRecord(line) && line.includes('v=DKIM1') && line.length > DKIM.length)).toHaveLength(1)
  expect(tooLong(lines.filter((line) => !isRecord(line)).join('\n'), 60)).toEqual([])
})

test('a text with a secret is not wrapped, since a line break would hide the secret from the guard of the stream', () => {
  const secrets = noSecrets()
  const text = `${'word '.repeat(10)}correct horse battery staple\n`
  const terminal = { write: () => true, isTTY: true, columns: 60 }
  const fitted = (): string => fitLines({ secrets } as CliIo, terminal, text)
  expect(fitted()).toBe(`${'word '.repeat(10)}correct\n  horse battery staple\n`)
  addSecret(secrets, 'providers.cloud.token', 'correct horse battery staple')
  expect(fitted()).toBe(text)
})

test.each([
  ['xterm', true],
  ['dumb', false],
])('TERM=%s: whether a progress bar erases its line', async (TERM, isShown) => {
  const scene = await open()
  let time = 0
  const now = (): Date => {
    time += 1_000
    return new Date(time)
  }
  const { stderr } = await scene.runIn({ columns: 80, now, env: { TERM, NO_COLOR: '1' } }, 'plan')
  expect(stderr.includes('\r\u001b[2K')).toBe(isShown)
})

test('a terminal of unknown size has 80 columns', async () => {
  const scene = await open()
  const [unknown, usual] = [await shownAt(scene, 0, 'plan'), await shownAt(scene, 80, 'plan')]
  expect(unknown).toBe(usual)
})
