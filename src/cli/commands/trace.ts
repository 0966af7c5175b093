/** `zonewright trace`: options and report; the steps are in `inspect/run-trace.ts`. */
import type { Command } from 'commander'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { isServerAddress, parseServerAddress, type ServerAddress } from '../../dns/server-address.ts'
import { runTrace, type TraceOptions } from '../../inspect/run-trace.ts'
import { parseTypeWord } from '../../load/edit/record-edit.ts'
import { renderTraceJson, renderTraceText } from '../../report/trace.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, invalidArgument, parsed, type SetAction, withConfigOption, withFormatOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { readOnlySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('<name>', 'the full name, such as www.example.com', parsed(parseAbsoluteName))
    .argument('[type]', 'the record type', parsed(parseTypeWord), 'A')
    .option('--target <name>', 'only this target')
    .option('--nameserver <address>', "query this name server, not the zone's own (repeatable)", server, [])
    .option('--resolver <address>', "query this resolver, not this machine's (repeatable)", server, [])
    .option('--parent-server <address>', 'ask this name server of the parent zone (repeatable)', server, [])
    .addHelpText('after', HELP)
  setAction(withFormatOption(command, 'trace'), trace)
}

function server(text: string, previous: readonly ServerAddress[]): ServerAddress[] {
  if (!isServerAddress(text)) throw invalidArgument('It must be an address such as 192.0.2.53, 127.0.0.1:5353 or [::1]:5353.')
  return [...previous, parseServerAddress(text)]
}

const HELP = `
Works without a token, a journal or the network: each step says what it lacks.
Exit status: 0: no difference; 2: differences; 1: none found, but a step could not be done.`

/** `zonewright trace NAME [TYPE]` */
async function trace(io: CliIo, [name, type]: readonly [DomainName, string], options: TraceOptions & CommonOptions): Promise<ExitStatus> {
  const setup = readOnlySetup(io, options)
  const traced = await runTrace(setup, name, type)
  setup.output.formatted({ text: (view) => renderTraceText(traced, view), json: () => renderTraceJson(traced) })
  const states = new Set(traced.steps.map(({ state }) => state))
  return states.has('different') ? EXIT.pending : states.has('failed') ? EXIT.failure : EXIT.done
}
