/** The manual page of the program, in the man macros of roff: `zonewright __manual`, which the build calls. */
import type { Command } from 'commander'
import { VERSION } from '../../base/version.ts'

/** Text in which roff sees no macro, escape or hyphen. */
const plain = (text: string): string => text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/gm, '\\&$&')

const entry = (term: string, text: string): string => `.TP\n\\fB${plain(term)}\\fR\n${plain(text)}\n`

/** `program` with all commands in full, and the end of its help. */
export function manualPage(program: Command, notes: string): string {
  const help = program.createHelp()
  const section = (command: Command): string =>
    [
      `.SS "${plain(
        help
          .commandUsage(command)
          .replace(/^zonewright /, '')
          .replaceAll('\n', ' '),
      )}"\n${plain(help.commandDescription(command))}\n`,
      ...command.registeredArguments.filter(({ description }) => description).map((one) => entry(one.name(), one.description)),
      ...command.options.filter(({ long }) => !COMMON.has(long ?? '')).map((one) => entry(one.flags, help.optionDescription(one))),
      ...command.commands.map(section),
    ].join('')
  return [
    `.TH ZONEWRIGHT 1 "" "zonewright ${VERSION}"\n.SH NAME\nzonewright \\- ${plain(program.description())}\n`,
    '.SH SYNOPSIS\n\\fBzonewright\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH OPTIONS OF ALL COMMANDS\n',
    ...(program.commands[0]?.options ?? []).filter(({ long }) => COMMON.has(long ?? '')).map((one) => entry(one.flags, one.description)),
    '.SH COMMANDS\n',
    ...program.commands.map(section),
    `.SH NOTES\n${plain(notes.trim()).replaceAll('\n\n', '\n.PP\n')}\n`,
  ].join('')
}

const COMMON: ReadonlySet<string> = new Set(['--no-color', '--quiet', '--verbose', '--help-all'])
