/** What could stand at the end of a command line: `zonewright __complete WORD…`, which the scripts of `completion` call. */
import type { Argument, Command, Option } from 'commander'
import { DIAGNOSTIC_CODES } from '../../base/diagnostic-codes.ts'
import type { Config } from '../../config/config.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { ownProcess } from '../../files/process-identity.ts'
import { findDefinitions } from '../../load/find-definitions.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { readRuns } from '../../stored/journal/read-journal.ts'
import { choicesOf } from '../command.ts'
import type { CliIo } from '../io.ts'
import { SHELLS } from './scripts.ts'

/** A word, and what it means. */
type Candidate = readonly [word: string, meaning: string]

/**
 * Prints one candidate per line, a tab and its meaning. The last of `words` is the one to complete, which may be empty. Prints nothing where only a file can
 * stand: shells then complete paths. Contacts no server and runs no program.
 */
export async function printCandidates(io: CliIo, program: Command, words: readonly string[]): Promise<void> {
  const position = positionOf(program, words)
  const { option, word, prefix } = position
  const found = option === null ? await candidatesOf(io, position) : await valuesOf(io, option.long ?? '', option, position)
  const fitting = found.filter(([one]) => one.startsWith(word))
  io.stdout.write(fitting.map(([one, meaning]) => `${prefix}${one}\t${meaning.split(/[.;:] |\n/)[0]}\n`).join(''))
}

interface Position {
  readonly command: Command
  /** The arguments before the word. */
  readonly values: readonly string[]
  /** The option whose value the word is. */
  readonly option: Option | null
  readonly word: string
  /** What the shell takes for the beginning of the word: `--target=`. */
  readonly prefix: string
  /** The value of `--config`. */
  readonly config: string | undefined
}

function positionOf(program: Command, words: readonly string[]): Position {
  let command = program
  let option: Option | null = null
  let config: string | undefined
  const values: string[] = []
  const find = (name: string): Option | null => command.options.find((one) => one.long === name || one.short === name) ?? null
  // Bash makes a word of each `=`. PowerShell cannot pass an empty word.
  const all = words.map((one) => (one === '""' ? '' : one))
  for (const [i, one] of all.slice(0, -1).entries()) {
    if (one === '=') continue
    if (option !== null) {
      if (option.long === '--config') config = one
      option = null
    } else if (one.startsWith('-')) option = !one.includes('=') && find(one)?.required === true ? find(one) : null
    else {
      const below: Command | undefined = values.length === 0 ? command.commands.find((sub) => sub.name() === one) : undefined
      if (below === undefined) values.push(one)
      else command = below
    }
    if (all[i + 1] === '=') option = find(one)
  }
  const last = all.at(-1) ?? ''
  const [, name = '', value = ''] = /^(--[\w-]+)=(.*)$/s.exec(last) ?? []
  if (name !== '') return { command, values, option: find(name), word: value, prefix: `${name}=`, config }
  return { command, values, option, word: last === '=' ? '' : last, prefix: '', config }
}

async function candidatesOf(io: CliIo, position: Position): Promise<readonly Candidate[]> {
  const { command, values, word } = position
  if (word.startsWith('-')) return command.options.filter(({ long }) => long).map((one) => [one.long ?? '', one.description])
  if (command.commands.length > 0) return values.length > 0 ? [] : command.commands.map((one) => [one.name(), one.summary()])
  const argument = command.registeredArguments[Math.min(values.length, command.registeredArguments.length - 1)]
  if (argument === undefined || (values.length > 0 && values.length >= command.registeredArguments.length && !argument.variadic)) return []
  return valuesOf(io, argument.name(), argument, position)
}

/** The values of an option or argument, which its parser or its name tells. */
async function valuesOf(
  io: CliIo,
  name: string,
  taker: Option | Argument,
  { command, values, config: file }: Position,
): Promise<readonly Candidate[]> {
  const choices = choicesOf(taker)
  if (choices !== null) return name === 'args' && values.length > 0 ? [] : choices.map((one) => [one, ''])
  if (name === 'shell') return SHELLS.map((one) => [one, ''])
  if (name === 'code') return Object.entries(DIAGNOSTIC_CODES)
  if (name === 'type') return [...RDATA_TYPES.keys()].map((type) => [type, ''])
  const isRun = /\brun\b/.test(name)
  const isProvider = /^(?:--target|--from|--to)$/.test(name) || (name === 'name' && command.name() === 'providers')
  const isZone = /^(?!-).*zone/.test(name) || (name === 'name' && values.length === 0)
  if (!isRun && !isProvider && !isZone) return []
  const { config } = await loadRunConfig(io, file, { packages: false, programs: false, offline: true })
  if (config === null) return []
  if (isProvider) return [...config.providers].map(([one, { type }]) => [one, type])
  return [...(isRun ? runsOf(config) : []), ...(isZone ? await zonesOf(config) : [])]
}

/** The latest runs first. */
const runsOf = ({ journal }: Config): Candidate[] =>
  readRuns(journal, ownProcess())
    .runs.map(({ id, begin, state }): Candidate => [id, `${begin.command}, ${state}`])
    .reverse()

/** By the names of files: to read them all would take too long. */
async function zonesOf(config: Config): Promise<Candidate[]> {
  const { definitions } = await findDefinitions(config)
  return definitions.flatMap(({ zoneName, file }): Candidate[] => (zoneName === null ? [] : [[zoneName.replace(/\.$/, ''), file]]))
}
