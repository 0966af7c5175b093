/** The program on a real terminal: colours, confirmation, Ctrl-C, progress bar. The command `script` of util-linux provides the terminal. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { describeWithTools } from '../support/skip.ts'
import { findTool } from '../support/tools.ts'
import type { Script } from './recording-proxy.ts'
import { TOKEN, ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

interface SessionOptions {
  /** Keys to type after the terminal shows the text. */
  readonly type?: readonly (readonly [when: string, keys: string])[]
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
}

/** Runs the program on a new terminal. Returns the exit status and the whole output, with control sequences. */
async function onTerminal(
  scene: ServiceScene,
  args: readonly string[],
  { type = [], env = {}, columns = 100, rows = 0 }: SessionOptions = {},
) {
  const command = [
    'stty',
    'cols',
    String(columns),
    'rows',
    String(rows),
    ';',
    'exec',
    process.execPath,
    await builtProgram(),
    ...args,
  ].join(' ')
  const { FORCE_COLOR: _, NO_COLOR: __, PAGER: ___, ZONEWRIGHT_PAGER: ____, ...inherited } = process.env
  const child = spawn(findTool('script') as string, ['-qefc', command, '/dev/null'], {
    cwd: scene.folder,
    env: { ...inherited, TERM: 'xterm-256color', SHELL: '/bin/sh', ZONEWRIGHT_TOKEN: TOKEN, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  const pending = [...type]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    // One chunk may hold the texts of several keys.
    while (pending[0] !== undefined && shown.includes(pending[0][0])) {
      const [, keys] = pending.shift() as readonly [string, string]
      setTimeout(() => child.stdin.write(keys), 50)
    }
  })
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  expect(shown).not.toContain(TOKEN)
  return { shown: shown.replaceAll('\r\n', '\n'), status }
}

const ESCAPE = '\u001b'

/** The final screen, without progress bars: a long run redraws a bar on one line. */
const withoutBars = (text: string): string => text.replaceAll(new RegExp(`[^\\n]*\\r${ESCAPE}\\[2K`, 'g'), '')
const plain = (text: string): string => withoutBars(text).replaceAll(new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, 'g'), '')
const QUESTION = 'Apply 4 changes to 1 zone? [y/N] '

const taking =
  (milliseconds: number): Script =>
  async ({ method, path }) => {
    if (method === 'POST' && path.includes('/records')) await new Promise((resolve) => setTimeout(resolve, milliseconds))
    return null
  }
const slowly = taking(60)
/** Slow enough for a key press. */
const verySlowly = taking(1_000)

const MANY = `domain: example.com
soa_email: hostmaster@example.com
records:
${Array.from({ length: 120 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')}`

describeWithTools(['script'], 'on a terminal', () => {
  beforeAll(async () => void (await builtProgram()))

  test('plan is coloured, except with NO_COLOR or --no-color', async () => {
    const scene = await openServiceScene()
    const coloured = await onTerminal(scene, ['plan'])
    expect(coloured.status).toBe(0)
    expect(coloured.shown).toContain(`${ESCAPE}[32m192.0.2.2${ESCAPE}[39m`)
    for (const [args, env] of [
      [['plan', '--no-color'], {}],
      [['plan'], { NO_COLOR: '1' }],
      [['plan'], { TERM: 'dumb' }],
    ] as const) {
      const { shown } = await onTerminal(scene, args, { env })
      expect(withoutBars(shown)).toBe(plain(coloured.shown))
    }
  })

  test('an error shows its source line and a hint', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': `${ZONE}  x: {type: A, valu: 192.0.2.1}\n` } })
    const { shown, status } = await onTerminal(scene, ['plan'])
    expect(status).toBe(1)
    expect(plain(shown)).toMatch(/^zones\/\S+:7:16: error\[schema-unknown-key\] .*\n {4}6 \| .*\n {2}> 7 \| {3}x: .*\n {6}\| {16}\^\n/)
    expect(plain(shown)).toContain('  hint: Did you mean "value"?\n')
  })

  const confirmWith = async (keys: string, status: number, end: RegExp): Promise<void> => {
    const scene = await openServiceScene()
    const session = await onTerminal(scene, ['apply'], { type: [[QUESTION, keys]] })
    expect(plain(session.shown)).toMatch(end)
    expect(session.status).toBe(status)
    expect(scene.proxy.mutations()).toHaveLength(status === 0 ? 4 : 0)
  }
  const DONE = /\nApplied: 4 created/
  const NOTHING = /\nNothing was applied\.\n$/
  test.each([
    ['y\r', 0, DONE],
    ['n\r', 1, NOTHING],
    ['\u0003', 130, NOTHING],
  ])('confirmation with %j', confirmWith)
  test.each([
    ['yes\r', 0, DONE],
    ['\r', 1, NOTHING],
    ['yep\r', 1, NOTHING],
    ['\u0004', 1, NOTHING],
  ])('confirmation with %j', { tags: ['long'] }, confirmWith)

  test.each([
    ['y\r', 0, /\nWritten:\n {2}\.github\/workflows\/dns\.yml\n.*Plan: 4 to create/s],
    ['n\r', 1, /\nNothing was written\.\n$/],
    ['\u0003', 130, /\[y\/N\] \n$/],
  ])('init asks once, and is answered with %j', async (keys, status, end) => {
    const scene = await openServiceScene()
    const before = Object.keys(scene.files())
    const session = await onTerminal(scene, ['init'], { type: [['Write these files? [y/N] ', keys]] })
    expect(plain(session.shown)).toMatch(/^Found zonewright\.yaml\.\nTo be written:\n/)
    expect(plain(session.shown)).toMatch(end)
    expect(session.status).toBe(status)
    expect(Object.keys(scene.files()).length).toBe(before.length + (status === 0 ? 3 : 0))
  })

  test('confirmation timeout: nothing is applied', async () => {
    const scene = await openServiceScene()
    const { shown, status } = await onTerminal(scene, ['apply', '--timeout', '8'])
    expect(plain(shown)).toMatch(/The 8 s of --timeout are over.*\n\nNothing was applied\.\n$/)
    expect(status).toBe(1)
    expect(scene.proxy.mutations()).toEqual([])
  })

  test('--yes skips the confirmation', async () => {
    const scene = await openServiceScene()
    const { shown, status } = await onTerminal(scene, ['apply', '--yes'])
    expect(status).toBe(0)
    expect(shown).not.toContain('[y/N]')
  })

  test('Ctrl-C during an apply: removes the bar, prints the report, exits with 130', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MANY }, script: verySlowly })
    const { shown, status } = await onTerminal(scene, ['apply', '--yes'], { type: [['Applying [', '\u0003']] })
    expect(status).toBe(130)
    expect(screenOf(shown)).toMatch(/\^?C?Stopping: waiting for open requests\. Press Ctrl-C again to end at once\.\n/)
    expect(screenOf(shown)).toMatch(/\nApplied in part: \d+ skipped; \d+ created, 0 updated, 0 deleted in 1 zone \(\d+ requests\)\n$/)
  })

  test('a long apply shows a progress bar and removes it', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MANY }, script: slowly })
    const { shown, status } = await onTerminal(scene, ['apply', '--yes'])
    expect(status).toBe(0)
    const bars = [...shown.matchAll(new RegExp(`\\r${ESCAPE}\\[2KApplying \\[(=*) *\\] (\\d+) of 121(?:, about \\d+ s left)?`, 'g'))]
    expect(bars.length).toBeGreaterThan(2)
    const counts = bars.map(([, , done]) => Number(done))
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    const screen = screenOf(shown)
    expect(screen).not.toContain('Applying')
    expect(screen).toMatch(/\nPlan: 121 to create, .*\nApplied: 121 created, 0 updated, 0 deleted in 1 zone \(121 requests\)\n$/)
  })

  test('--quiet shows no bar, and a bar is never wider than the terminal', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MANY }, script: slowly })
    const narrow = await onTerminal(scene, ['apply', '--yes'], { columns: 40 })
    for (const [, line = ''] of narrow.shown.matchAll(new RegExp(`\\r${ESCAPE}\\[2K(Applying[^\\r\\n]*)`, 'g')))
      expect(line.length).toBeLessThan(40)
    scene.write({ 'zones/example.com.yaml': MANY.replaceAll('192.0.2.1', '192.0.2.2') })
    const quiet = await onTerminal(scene, ['apply', '--yes', '--quiet', '--allow', 'updates'])
    expect(quiet.status).toBe(0)
    expect(quiet.shown).not.toContain('Applying')
  })

  describe('the pager', () => {
    /** Writes what it is shown and its environment to files, and reads a key. */
    const READER = `#!/bin/sh
cat > shown; env > env
echo PAGER
read key < /dev/tty
echo "LEFT $key"
exit 0
`
    const openPaged = async (pager = READER): Promise<ServiceScene> => {
      const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MANY } })
      scene.write({ pager })
      chmodSync(join(scene.folder, 'pager'), 0o700)
      return scene
    }
    const at = { rows: 20, env: { ZONEWRIGHT_PAGER: './pager --raw', PAGER: 'false' } }
    const fileOf = (scene: ServiceScene, name: string): string => readFileSync(join(scene.folder, name), 'utf8')

    test('gets a plan that is longer than the terminal, its summary first, and no secret', async () => {
      const scene = await openPaged()
      const { shown, status } = await onTerminal(scene, ['plan'], { ...at, type: [['PAGER', 'q\r']] })
      expect([status, plain(shown)]).toEqual([0, expect.stringMatching(/^PAGER\nq\r?\nLEFT q\n$/)])
      const text = plain(fileOf(scene, 'shown'))
      expect(text).toMatch(/^Plan: 121 to create, .*\n\nexample\.com\. at cloud [\s\S]*\n {2}\+ h119 [\s\S]*\nPlan: 121 to create/)
      expect(fileOf(scene, 'env')).toMatch(/^LESS=FRX$/m)
      expect(fileOf(scene, 'env')).not.toContain(TOKEN)
    })

    test('leaving it answers no question, and Ctrl-C in it ends no run', async () => {
      const scene = await openPaged(READER.replace('cat >', "trap '' INT\ncat >"))
      const session = {
        ...at,
        type: [
          ['PAGER', '\u0003'],
          ['^C', 'y\r'],
          ['[y/N] ', 'n\r'],
        ] as const,
      }
      const { shown, status } = await onTerminal(scene, ['apply'], session)
      expect([status, scene.proxy.mutations()]).toEqual([1, []])
      expect(plain(shown)).toMatch(/PAGER\n[\s\S]*LEFT y\nApply 121 changes to 1 zone\? \[y\/N\] n\r?\nNothing was applied\.\n$/)
    })

    test('shows few lines that take more rows than the terminal has', async () => {
      const scene = await openPaged()
      scene.write({ 'zones/example.com.yaml': `${ZONE}  long: {type: TXT, value: ${'k'.repeat(900)}}\n` })
      const { status } = await onTerminal(scene, ['plan', '--verbose'], { ...at, columns: 60, type: [['PAGER', 'q\r']] })
      expect([status, plain(fileOf(scene, 'shown')).split('\n').length < at.rows]).toEqual([0, true])
    })

    type Unused = readonly [name: string, args: string, rows: number, env: SessionOptions['env'], pager: string]
    const unused = async (_: string, args: string, rows: number, env: SessionOptions['env'], pager: string): Promise<void> => {
      const scene = await openPaged(pager)
      const { shown, status } = await onTerminal(scene, args.split(' '), { rows, env: { ...at.env, ...env } })
      expect(status).toBe(0)
      expect(plain(shown)).toContain('h119')
      expect(shown).not.toContain('PAGER')
      expect(existsSync(join(scene.folder, 'made'))).toBe(false)
    }
    test.each<Unused>([
      ['a shell is not started', 'plan', 20, { ZONEWRIGHT_PAGER: './pager; touch made' }, READER],
      ['fails', 'plan', 20, {}, '#!/bin/sh\nexit 3\n'],
    ])('is not used, or no error: %s', unused)
    test.each<Unused>([
      ['fits', 'plan', 200, {}, READER],
      ['cat', 'plan', 20, { ZONEWRIGHT_PAGER: 'cat' }, READER],
      ['empty', 'plan', 20, { ZONEWRIGHT_PAGER: '' }, READER],
      ['not installed', 'plan', 20, { ZONEWRIGHT_PAGER: 'no-such-pager' }, READER],
      ['a document', 'plan --format json', 20, {}, READER],
      ['--yes', 'apply --yes', 20, {}, READER],
    ])('is not used: %s', { tags: ['long'] }, unused)
  })

  test('truncates long values to the width, except with --verbose', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': `${ZONE}  long: {type: TXT, value: ${'k'.repeat(200)}}\n` } })
    const lines = plain((await onTerminal(scene, ['plan'], { columns: 60 })).shown).split('\n')
    expect(Math.max(...lines.slice(0, -3).map((line) => line.length))).toBeLessThanOrEqual(60)
    expect((await onTerminal(scene, ['plan', '--verbose'], { columns: 60 })).shown).toContain('k'.repeat(200))
  })
})

/** The final screen: interprets carriage return and "erase line". */
const screenOf = (shown: string): string =>
  plain(shown.replaceAll(new RegExp(`${ESCAPE}\\[2K`, 'g'), '\u0000'))
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\u0000') + 1))
    .join('\n')
    .replaceAll('\r', '')
