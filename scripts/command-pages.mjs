/**
 * The manual page, which the build writes, and `docs/commands.md`, which a test compares: of what `zonewright __manual` prints, the `ProgramTexts` of
 * `src/cli/completion/manual.ts`.
 */

/** Text in which roff sees no macro, escape or hyphen. */
const plain = (text) => text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/gm, '\\&$&')

const entry = ([term, text]) => `.TP\n\\fB${plain(term)}\\fR\n${plain(text)}\n`

/** The manual page of the program in the man macros of roff. */
export function manualPage({ version, description, options, commands, notes }) {
  const section = (command) =>
    [
      `.SS "${plain(command.usage.replaceAll('\nzonewright', ', or'))}"\n${plain(command.description)}\n`,
      ...command.arguments.map(entry),
      ...command.options.map(entry),
      ...command.commands.map(section),
    ].join('')
  return [
    `.TH ZONEWRIGHT 1 "" "zonewright ${version}"\n.SH NAME\nzonewright \\- ${plain(description)}\n`,
    '.SH SYNOPSIS\n\\fBzonewright\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH OPTIONS OF ALL COMMANDS\n',
    ...options.map(entry),
    '.SH COMMANDS\n',
    ...commands.map(section),
    `.SH NOTES\n${plain(notes).replaceAll('\n\n', '\n.PP\n')}\n`,
  ].join('')
}

/** A command and those below it; without a group that has nothing of its own. */
const listed = (one) => [
  ...(one.arguments.length + one.options.length + one.notes.length > 0 || one.commands.length === 0 ? [one] : []),
  ...one.commands.flatMap(listed),
]

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
const table = (head, items) =>
  items.length === 0
    ? ''
    : `| ${head} | meaning |\n| --- | --- |\n${items.map(([term, text]) => `| \`${term.replaceAll('|', '\\|')}\` | ${cell(text)} |\n`).join('')}\n`

/** The page of the documents about all commands. */
export function commandsPage({ options, commands }) {
  const flat = commands.flatMap(listed)
  const section = (one) =>
    `## ${one.name}\n\n${sentence(one.description)}\n\n\`\`\`\nzonewright ${one.usage}\n\`\`\`\n\n` +
    `${table('argument', one.arguments)}${table('option', one.options)}${one.notes === '' ? '' : `\`\`\`\n${one.notes}\n\`\`\`\n\n`}`
  return `# Commands

Every command with all options. This page is generated from the texts of \`--help\` (\`npm run update-commands-page\`). \`zonewright COMMAND --help\` lists the usual options of a command, \`--help-all\` all of them.

| command | purpose |
| --- | --- |
${flat.map((one) => `| [\`${one.name}\`](#${one.name.replaceAll(' ', '-')}) | ${cell(one.description)} |\n`).join('')}
Reports go to standard output, everything else to standard error. [The exit status](tasks/applying.md#exit-status) is the same for all commands. All commands have these options:

${table('option', options)}${flat.map(section).join('')}`.replace(/\n+$/, '\n')
}
