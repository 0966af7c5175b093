/** Shows long reports in the user's pager, on a terminal only. */
import { basename } from 'node:path'
import { assertNoSecret } from '../base/secret-guard.ts'
import { findProgram } from '../files/find-program.ts'
import { type CliIo, type Pager, widthOf, withWrite } from './io.ts'

/** The variables that a pager gets: none with a secret. */
const VARIABLES = /^(?:PATH|HOME|TERM.*|COLORTERM|LANG|LC_.*|LESS.*|MORE|LV|TMPDIR|XDG_.*|COLUMNS|LINES|SYSTEMROOT)$/

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROLS = /\u001b\[[0-9;]*m|[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g

/** The text with visible escapes for all control characters except line ends and colours. */
const escaped = (text: string): string =>
  text.replace(CONTROLS, (found) => (found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`))

/** Adds a pager to the streams of a command. While it is open, other output waits. */
export function withPager(given: CliIo): CliIo & { readonly pager: Pager } {
  const { env, cwd, stdin, secrets } = given
  let open: Promise<void> | null = null
  const held: (() => unknown)[] = []
  const later = (write: () => unknown): unknown => (open === null ? write() : held.push(write))
  const [stdout, stderr] = [withWrite(given.stdout, later), withWrite(given.stderr, later)]

  const run = async (program: string, args: readonly string[], text: string): Promise<void> => {
    // Most runs show nothing in a pager, and loading the module takes time.
    const { spawn } = await import('node:child_process')
    // Ctrl-C is for the pager, although the terminal sends it to this process, too.
    const handlers = process.listeners('SIGINT')
    const ignore = (): void => undefined
    process.removeAllListeners('SIGINT').on('SIGINT', ignore)
    const own = Object.entries(env).filter(([name]) => VARIABLES.test(name))
    const isShown = await new Promise<boolean>((done) => {
      const child = spawn(program, args, { cwd, env: { LESS: 'FRX', ...Object.fromEntries(own) }, stdio: ['pipe', 'inherit', 'inherit'] })
      child.stdin.on('error', () => undefined).end(text)
      child.once('error', () => done(false))
      child.once('close', (status) => done(status === 0 || status === null))
    }).catch(() => false)
    process.off('SIGINT', ignore)
    for (const handler of handlers) process.on('SIGINT', handler)
    open = null
    if (!isShown) given.stdout.write(text)
    for (const write of held.splice(0)) write()
  }

  const show: Pager['show'] = (text) => {
    const [name = '', ...args] = (env['ZONEWRIGHT_PAGER'] ?? env['PAGER'] ?? '').split(/\s+/).filter((word) => word !== '')
    const { isTTY, rows } = given.stdout
    if (open !== null || isTTY !== true || stdin.isTTY !== true || env['TERM'] === 'dumb' || !rows) return false
    // A long line takes several rows.
    const rowsOf = (line: string): number => Math.max(1, Math.ceil(escaped(line).replace(CONTROLS, '').length / widthOf(given.stdout)))
    if (text.split('\n').reduce((sum, line) => sum + rowsOf(line), 0) <= rows) return false
    const program = name === '' || basename(name) === 'cat' ? null : findProgram(name, { folder: cwd, env })
    if (program === null) return false
    assertNoSecret(secrets, text, 'standard output')
    open = run(program, args, escaped(text))
    return true
  }
  return { ...given, stdout, stderr, pager: { show, closed: async () => void (await open) } }
}
