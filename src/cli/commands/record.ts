/** `zonewright record`: options and output; the edits are in `load/edit/edit-definition.ts` and `rename-record.ts`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { ok, type Result } from '../../base/result.ts'
import type { Config } from '../../config/config.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { displayPath } from '../../files/file-path.ts'
import { writeEdits } from '../../files/write-files.ts'
import { writeProblems } from '../../files/write-problem.ts'
import { editDefinition, refuseWithoutType } from '../../load/edit/edit-definition.ts'
import { parseNameEdit, parseRecordEdit, type RecordEdit } from '../../load/edit/record-edit.ts'
import { renameRecord } from '../../load/edit/rename-record.ts'
import { textDiff } from '../../report/text-diff.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadConfigOrDefault } from '../../run/load/run-config.ts'
import { type CommonOptions, type SetAction, subcommand, ttl, withConfigOption } from '../command.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'

export interface RecordCommandOptions extends CommonOptions {
  readonly ttl?: Ttl
  /** The file for new values, if it is not the definition itself. */
  readonly file?: string
  /** Whether other zones that include the file may change. */
  readonly allZones?: boolean
  readonly dryRun?: boolean
  /** Selects one of several definitions of the zone. */
  readonly target?: string
}

/** The subcommands with their summaries. */
const ACTIONS = [
  ['add', 'add values to a record'],
  ['set', 'set a record to exactly these values'],
  ['remove', 'remove a record, or some of its values'],
] as const

export function configure(command: Command, setAction: SetAction): void {
  command.addHelpText('after', HELP)
  for (const [action, summary] of ACTIONS)
    setAction(configureEdit(withConfigOption(subcommand(command, action, summary)), action), editRecord(action))
  const rename = withConfigOption(subcommand(command, 'rename', 'give all records at a name another name'))
    .argument('<zone>')
    .argument('<old>', NAME)
    .argument('<new>', 'the new name, which has no records yet')
  setAction(withEditOptions(rename), renameName)
}

const NAME = "relative to the zone, '@' for the apex, absolute with a final dot"

const withEditOptions = (command: Command): Command =>
  command
    .option('--target <name>', 'the definition with this target, if the zone has several')
    .option('--all-zones', 'allow changes of a file that other zones include')
    .option('--dry-run', 'write nothing; show the change')

function configureEdit(command: Command, action: RecordEdit['action']): Command {
  const removes = action === 'remove'
  command
    .argument('<zone>')
    .argument('<name>', NAME)
    .argument(removes ? '[type]' : '<type>')
    .argument(removes ? '[value...]' : '<value...>', removes ? 'default: all' : 'as in a zone file; TXT as its text')
    .option(
      '--file <path>',
      removes
        ? 'only remove values in this file, which the definition includes'
        : 'add new values to this file, which the definition includes',
    )
  withEditOptions(command)
  return removes ? command : command.option('--ttl <ttl>', 'for all records of the name and type, such as 300 or 1h', ttl)
}

const HELP = `
Examples:
  zonewright record add example.com www A 192.0.2.10 --ttl 5m
  zonewright record set example.com @ MX '10 mail' '20 mx.example.net.'
  zonewright record remove example.com old CNAME
  zonewright record rename example.com www web`

type RecordArguments = readonly [zone: string, name: string, type: string | undefined, values: string[]]

/**
 * `zonewright record add|set|remove ZONE NAME TYPE [VALUE…]`: changes one RRset in the files that define it and nothing else in them, and shows
 * the changes on standard output. The result is validated first; if it has an error, the files are not changed.
 */
const editRecord =
  (action: RecordEdit['action']) =>
  (io: CliIo, [zone, name, type, values]: RecordArguments, options: RecordCommandOptions): Promise<ExitStatus> =>
    runEdit(io, options, () => {
      const target = options.target ?? null
      if (type === undefined) {
        const named = parseNameEdit({ zone, name, newName: name })
        return named.ok ? ok((config: Config) => refuseWithoutType(named.value, config, { target })) : named
      }
      const edit = parseRecordEdit(action, { zone, name, type, values, ttl: options.ttl ?? null })
      const file = options.file === undefined ? null : resolve(io.cwd, options.file)
      const editOptions = { file, target, allZones: options.allZones === true }
      return edit.ok ? ok((config: Config) => editDefinition(edit.value, config, editOptions)) : edit
    })

type NameArguments = readonly [zone: string, name: string, newName: string]

/** `zonewright record rename ZONE OLD NEW`: gives all records at a name another name, and changes nothing else. */
const renameName = (io: CliIo, [zone, name, newName]: NameArguments, options: RecordCommandOptions): Promise<ExitStatus> =>
  runEdit(io, options, () => {
    const edit = parseNameEdit({ zone, name, newName })
    return edit.ok
      ? ok((config: Config) => renameRecord(edit.value, config, { target: options.target ?? null, allZones: options.allZones === true }))
      : edit
  })

/** The changes of files that an edit makes; none if the diagnostics contain an error. */
interface Edited {
  readonly changes: Parameters<typeof writeEdits>[0]
  readonly others: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
  readonly isStale?: true
}

/** Makes an edit of the current files, writes it and shows it. `after` prints what follows from it. */
export async function runEdit<Edit extends Edited>(
  io: CliIo,
  options: RecordCommandOptions,
  parse: () => Result<(config: Config) => Promise<Edit>>,
  after: (edited: Edit, output: CliOutput, config: Config) => void = () => undefined,
): Promise<ExitStatus> {
  const output = createOutput(io, options)
  // First, so that no message repeats a secret.
  const { config, diagnostics: inConfig } = await loadConfigOrDefault(io, options.config)
  const edit = parse()
  if (!edit.ok) {
    output.error('usage', edit.message)
    return EXIT.failure
  }
  if (config === null || hasErrors(inConfig)) {
    output.diagnostics(inConfig)
    return EXIT.failure
  }
  const { edited, problems } = await editAndWrite(() => edit.value(config), options.dryRun !== true, io)
  output.diagnostics([...inConfig, ...edited.diagnostics, ...problems])
  if (problems.length > 0) return EXIT.failure
  if (edited.changes.length === 0) {
    if (!hasErrors(edited.diagnostics)) {
      output.note('There is nothing to change.')
      after(edited, output, config)
      return EXIT.done
    }
    output.say('Nothing was changed.')
    return EXIT.failure
  }
  for (const { path, before, after: text } of edited.changes) output.printProse(textDiff(displayPath(path, io.cwd), before, text ?? ''))
  if (edited.others.length > 0) output.note(`Other zones change too: ${edited.others.join(', ')}`)
  after(edited, output, config)
  if (options.dryRun === true) output.note('Nothing was written.')
  return EXIT.done
}

/** Times an edit is repeated because another process changed a file during it. */
const ATTEMPTS = 20

/** Edits the current files and writes them. `problems` say why they could not be written. */
async function editAndWrite<Edit extends Edited>(
  edit: () => Promise<Edit>,
  write: boolean,
  io: CliIo,
): Promise<{ readonly edited: Edit; readonly problems: readonly Diagnostic[] }> {
  for (let attempt = 1; ; attempt += 1) {
    const edited = await edit()
    const isLast = attempt >= ATTEMPTS
    if (edited.isStale && !isLast) continue
    const { changes } = edited
    if (changes.length === 0 || !write) return { edited, problems: [] }
    const outcome = await endedBySignals(() => writeEdits(changes, { command: 'record', now: io.now }))
    const isChanged = outcome.state === 'failed' && (outcome.error as NodeJS.ErrnoException).code === 'ECHANGED'
    if (isChanged && !isLast) continue
    return { edited, problems: writeProblems(outcome, (path) => displayPath(path, io.cwd)) }
  }
}
