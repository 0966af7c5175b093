/** Zone files that other programs wrote, imported and exported again. The judges are named-checkzone (BIND), kzonecheck (Knot) and nsd-checkzone. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { filesBelow } from '../cli/scene.ts'
import { folderOf, run } from '../cli/zone-file-folder.ts'
import { describeWithTools } from '../support/skip.ts'
import { runTool } from '../support/tools.ts'

const HEAD = '$TTL 300\n@ SOA ns1.example.net. hostmaster.example.com. 7 7200 3600 1209600 300\n@ NS ns1.example.net.\n'

/** The zone as named-checkzone reads it from a file, in canonical text. */
async function bindZone(zone: string, path: string): Promise<string[]> {
  const { status, stdout, stderr } = await runTool('named-checkzone', ['-q', '-D', '-o', '-', '-i', 'local', zone, path])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter((line) => line !== '')
}

describeWithTools(['named-checkzone'], 'types without a name in BIND', () => {
  /** Types with a form of their own here, and the same records for BIND. */
  const RECORDS: readonly (readonly [string, string])[] = [
    ['IPN 1', 'TYPE264 \\# 8 0000000000000001'],
    ['CLA "a"', 'TYPE263 \\# 2 0161'],
    ['WALLET "BTC" "x"', 'TYPE262 \\# 6 034254430178'],
    ['GID 1', 'TYPE102 \\# 4 00000001'],
    ['GID \\# 3 010203', 'TYPE102 \\# 3 010203'],
    ['UID 1', 'TYPE101 \\# 4 00000001'],
    ['UINFO "a"', 'TYPE100 \\# 2 0161'],
    ['UINFO \\# 2 0561', 'TYPE100 \\# 2 0561'],
    ['AMTRELAY \\# 3 0A0401', 'AMTRELAY \\# 3 0a0401'],
    ['DSYNC CDS NOTIFY 5300 a.', 'TYPE66 \\# 8 003b0114b4016100'],
    ['HHIT AAAA', 'TYPE67 \\# 3 000000'],
    ['BRID AAAA', 'TYPE68 \\# 3 000000'],
    ['RESINFO "qnamemin"', 'TYPE261 \\# 9 08716e616d656d696e'],
  ]

  it('are exported as TYPE### with the same octets', async () => {
    const lines = (side: 0 | 1): string => RECORDS.map((record, i) => `t${i} ${record[side]}\n`).join('')
    const cwd = folderOf({ 'in/example.com.zone': HEAD + lines(0), 'same/example.com.zone': HEAD + lines(1) })
    expect(await run(cwd, 'import', 'zonefile', 'in', '-o', 'zones')).toMatchObject({ status: 0 })
    expect(await run(cwd, 'export', 'zonefile', '-o', 'out', '--serial', '7')).toMatchObject({ status: 0 })
    const exported = readFileSync(join(cwd, 'out/example.com.zone'), 'utf8')
    expect(exported).not.toMatch(/ (?:IPN|CLA|WALLET|GID|UID|UINFO|DSYNC|HHIT|BRID|RESINFO) /)
    expect(await bindZone('example.com', join(cwd, 'out/example.com.zone'))).toEqual(
      await bindZone('example.com', join(cwd, 'same/example.com.zone')),
    )
    expect(await run(cwd, 'import', 'zonefile', 'out', '-o', 'again')).toMatchObject({ status: 0 })
    expect(filesBelow(cwd)['again/example.com.yaml']).toBe(filesBelow(cwd)['zones/example.com.yaml'])
  })
})
