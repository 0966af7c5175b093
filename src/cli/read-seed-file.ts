import { resolve } from 'node:path'
import { readText } from '../definitions/read-text.ts'
import type { Seed } from '../service/index.ts'
import type { Console } from './console.ts'
import type { CliIo } from './io.ts'

/** The accounts and users of the file; undefined, and said why, where it cannot be used. */
export async function readSeedFile(io: CliIo, console: Console, file: string): Promise<Seed | undefined> {
  const text = await readText(resolve(io.cwd, file), file)
  if (!text.ok) {
    console.error(text.fault.code, text.fault.message)
    return undefined
  }
  const { readSeed } = await import('../service/index.ts')
  const { seed, diagnostics } = readSeed(text.text, file)
  console.diagnostics(diagnostics, { secret: true })
  return seed ?? undefined
}
