/** The commands in full, from their definitions: `zonewright __manual`, of which the build makes the manual page, and a test docs/commands.md. */
import type { Command, Help } from 'commander'
import { VERSION } from '../../base/version.ts'
import { choicesOf } from '../command.ts'

/** A term and its explanation. */
type Item = readonly [term: string, text: string]

interface CommandText {
  /** Its words after the program's name, such as `record add`. */
  readonly name: string
  /** Without the program's name at its beginning; one line for each form. */
  readonly usage: string
  readonly description: string
  readonly arguments: readonly Item[]
  /** Without those of all commands. */
  readonly options: readonly (readonly [...Item, choices: readonly string[]])[]
  /** The end of its help, such as examples; empty if there is none. */
  readonly notes: string
  readonly commands: readonly CommandText[]
}

/** The options that all commands have. */
const COMMON: ReadonlySet<string> = new Set(['--no-color', '--quiet', '--verbose', '--help-all'])

function textOf(command: Command, help: Help): CommandText {
  const usage = help
    .commandUsage(command)
    .replace(/^zonewright /, '')
    .replaceAll(/\n */g, '\n')
  let notes = ''
  const write = (text: string): void => {
    notes += text
  }
  // The types of commander leave out that a command is an emitter.
  ;(command as Command & { emit(event: string, context: object): boolean }).emit('afterHelp', { error: false, command, write })
  return {
    name: usage.replace(/ [[<].*| command$/s, ''),
    usage,
    description: help.commandDescription(command),
    arguments: command.registeredArguments.filter(({ description }) => description).map((one) => [one.name(), one.description]),
    options: command.options
      .filter(({ long }) => !COMMON.has(long ?? ''))
      .map((one) => [one.flags, help.optionDescription(one).replaceAll('\n', ' '), choicesOf(one) ?? []]),
    notes: notes.trim(),
    commands: command.commands.map((one) => textOf(one, help)),
  }
}

export interface ProgramTexts {
  readonly version: string
  readonly description: string
  /** The options of all commands. */
  readonly options: readonly Item[]
  readonly commands: readonly CommandText[]
  /** The end of the help of the program. */
  readonly notes: string
}

/** `program` with all commands in full, and the end of its help. */
export function programTexts(program: Command, notes: string): ProgramTexts {
  const help = program.createHelp()
  return {
    version: VERSION,
    description: program.description(),
    options: (program.commands[0]?.options ?? []).filter(({ long }) => COMMON.has(long ?? '')).map((one) => [one.flags, one.description]),
    commands: program.commands.map((one) => textOf(one, help)),
    notes: notes.trim(),
  }
}
