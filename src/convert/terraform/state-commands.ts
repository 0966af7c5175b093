/** The commands that take resources out of a state of Terraform or OpenTofu. */

/** A word for a POSIX shell (POSIX.1-2024, section 2.2.2). */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** Addresses in one command. */
const MOST = 50

/** `state rm` forgets resources and changes nothing at a provider. */
export function removalCommands(program: string, addresses: readonly string[]): string[] {
  const commands: string[] = []
  for (let at = 0; at < addresses.length; at += MOST)
    commands.push([`${program} state rm`, ...addresses.slice(at, at + MOST).map(shellWord)].join(' '))
  return commands
}

/** The address of the configuration: without the keys of instances. */
export const withoutKeys = (address: string): string => address.replace(/\[(?:"(?:[^"\\]|\\.)*"|[0-9]+)\]/g, '')
