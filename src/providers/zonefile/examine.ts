/** The checks of `doctor` for a folder of zone files. Runs no command. */
import { counted, listed } from '../../base/english.ts'
import type { DoctorFinding, ProviderUsage } from '../../dns/doctor-finding.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { findProgram, NO_PROGRAM } from '../../files/find-program.ts'
import { createFindings, MAX_LISTED } from '../examine-zones.ts'
import { isWritableFolder } from '../replace-file.ts'
import type { Publisher } from './publish.ts'
import type { Command, CommandRun } from './run-command.ts'
import type { ListSettings } from './served-lists.ts'
import type { ZoneFolder } from './zone-folder.ts'
import type { ServedZone } from './zone-text.ts'

export interface ExaminedFolder {
  readonly options: {
    readonly provider: string
    readonly directory: string
    readonly shown: string
    readonly check: Command | null
    readonly reload: Command | null
    readonly list: ListSettings | null
    readonly commands: Omit<CommandRun, 'signal'>
  }
  readonly folder: ZoneFolder
  readonly publisher: Publisher
  readonly readZone: (name: DomainName) => Promise<ServedZone | null>
}

export async function examineFolder(
  { options, folder, publisher, readZone }: ExaminedFolder,
  { zones }: ProviderUsage,
): Promise<DoctorFinding[]> {
  const { findings, add, attempt } = createFindings()
  await attempt(
    async () => {
      const files = await folder.list()
      add('ok', 'connection', `${options.shown} has ${counted(files.length, 'zone file')}`)
      if (!isWritableFolder(options.directory))
        add('error', 'connection', `${options.shown} cannot be written`, 'give this user the permission to write into it')
      await examineFiles()
    },
    () => 'connection',
  )
  return findings

  async function examineFiles(): Promise<void> {
    for (const [setting, command] of [
      ['check', options.check],
      ['reload', options.reload],
      ['list.reload', options.list?.reload ?? null],
    ] as const) {
      if (command !== null && findProgram(command[0], options.commands) === null)
        add('error', 'config', `${setting}: the program ${command[0]} ${NO_PROGRAM}`, 'install it, or write its whole path')
    }
    const pending: DomainName[] = []
    for (const name of zones)
      await attempt(
        async () => {
          const zone = await readZone(name)
          if (zone?.readOnly) add('warning', 'zones', `${name} cannot be changed: ${zone.readOnly.reason}`, zone.readOnly.hint)
          if (publisher.isPending(name)) pending.push(name)
        },
        () => 'zones',
      )
    if (pending.length > 0)
      add('warning', 'zones', `servers were not told of the change of ${listed(pending, MAX_LISTED)}`, '"zonewright apply" tries again')
  }
}
