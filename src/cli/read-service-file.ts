import { resolve } from 'node:path'
import { readText } from '../definitions/read-text.ts'
import type { RegionResolvers, Seed } from '../service/index.ts'
import type { Console } from './console.ts'
import type { CliIo } from './io.ts'

/** The accounts and users of the file; undefined, and said why, where it cannot be used. */
export async function readSeedFile(io: CliIo, console: Console, file: string): Promise<Seed | undefined> {
  const text = await textOf(io, console, file)
  if (text === undefined) return undefined
  const { readSeed } = await import('../service/index.ts')
  const { seed, diagnostics } = readSeed(text, file)
  console.diagnostics(diagnostics, { secret: true })
  return seed ?? undefined
}

/** The resolvers of regions; undefined, and said why, where the file cannot be used. */
export async function readRegionResolversFile(io: CliIo, console: Console, file: string): Promise<RegionResolvers | undefined> {
  const text = await textOf(io, console, file)
  if (text === undefined) return undefined
  const { readRegionResolvers } = await import('../service/index.ts')
  const { resolvers, diagnostics } = readRegionResolvers(text, file)
  console.diagnostics(diagnostics)
  return resolvers ?? undefined
}

async function textOf(io: CliIo, console: Console, file: string): Promise<string | undefined> {
  const text = await readText(resolve(io.cwd, file), file)
  if (text.ok) return text.text
  console.error(text.fault.code, text.fault.message)
  return undefined
}
