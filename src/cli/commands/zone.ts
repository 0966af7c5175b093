/** `zonewright zone`: options and output; the edits are in `load/edit/edit-zone.ts`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { oneLine } from '../../base/diagnostic.ts'
import { counted, listed } from '../../base/english.ts'
import { failure, ok } from '../../base/result.ts'
import type { Config } from '../../config/config.ts'
import type { LoadedZone } from '../../config/configured-zone.ts'
import { type DomainName, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'
import { addZone, type EditedZone, removeZone, renameZone } from '../../load/edit/edit-zone.ts'
import { capabilitiesOf } from '../../providers/registry.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, collect, parsed, type SetAction, subcommand, withConfigOption } from '../command.ts'
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
  command.addHelpText('after', HELP)
  const define = (name: string, summary: string): Command =>
    withConfigOption(subcommand(command, name, summary))
      .argument('<name>', 'the zone', zoneName)
      .option('--dry-run', 'write nothing; show the change')
  const add = define('add', 'write a definition for a new zone')
    .option('--target <name>', 'the provider of the zone')
    .option('--include <file>', 'a file with records that it includes (repeatable)', collect, [])
    .option('--file <path>', 'the definition, if several rules of the config could take it')
  const remove = define('remove', 'write "absent: true" into the definition of a zone, so that an apply deletes it')
  const rename = define('rename', 'move the definition of a zone to another name')
    .argument('<new>', 'the new name', zoneName)
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

const zoneName = parsed((text) => {
  const name = parseAbsoluteName(text)
  return name.ok && name.value === ROOT ? failure('the root is not a zone of yours') : name
})

/** Makes an edit and shows it, and says what follows from it. */
const edit = (
  io: CliIo,
  options: ZoneCommandOptions,
  make: (target: string | null, config: Config) => Promise<EditedZone>,
  follow: (loaded: LoadedZone, output: CliOutput, config: Config, edited: EditedZone) => void,
): Promise<ExitStatus> =>
  runEdit<EditedZone>(
    io,
    options,
    () => ok((config) => make(options.target ?? null, config)),
    (edited, output, config) => {
      if (edited.loaded !== undefined) follow(edited.loaded, output, config, edited)
    },
  )

/** `zonewright zone add NAME` */
const addOne = (io: CliIo, [name]: readonly [DomainName], options: ZoneCommandOptions): Promise<ExitStatus> => {
  const { file, include = [] } = options
  const paths = { file: file === undefined ? null : resolve(io.cwd, file), include: include.map((path) => resolve(io.cwd, path)) }
  return edit(
    io,
    options,
    (target, config) => addZone({ name, target, ...paths }, config),
    ({ zone, targets }, { note }, config) => {
      const needsNs = targets.some((target) => {
        const { needsApexNs = false, newZoneNameservers } = capabilitiesOf(config.providers.get(target)) ?? {}
        return needsApexNs || newZoneNameservers?.length === 0
      })
      note(`${oneLine(zone.at.file)} defines ${name} at ${listed(targets)}, without records. Next:`)
      if (needsNs) note(`  zonewright record add ${name} @ NS NAMESERVER`)
      note(`  zonewright record add ${name} @ A ADDRESS`)
      note(`  zonewright plan ${name}`)
    },
  )
}

/** `zonewright zone remove NAME`. Says what an apply deletes, and what it needs. */
const removeOne = (io: CliIo, [name]: readonly [DomainName], options: ZoneCommandOptions): Promise<ExitStatus> =>
  edit(
    io,
    options,
    (target, config) => removeZone(name, target, config),
    ({ zone, targets, policy, allow }, { note }, config) => {
      const all = `all its records: ${counted(zone.records.length, 'record')} of the definition, and any others`
      for (const target of targets) {
        const { createsZones, deletesZones = createsZones } = capabilitiesOf(config.providers.get(target)) ?? { createsZones: true }
        if (!deletesZones) note(`${target} cannot delete zones: delete ${name} there.`)
        else if (policy !== 'sync') note(`The policy ${policy} keeps ${name} at ${target}.`)
        else note(`An apply deletes ${name} at ${target} with ${all}.`)
      }
      note(`"zonewright plan ${name}" shows them. Until then nothing is deleted. To delete:`)
      note(`  zonewright apply ${name}${allow.has('delete-zone') ? '' : ' --allow delete-zone'}`)
    },
  )

/** `zonewright zone rename OLD NEW` */
const renameOne = (io: CliIo, [name, newName]: readonly [DomainName, DomainName], options: ZoneCommandOptions): Promise<ExitStatus> => {
  const { absent = false } = options
  return edit(
    io,
    options,
    (target, config) => renameZone({ name, newName, target, absent }, config),
    ({ targets }, { note, print }, _, { pointing = [], previousTargets = targets }) => {
      if (pointing.length > 0) print(`These records still point to names of ${name}, and were not changed:\n`)
      for (const one of pointing) print(`  ${oneLine(one)}\n`)
      note(`${newName} is a new zone: "zonewright apply ${newName}" creates it at ${listed(targets)}.`)
      note(`Then delegate ${newName} at its registrar to the name servers that the provider gives it, with new DS records if it is signed.`)
      note(
        absent
          ? `An apply deletes ${name} after --allow delete-zone: let its clients move first, and wait until caches have forgotten it.`
          : `${name} stays at ${listed(previousTargets)} as it is, without a definition (a config with "delete_removed: true" deletes it, after --allow delete-zone).`,
      )
    },
  )
}
