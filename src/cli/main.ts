import { processIo } from './io.ts'
import { runCli } from './program.ts'

/** A reader that goes away (`| head`), or a terminal, is no failure of ours, and no reason to stop in the middle of an apply. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
  })
}

async function main(): Promise<void> {
  try {
    process.exitCode = await runCli(process.argv.slice(2), processIo())
  } catch (error) {
    process.stderr.write(
      `zonewright: this is a fault of the program, please report it\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    )
    process.exitCode = 1
  }
}

void main()
