/** What the sandbox runs and returns, and the messages between it and this process. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import type { Result } from '../../base/result.ts'

/** `definition`: a module that imports `zonewright/definition`. `dnscontrol`: a script in DNSControl's language, evaluated in the global scope. */
export type ProgramLanguage = 'definition' | 'dnscontrol'

/** The access of programs to files. Names are as messages show them. Failures are worded for a message. */
export interface ProgramFiles {
  /** Reads the file that `path` names in the file `from`. */
  read(path: string, from: string): Result<{ readonly file: string; readonly text: string }>
  /** The files that a glob matches, relative to the folder of the file `from`, sorted; each can be read from `from`. */
  list(glob: string, from: string): Promise<Result<readonly string[]>>
}

export interface ProgramLimits {
  /** Seconds of processor time. */
  readonly seconds: number
  /** Memory of the program in MiB. */
  readonly mebibytes: number
  /** Records in all zones. A zone has at most as many as one in YAML. */
  readonly records: number
}

export const PROGRAM_LIMITS: ProgramLimits = { seconds: 10, mebibytes: 256, records: 1_000_000 }

export interface ProgramRun {
  /** The program as messages show it. Its text has been read by the same rules as all other files. */
  readonly entry: { readonly file: string; readonly text: string }
  readonly language: ProgramLanguage
  /** The source of a function expression in JavaScript, `(host) => finish`, which runs before the program. `host` is a `SandboxHost`. */
  readonly prelude: string
  readonly files: ProgramFiles
  /** The `--var NAME=VALUE` of the command line. */
  readonly variables: Readonly<Record<string, string>>
  /** The day that `Date` says, `YYYY-MM-DD`; 1970-01-01 if absent. */
  readonly date?: string | undefined
  readonly limits?: Partial<ProgramLimits>
}

/** What the prelude gets in the sandbox. Its functions throw errors of the sandbox, so that a program can catch them. */
export interface SandboxHost {
  readonly variables: Readonly<Record<string, string>>
  /**
   * Registers the place of the call in the program that runs now, and returns its number. Counts towards the limit of records. `from` is the function of the prelude
   * that the program called: its own frames cost time. `records` is their number, 1 if absent.
   */
  place(from?: (...values: never[]) => unknown, records?: number): number
  /** Reads a file, relative to `from`; that is the file that runs now if absent. */
  read(path: string, from?: string): { readonly file: string; readonly text: string }
  list(glob: string, from?: string): readonly string[]
  /** Evaluates the text of a file that was read as a script in the global scope. */
  evaluate(file: string, text: string): unknown
  /** The digest of a text in UTF-8 in hexadecimal, by an algorithm such as `sha256`. */
  hash(algorithm: string, text: string): string
  /** An error at a place that `place` registered. */
  errorAt(place: number, message: string): Error
  /** Names that `import … from 'zonewright/definition'` finds; set by the prelude. */
  exports: Record<string, unknown>
}

/** A call of the program, innermost first in a list of them. */
export interface ProgramCall {
  readonly at: SourcePosition
  /** The name of the function that made the call; null for the top level. */
  readonly inside: string | null
}

export interface ProgramOutput {
  /** What the `finish` of the prelude returned, as JSON. */
  readonly value: unknown
  /** By the numbers of `host.place`: the calls of the program's own files. Never empty. */
  readonly places: readonly (readonly ProgramCall[])[]
}

/** The positions of all places, each with the calls above it. */
export const positionsOf = ({ places }: Pick<ProgramOutput, 'places'>): SourcePosition[] =>
  places.map(([first, ...above]) => ({ ...(first as ProgramCall).at, calledFrom: above.map(({ at }) => at) }))

/** A line of `console`. */
export interface ProgramMessage {
  readonly text: string
  readonly at: SourcePosition
}

export interface ProgramResult {
  /** Null if there are errors. */
  readonly output: ProgramOutput | null
  /** The error, or a notice per line of `console`. */
  readonly diagnostics: readonly Diagnostic[]
  /** All files that were read or looked for, the program itself included, as messages show them, sorted. */
  readonly filesRead: readonly string[]
}

/** From this process to the child. One line of JSON per message. */
export type ToChild =
  | { readonly run: Omit<ProgramRun, 'files'>; readonly limits: ProgramLimits }
  | { readonly file: { readonly file: string; readonly text: string } }
  | { readonly list: readonly string[] }
  | { readonly refused: string }

/** From the child. After `result` follows one line with the JSON of the value. */
export type FromChild =
  | { readonly read: { readonly path: string; readonly from: string } }
  | { readonly list: { readonly glob: string; readonly from: string } }
  | { readonly result: Omit<ProgramOutput, 'value'>; readonly messages: readonly ProgramMessage[] }
  | { readonly failure: ProgramFailure }

export interface ProgramFailure {
  readonly kind: 'exception' | 'limit'
  readonly message: string
  readonly calls: readonly ProgramCall[]
}
