/** `zonewright trace`: options and report; the steps are in `inspect/run-trace.ts`. */
import type { Command } from 'commander'
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import { runTrace, type TraceOptions } from '../../inspect/run-trace.ts'
import { renderTraceJson, renderTraceText } from '../../report/trace.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, collect, type SetAction, withConfigOption, withFormatOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { readOnlySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('<name>', 'the name, absolute with or without the final dot')
    .argument('[type]', 'the record type', 'A')
    .option('--target <name>', 'only this target')
    .option('--nameserver <address>', 'ask this name server instead of those of the zone (repeatable)', collect, [])
    .option('--resolver <address>', 'ask this resolver instead of those of this machine (repeatable)', collect, [])
    .option('--parent-server <address>', 'ask this name server of the parent zone (repeatable)', collect, [])
    .addHelpText('after', HELP)
  setAction(withFormatOption(command, 'trace'), trace)
}

const HELP = `
Works without a token, a journal or the network: each step says what it lacks.
Exit status: 0 no difference, 2 differences, 1 if a step could not be done.`

/** `zonewright trace NAME [TYPE]` */
async function trace(
  io: CliIo,
  [nameText, typeText]: readonly [string, string],
  options: TraceOptions & CommonOptions,
): Promise<ExitStatus> {
  const setup = readOnlySetup(io, options)
  const [name, type] = [parseAbsoluteName(nameText), parseRecordType(typeText)]
  if (!name.ok || !type.ok) {
    setup.output.error('usage', name.ok ? (type.ok ? '' : type.message) : name.message)
    return EXIT.failure
  }
  const traced = await runTrace(setup, name.value, type.value)
  if (traced === null) return EXIT.failure
  setup.output.formatted({ text: (view) => renderTraceText(traced, view), json: () => renderTraceJson(traced) })
  const states = new Set(traced.steps.map(({ state }) => state))
  return states.has('failed') ? EXIT.failure : states.has('different') ? EXIT.pending : EXIT.done
}
