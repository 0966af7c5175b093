import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** A folder with these files, by path. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

/** The first records of every zone file here. */
export const SOA = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n@ 3600 NS ns1.example.net.\n'

export const run = (cwd: string, ...args: string[]) => cli(args, { cwd })
