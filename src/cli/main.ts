import { processIo } from './io.ts'

/** A reader that goes away (`| head`) is no failure of ours. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  throw error
})

const { runCli } = await import('./program.ts')
try {
  process.exitCode = await runCli(process.argv.slice(2), processIo())
} catch (error) {
  process.stderr.write(
    `zonewright: this is a fault of the program, please report it\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  )
  process.exitCode = 1
}
