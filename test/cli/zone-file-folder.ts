import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'

/** A folder with these files, by path. */
export const folderOf = folderWith

/** The first records of every zone file here. */
export const SOA = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n@ 3600 NS ns1.example.net.\n'
export const run = (cwd: string, ...args: string[]) => cli(args, { cwd })
