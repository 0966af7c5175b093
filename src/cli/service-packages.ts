/** The packages of the service, which are not in the bundle: an installation by npm has them, a bare tarball and the single executable do not. */
import { installedPackage } from '../files/installed-package.ts'
import { EXIT } from '../run/context/exit-status.ts'
import type { CommandModule, CommonOptions } from './command.ts'
import { createOutput } from './output.ts'

/** A few of them, which stand for all. */
const SAMPLE = ['fastify', 'kysely', 'libsql', 'pino']

/** Loads a command of the service, or what stands in for it if packages are missing: a command that says how to get it. */
export async function commandOfService(name: string, load: () => Promise<CommandModule>): Promise<CommandModule> {
  const missing = SAMPLE.find((one) => installedPackage(one) === null)
  return missing === undefined ? load() : unavailable(name, missing)
}

const unavailable = (name: string, missing: string): CommandModule => ({
  configure: (command, setAction) => {
    command.allowUnknownOption().allowExcessArguments()
    setAction(command, async (io, _args, options: CommonOptions) => {
      createOutput(io, options).error(
        'usage',
        `"${name}" needs packages that this installation of Zonewright lacks, such as ${missing}`,
        'install the release tarball with npm, or use the container image: docs/installing.md',
      )
      return EXIT.failure
    })
  },
})
