/**
 * The catalogue of mistakes, `mistakes.txt`: what a user writes, and below it, indented, what the program says. To grade it, read nothing else. `vitest run -u`
 * writes the messages anew; the inputs are the lines that are not indented.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'
import { ZONE } from './scene.ts'

const FILE = new URL('mistakes.txt', import.meta.url)
const CONFIG = "providers:\n  files: {type: zonefile, directory: out}\nzones:\n  - {files: 'zones/*', targets: [files]}\n"

/** By the section of the catalogue: the zone, the config and the command of an input. `\n` is a line end. */
const SECTIONS: Readonly<Record<string, (input: string) => readonly [zone: string, config: string, command: string]>> = {
  'the last line of a definition': (line) => [`${ZONE}  ${line}\n`, CONFIG, 'validate'],
  'a definition': (text) => [text.replaceAll('\\n', '\n'), CONFIG, 'validate'],
  'the config': (text) => [ZONE, text.replaceAll('\\n', '\n'), 'validate'],
  'a command': (line) => [ZONE, CONFIG, line],
}

const DIAGNOSTIC = /^(?:(\S+:\d+:\d+): )?(?:error|warning)\[[a-z-]+\] .*$/gm

/** A hint in parentheses, or a cause that says what is needed. */
const REMEDY =
  /\(.+\)$|\bDid you mean |not a file$|\b(?:write|use|remove|move|must be|needs?|instead of|more than|at most|not a (?:whole )?number|hexadecimal|missing$|does not exist|(?:IPv4|IPv6) (?:address|one)|two dots in a row|a space$|such as)\b/im

/** Words that `glossary` of the project keeps from users. */
const FOREIGN = /\b(?:holds?|held|formerl?y?|asked? for|calls?|told|anew|somebody|is of|are of)\b|undefined|\[object|NaN/

test('each mistake has a message with its place, its cause and a remedy', { timeout: 60_000 }, async () => {
  const shown: string[] = []
  let section = ''
  let mistakes = 0
  for (const line of readFileSync(FILE, 'utf8').split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3)
    if (/^(?:#|$)/.test(line)) shown.push(line)
    if (/^(?:#|$| )/.test(line)) continue
    mistakes += 1
    const [zone, config, command] = SECTIONS[section]?.(line) ?? []
    const cwd = folderWith({ 'zones/example.com.yaml': zone ?? '', 'zonewright.yaml': config ?? '', 'out/.keep': '' })
    const { stdout, stderr } = await cli(command?.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? [], { cwd })
    const found = [...`${stdout}${stderr}`.matchAll(DIAGNOSTIC)]
    shown.push(line, ...found.map(([message]) => `    ${message}`))
    const [first] = found
    expect.soft(found.map(([message]) => message).join('\n'), line).toMatch(REMEDY)
    expect.soft(found.map(([message]) => message).join(), line).not.toMatch(FOREIGN)
    // The place of a command's mistake is the word that the message repeats.
    if (section !== 'a command')
      expect.soft(first?.[1] ?? first?.[0], line).toMatch(/^zone(?:s\/example\.com|wright)\.yaml:\d|no-definitions/)
  }
  expect(mistakes).toBeGreaterThanOrEqual(130)
  await expect(shown.join('\n')).toMatchFileSnapshot(FILE.pathname)
})
