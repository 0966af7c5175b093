/** The options that select zones, and the lists of zones that they read. */
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { describeReadError } from '../files/read-text.ts'
import { MAX_SHARDS } from '../plan/shards.ts'
import type { SelectionOptions } from '../run/context/run-context.ts'
import { invalidArgument } from './command.ts'
import type { CliIo } from './io.ts'
import type { CliOutput } from './output.ts'

/** Options that name lists of zones. */
export interface ZoneListOptions {
  readonly since?: string
  readonly zonesFrom?: string
  readonly stdin?: boolean
}

/** Adds the options that select zones. */
export const withZoneLists = (command: Command): Command =>
  command
    .option('--since <revision>', 'only zones that changed since this git revision')
    .option('--zones-from <file>', 'zones, globs or paths from a file, one per line; none selects nothing')
    .option('--stdin', 'the same from standard input')

/** Adds the options of commands that work on the zones of a config in several jobs. */
export const withShards = (command: Command): Command =>
  withZoneLists(command).option('--shard <i/n>', 'only the i-th of n parts with about as many records each', shard)

/** Adds all options that select zones. */
export const withSelection = (command: Command): Command =>
  withShards(command).option('--keep-going', 'leave out zones with errors instead of ending; the exit status is 1')

/** `I/N`: the number of a shard, from 1, and the number of shards. */
function shard(value: string): SelectionOptions['shard'] {
  const [, index = '', count = ''] = /^([1-9][0-9]{0,2})\/([1-9][0-9]{0,2})$/.exec(value) ?? []
  if (index === '' || Number(index) > Number(count) || Number(count) > MAX_SHARDS)
    throw invalidArgument(`It must be I/N, such as 1/4, with N up to ${MAX_SHARDS}.`)
  return { index: Number(index), count: Number(count) }
}

/** Maximum octets and lines of a list of zones. */
const MAX_LIST_OCTETS = 16 * 1024 * 1024
const MAX_LIST_LINES = 50_000

export interface Selection {
  /** The arguments and the lines of the lists. */
  readonly zones: string[]
  /** Whether a list was given and nothing else names a zone. */
  readonly isEmptyList: boolean
}

/** The zones that the arguments and lists name. Reports a list that cannot be read, and returns null. */
export async function readSelection(
  io: CliIo,
  args: readonly string[],
  { zonesFrom, stdin = false }: ZoneListOptions,
  output: Pick<CliOutput, 'error'>,
): Promise<Selection | null> {
  const zones = [...args]
  const sources: [name: string, stream: () => AsyncIterable<unknown>][] = []
  if (zonesFrom !== undefined) sources.push([zonesFrom, () => createReadStream(resolve(io.cwd, zonesFrom))])
  if (stdin) sources.push(['standard input', () => io.stdin])
  for (const [name, stream] of sources) {
    try {
      const text = await textOf(stream())
      if (text === null) {
        output.error('file-unreadable', `${name} is not UTF-8 text of at most ${MAX_LIST_OCTETS} octets`)
        return null
      }
      const lines = text.split(/\r?\n/).map((line) => line.trim())
      const named = lines.filter((line) => line !== '' && !line.startsWith('#'))
      if (named.length > MAX_LIST_LINES) {
        output.error('file-too-large', `${name}: a list of zones has at most ${MAX_LIST_LINES} lines`)
        return null
      }
      zones.push(...named)
    } catch (error) {
      output.error('file-unreadable', `${name} ${describeReadError(error)}`)
      return null
    }
  }
  return { zones, isEmptyList: sources.length > 0 && zones.length === 0 }
}

/** The text of a stream; null if it is too large or not UTF-8. */
async function textOf(stream: AsyncIterable<unknown>): Promise<string | null> {
  const chunks: Buffer[] = []
  let octets = 0
  for await (const chunk of stream) {
    const part = Buffer.from(chunk as Uint8Array)
    octets += part.length
    if (octets > MAX_LIST_OCTETS) return null
    chunks.push(part)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    return null
  }
}
