/** The entry point of the program: runs the command line with the streams of the process. */
import { formatDiagnostic } from '../base/diagnostic.ts'
import { redacted } from '../base/secret-guard.ts'
import { VERSION } from '../base/version.ts'
import { writeProblem } from '../files/write-problem.ts'
import { EXIT, type ExitStatus, worstOf } from '../run/context/exit-status.ts'
import { survivesHangup } from './interruption.ts'
import { processIo, withPlainErrors } from './io.ts'

// The AWS SDK warns of versions of Node.js that its later versions need. The lock file of the user decides which version runs.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'

/** The first error of each output stream that lost text. */
const dropped = new Map<string, NodeJS.ErrnoException>()

/**
 * A closed pipe (`| head`) or terminal is not an error; a full disk is. Neither stops an apply halfway: the error is reported at the end.
 */
for (const [name, stream] of [
  ['standard output', process.stdout],
  ['standard error', process.stderr],
] as const) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO' && !dropped.has(name)) dropped.set(name, error)
  })
}

process.on('exit', () => {
  if (dropped.size === 0) return
  process.exitCode = worstOf([(process.exitCode ?? EXIT.done) as ExitStatus, EXIT.failure])
  for (const [name, error] of dropped) process.stderr.write(`${formatDiagnostic({ ...writeProblem(error, name), at: undefined })}\n`)
})

// `serve` reads files again at SIGHUP. While its modules load, it has read none, and without a handler the signal would end it.
if (process.argv.includes('serve') && survivesHangup(process.argv)) process.on('SIGHUP', () => undefined)

async function main(): Promise<void> {
  const [first, ...more] = process.argv.slice(2)
  if (more.length === 0 && (first === '--version' || first === '-V')) {
    process.stdout.write(`${VERSION}\n`)
    return
  }
  const io = processIo()
  try {
    // Not loaded for the version.
    const { runCli } = await import('./program.ts')
    process.exitCode = await runCli(process.argv.slice(2), io)
  } catch (error) {
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
    withPlainErrors(io).stderr.write(`zonewright: this is a program error, please report it\n${redacted(io.secrets, trace)}\n`)
    process.exitCode = 1
  }
}

void main()
