/**
 * The commands in full, from their definitions: the manual page in the man macros of roff (`zonewright __manual`, which the build calls), and
 * `docs/commands.md` (`zonewright __manual markdown`, which a test compares).
 */
import type { Command, Help } from 'commander'
import { VERSION } from '../../base/version.ts'

/** A term and its explanation. */
type Item = readonly [term: string, text: string]

interface CommandText {
  /** Its words after the program's name, such as `record add`. */
  readonly name: string
  readonly usage: string
  readonly description: string
  readonly arguments: readonly Item[]
  /** Without those of all commands. */
  readonly options: readonly Item[]
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
    .replaceAll('\n', ' ')
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
      .map((one) => [one.flags, help.optionDescription(one).replaceAll('\n', ' ')]),
    notes: notes.trim(),
    commands: command.commands.map((one) => textOf(one, help)),
  }
}

const textsOf = (program: Command): CommandText[] => {
  const help = program.createHelp()
  return program.commands.map((one) => textOf(one, help))
}

const commonOptions = (program: Command): Item[] =>
  (program.commands[0]?.options ?? []).filter(({ long }) => COMMON.has(long ?? '')).map((one) => [one.flags, one.description])

/** Text in which roff sees no macro, escape or hyphen. */
const plain = (text: string): string => text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/gm, '\\&$&')

const entry = ([term, text]: Item): string => `.TP\n\\fB${plain(term)}\\fR\n${plain(text)}\n`

/** `program` with all commands in full, and the end of its help. */
export function manualPage(program: Command, notes: string): string {
  const section = (command: CommandText): string =>
    [
      `.SS "${plain(command.usage)}"\n${plain(command.description)}\n`,
      ...command.arguments.map(entry),
      ...command.options.map(entry),
      ...command.commands.map(section),
    ].join('')
  return [
    `.TH ZONEWRIGHT 1 "" "zonewright ${VERSION}"\n.SH NAME\nzonewright \\- ${plain(program.description())}\n`,
    '.SH SYNOPSIS\n\\fBzonewright\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH OPTIONS OF ALL COMMANDS\n',
    ...commonOptions(program).map(entry),
    '.SH COMMANDS\n',
    ...textsOf(program).map(section),
    `.SH NOTES\n${plain(notes.trim()).replaceAll('\n\n', '\n.PP\n')}\n`,
  ].join('')
}

/** A command and those below it; without a group that has nothing of its own. */
const listed = (one: CommandText): CommandText[] => [
  ...(one.arguments.length + one.options.length + one.notes.length > 0 || one.commands.length === 0 ? [one] : []),
  ...one.commands.flatMap(listed),
]

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
const table = (head: string, items: readonly Item[]): string =>
  items.length === 0
    ? ''
    : `| ${head} | meaning |\n| --- | --- |\n${items.map(([term, text]) => `| \`${term.replaceAll('|', '\\|')}\` | ${cell(text)} |\n`).join('')}\n`

/** The page of the documents about all commands of `program`. */
export function commandsPage(program: Command): string {
  const all = textsOf(program)
  const flat = all.flatMap(listed)
  const section = (one: CommandText): string =>
    `## ${one.name}\n\n${sentence(one.description)}\n\n\`\`\`\nzonewright ${one.usage}\n\`\`\`\n\n` +
    `${table('argument', one.arguments)}${table('option', one.options)}${one.notes === '' ? '' : `\`\`\`\n${one.notes}\n\`\`\`\n\n`}`
  return `# Commands

Every command with all options. This page is made of the definitions that \`--help\` shows: \`npm run update-commands-page\` writes it. \`zonewright COMMAND --help\` lists the usual options of a command, \`--help-all\` all of them.

| command | purpose |
| --- | --- |
${flat.map((one) => `| [\`${one.name}\`](#${one.name.replaceAll(' ', '-')}) | ${cell(one.description)} |\n`).join('')}
Reports go to standard output, everything else to standard error. [The exit status](tasks/applying.md#exit-status) is the same for all commands. All commands have these options:

${table('option', commonOptions(program))}${flat.map(section).join('')}`.replace(/\n+$/, '\n')
}
