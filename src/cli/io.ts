/** The streams, environment and clock of a command. Only this file and `main.ts` access the process itself. */
import { noSecrets } from '../base/secret-guard.ts'
import { wrapText } from '../base/wrap.ts'
import type { RecordedRun } from '../library/run.ts'
import { plainLines } from '../report/workflow-command.ts'
import type { ProcessEnvironment } from '../run/context/run-context.ts'

export interface TextStream {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

export interface CliIo extends ProcessEnvironment {
  readonly stdout: TextStream
  readonly stderr: TextStream
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined }
  /** Receives what a command reports, besides its text: `zonewright ci` renders it again. */
  readonly onRun?: ((run: RecordedRun) => void) | undefined
  /** Absent if nobody reads the output page by page. */
  readonly pager?: Pager | undefined
}

export interface Pager {
  /** Starts the pager with a text. False if none is configured, if there is no terminal, or if the text fits on it: then nothing happens. */
  show(text: string): boolean
  /** Resolves when no pager is open. */
  closed(): Promise<void>
}

/** The same stream with another `write`, which gets the text and the write itself. Everything else stays, since prompts use it as a terminal. */
export const withWrite = (stream: TextStream, write: (go: (text?: string) => unknown, text: unknown) => unknown): TextStream =>
  new Proxy(stream, {
    get(target, key) {
      if (key === 'write')
        return (text: unknown, ...more: unknown[]) =>
          write((changed) => Reflect.apply(target.write, target, [changed ?? text, ...more]), text)
      return memberOf(target, key)
    },
  })

function memberOf(stream: object, key: PropertyKey): unknown {
  const value: unknown = Reflect.get(stream, key, stream)
  return typeof value === 'function' ? value.bind(stream) : value
}

/** Standard input. Node.js opens it when `process.stdin` is first used, which takes milliseconds; few runs read it. */
const STDIN = new Proxy({} as CliIo['stdin'], {
  get: (_, key) => memberOf(process.stdin, key),
  set: (_, key, value) => Reflect.set(process.stdin, key, value),
})

/** Whether this is a step of a GitHub Actions job. Its runner reads workflow commands from standard output and standard error. */
export const isWorkflow = ({ env }: Pick<CliIo, 'env'>): boolean => env['GITHUB_ACTIONS'] === 'true'

/** In a GitHub Actions job or with `--format github`, keeps workflow commands out of standard error. */
export function withPlainErrors(io: CliIo, argv: readonly string[] = []): CliIo {
  const { stderr } = io
  const isReport = argv.some((word, at) => word === '--format=github' || (word === 'github' && argv[at - 1] === '--format'))
  if (stderr.isTTY === true || !(isReport || isWorkflow(io))) return io
  return { ...io, stderr: { write: (text) => stderr.write(plainLines(text)), columns: stderr.columns } }
}

export const processIo = (): CliIo => ({
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: STDIN,
  env: process.env,
  cwd: process.cwd(),
  now: () => new Date(),
  secrets: noSecrets(),
})

/** Columns of the terminal; 80 without one, or if its size is unknown. */
export const widthOf = (stream: TextStream): number => Math.max(40, stream.columns || 80)

/** A command to copy, which would be two if it were two lines: in a list, a description follows after a gap. */
export const COMMAND_LINE = /^ {2}(?:[A-Z_]+=\S+ )?zonewright (?!.*\S {2})/

/** The text in lines that fit a terminal. A text with a secret is not changed: a line break could hide the secret from the guard of the stream. */
export const fitLines = ({ secrets }: CliIo, stream: TextStream, text: string, kept?: RegExp | null): string =>
  stream.isTTY !== true || (secrets.guard?.find(text) ?? null) !== null ? text : wrapText(text, widthOf(stream), 2, kept)

/** Whether to colour a stream: terminals, unless `--no-color` or NO_COLOR is given; with FORCE_COLOR always. */
export function colorOf(stream: TextStream, io: CliIo, option: boolean | undefined): boolean {
  if (option === false || (io.env['NO_COLOR'] ?? '') !== '') return false
  if ((io.env['FORCE_COLOR'] ?? '') !== '') return true
  return stream.isTTY === true && io.env['TERM'] !== 'dumb'
}
