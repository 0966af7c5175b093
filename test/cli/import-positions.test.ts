/** Positions of the diagnostics of an import: in the source if nothing is written, else in the written file. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderOf, run, SOA } from './zone-file-folder.ts'

/** The positions of the diagnostics, with related positions in parentheses. */
const places = (stderr: string): string[] => stderr.match(/[^\s(]+\.(?:zone|yaml|json|inc):\d+:\d+/g) ?? []

it('an error has the position of the source record, also in an included file', async () => {
  const cwd = folderOf({
    'dns/example.com.zone': `${SOA}x 60 CNAME www.example.net.\n$INCLUDE more.inc\n`,
    'dns/more.inc': 'x 60 A 192.0.2.1\n@ 60 CAA 0 issue "ca;;="\n',
  })
  const { status, stderr } = await run(cwd, 'import', 'zonefile', 'dns', '-o', 'out')
  const lines = SOA.split('\n').length
  expect([status, places(stderr)]).toEqual([1, [`dns/example.com.zone:${lines}:1`, 'dns/more.inc:1:1', 'dns/more.inc:2:1']])
  expect(existsSync(join(cwd, 'out'))).toBe(false)
})

it('a warning has the position in the written definition', async () => {
  const cwd = folderOf({ 'example.com.zone': `${SOA}x 60 CNAME nowhere\n` })
  const { status, stderr } = await run(cwd, 'import', 'zonefile', 'example.com.zone', '-o', 'my/zones')
  expect([status, places(stderr)]).toEqual([0, [expect.stringMatching(/^my\/zones\/example\.com\.yaml:\d+:\d+$/)]])
  const again = await run(cwd, 'validate', 'my/zones')
  expect(places(again.stdout)).toEqual(places(stderr))
})
