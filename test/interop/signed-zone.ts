import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

export const SIGNING = ['dnssec-keygen', 'dnssec-signzone'] as const

/** A text of example.com signed with BIND's own tools: with a key for each list of options, and the options for signing. */
export async function signedZone(text: string, keys: readonly (readonly string[])[], options: readonly string[]): Promise<string> {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'zone'), text)
  for (const [tool, args] of [
    ...keys.map((more) => ['dnssec-keygen', ['-q', '-a', '13', ...more, 'example.com']] as const),
    ['dnssec-signzone', ['-q', '-S', ...options, '-o', 'example.com', 'zone']] as const,
  ]) {
    const { status, stderr } = await runTool(tool, args, { cwd })
    expect({ tool, status, stderr }).toMatchObject({ status: 0 })
  }
  return readFileSync(join(cwd, 'zone.signed'), 'utf8')
}
