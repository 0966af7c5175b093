/** `zonewright zone`: options and output; the edits are in `load/edit/edit-zone.ts`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { oneLine } from '../../base/diagnostic.ts'
import { counted, listed } from '../../base/english.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import type { Config } from '../../config/config.ts'
import type { LoadedZone } from '../../config/configured-zone.ts'
import { type DomainName, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'
import { addZone, type EditedZone, type RenamedZone, removeZone, renameZone } from '../../load/edit/edit-zone.ts'
import { capabilitiesOf } from '../../providers/registry.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, collect, type SetAction, subcommand, withConfigOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import type { CliOutput } from '../output.ts'
import { runEdit } from './record.ts'

interface ZoneCommandOptions extends CommonOptions {
  readonly target?: string
  readonly include?: readonly string[]
  readonly file?: string
  readonly absent?: boolean
  readonly dryRun?: boolean
}

export function configure(command: Command, setAction: SetAction): void {
  command.configureHelp({ subcommandTerm: (action) => action.name() }).addHelpText('after', HELP)
  const define = (name: string, summary: string): Command =>
    withConfigOption(subcommand(command, name, summary))
      .argument('<name>', 'the zone')
      .option('--dry-run', 'write nothing; show the change')
  const add = define('add', 'write a definition for a new zone')
    .option('--target <name>', 'the provider of the zone')
    .option('--include <file>', 'a file with records that it includes (repeatable)', collect, [])
    .option('--file <path>', 'the definition, if several rules of the config could take it')
  const remove = define('remove', 'write "absent: true" into the definition of a zone, so that an apply deletes it')
  const rename = define('rename', 'move the definition of a zone to another name')
    .argument('<new>', 'the new name')
    .option('--absent', 'keep the definition of the previous name with "absent: true", so that an apply deletes that zone')
  for (const one of [remove, rename]) one.option('--target <name>', 'the definition with this target, if the zone has several')
  setAction(add, addOne)
  setAction(remove, removeOne)
  setAction(rename, renameOne)
}

const HELP = `
No server is contacted: an apply makes the change at the providers.

Examples:
  zonewright zone add example.net --target cloud --include mail.yaml
  zonewright zone remove example.net
  zonewright zone rename example.com example.net`

function zoneName(text: string): Result<DomainName> {
  const name = parseAbsoluteName(text)
  return name.ok && name.value === ROOT ? failure('the root is not a zone of yours') : name
}

/** `zonewright zone add NAME` */
const addOne = (io: CliIo, [text]: readonly [string], { file, include = [], ...options }: ZoneCommandOptions): Promise<ExitStatus> =>
  runEdit<EditedZone>(
    io,
    options,
    () => {
      const name = zoneName(text)
      const paths = { file: file === undefined ? null : resolve(io.cwd, file), include: include.map((path) => resolve(io.cwd, path)) }
      return name.ok ? ok((config: Config) => addZone({ name: name.value, target: options.target ?? null, ...paths }, config)) : name
    },
    ({ loaded }, output) => {
      if (loaded === undefined) return
      const { zone, targets } = loaded
      output.note(`${oneLine(zone.at.file)} defines ${zone.name} at ${listed(targets)}, without records. Next:`)
      output.note(`  zonewright record add ${zone.name} @ A ADDRESS`)
      output.note(`  zonewright plan ${zone.name}`)
    },
  )

/** `zonewright zone remove NAME` */
const removeOne = (io: CliIo, [text]: readonly [string], options: ZoneCommandOptions): Promise<ExitStatus> =>
  runEdit<EditedZone>(
    io,
    options,
    () => {
      const name = zoneName(text)
      return name.ok ? ok((config: Config) => removeZone(name.value, options.target ?? null, config)) : name
    },
    ({ loaded }, output, config) => {
      if (loaded !== undefined) tellDeletion(loaded, output, config)
    },
  )

/** Says what an apply deletes, and what it needs. */
function tellDeletion({ zone, targets, policy, allow }: LoadedZone, { note }: CliOutput, config: Config): void {
  for (const target of targets) {
    const { createsZones, deletesZones = createsZones } = capabilitiesOf(config.providers.get(target)) ?? { createsZones: true }
    if (!deletesZones) note(`${target} cannot delete zones: delete ${zone.name} there.`)
    else if (policy !== 'sync') note(`The policy ${policy} keeps ${zone.name} at ${target}.`)
    else
      note(
        `An apply deletes ${zone.name} at ${target} with all its records: ${counted(zone.records.length, 'record')} of the definition, and any others.`,
      )
  }
  note(`"zonewright plan ${zone.name}" shows them. Until then nothing is deleted. To delete:`)
  note(`  zonewright apply ${zone.name}${allow.has('delete-zone') ? '' : ' --allow delete-zone'}`)
}

/** `zonewright zone rename OLD NEW` */
const renameOne = (io: CliIo, [from, to]: readonly [string, string], options: ZoneCommandOptions): Promise<ExitStatus> => {
  const [name, newName] = [zoneName(from), zoneName(to)]
  return runEdit<RenamedZone>(
    io,
    options,
    () => {
      if (!name.ok || !newName.ok) return name.ok ? (newName as Result<never>) : name
      const rename = { name: name.value, newName: newName.value, target: options.target ?? null, absent: options.absent === true }
      return ok((config: Config) => renameZone(rename, config))
    },
    ({ loaded, pointing = [] }, { note, print }) => {
      if (loaded === undefined || !name.ok) return
      const { zone, targets } = loaded
      if (pointing.length > 0) {
        print(`These records still point to names of ${name.value}, and were not changed:\n`)
        for (const one of pointing) print(`  ${oneLine(one)}\n`)
      }
      note(`${zone.name} is a new zone: "zonewright apply ${zone.name}" creates it at ${listed(targets)}.`)
      note(
        `Then delegate ${zone.name} at its registrar to the name servers that the provider gives it, with new DS records if it is signed.`,
      )
      note(
        options.absent === true
          ? `An apply deletes ${name.value} after --allow delete-zone: let its clients move first, and wait until caches have forgotten it.`
          : `${name.value} stays at ${listed(targets)} as it is, without a definition (a config with "delete_removed: true" deletes it, after --allow delete-zone).`,
      )
    },
  )
}
