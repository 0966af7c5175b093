import { EXIT, type ExitStatus, worstOf } from '../apply/exit-status.ts'
import { assertNoSecret, isSecretExposed, redacted } from '../definition/load/loaded-secrets.ts'
import { type Diagnostic, formatDiagnostic } from '../dns/diagnostic.ts'
import type { CliIo, TextStream } from './io.ts'

/**
 * Runs a command with streams that let no secret of the run through. A report that holds one is withheld as a whole, since half of a document is none,
 * and the run ends there; a message on standard error is redacted, and the run fails at its end.
 */
export async function withGuardedStreams(given: CliIo, run: (io: CliIo) => Promise<ExitStatus>): Promise<ExitStatus> {
  const { secrets } = given
  const stdout = withWrite(given.stdout, (text) => {
    assertNoSecret(secrets, text, 'standard output')
    return text
  })
  const stderr = withWrite(given.stderr, (text) => {
    const shown = redacted(secrets, text)
    secrets.hasLeaked ||= shown !== text
    return shown
  })
  const status = await run({ ...given, stdout, stderr }).catch((error: unknown) => {
    if (!isSecretExposed(error)) throw error
    stderr.write(`${lineOf(error.diagnostic)}\n`)
    return EXIT.failure
  })
  if (!secrets.hasLeaked) return status
  stderr.write(`${lineOf(LEAKED)}\n`)
  return worstOf([status, EXIT.failure])
}

const LEAKED: Diagnostic = {
  severity: 'error',
  code: 'secret-exposed',
  message: 'a message would have held a secret of the run, and was redacted',
  hint: 'find out where the secret is, remove it there and replace it',
}

const lineOf = (diagnostic: Diagnostic): string => `${formatDiagnostic(diagnostic)} (${diagnostic.hint})`

/** The stream itself in everything but what it writes: a terminal is asked on it too. */
const withWrite = (stream: TextStream, pass: (text: string) => string): TextStream =>
  new Proxy(stream, {
    get(target, key) {
      if (key === 'write')
        return (text: unknown, ...more: unknown[]) =>
          Reflect.apply(target.write, target, [typeof text === 'string' ? pass(text) : text, ...more])
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
