/** `zonewright doctor`: options and report; the checks are in `inspect/run-doctor.ts`. */
import type { Command } from 'commander'
import { runDoctor } from '../../inspect/run-doctor.ts'
import { renderDoctorJson, renderDoctorText } from '../../report/doctor-report.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples, withFormatOption } from '../command.ts'
import { exitOnSignal } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { readOnlySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command).argument('[zone...]', 'zones (default: all)')
  withExamples(command, 'doctor', 'doctor example.com')
  setAction(withFormatOption(command, 'doctor'), doctor)
}

/** `zonewright doctor [zone...]` */
async function doctor(io: CliIo, [zones]: readonly [string[]], options: CommonOptions): Promise<ExitStatus> {
  const setup = readOnlySetup(io, options)
  const release = exitOnSignal(() => undefined)
  try {
    const examinations = await runDoctor(setup, zones)
    if (examinations === null) return EXIT.failure
    setup.output.formatted({
      text: (view) => renderDoctorText(examinations, view),
      json: () => renderDoctorJson(examinations),
    })
    return examinations.some(({ findings }) => findings.some(({ status }) => status === 'error')) ? EXIT.failure : EXIT.done
  } finally {
    release()
  }
}
