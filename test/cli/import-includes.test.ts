import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderOf, run, SOA } from './zone-file-folder.ts'

describe('invalid $INCLUDE files', () => {
  const long = 'x'.repeat(5000)
  const fan = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`f${i}`, i < 14 ? `$INCLUDE f${i + 1} a\n`.repeat(10) : '']))
  const chain = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, `$INCLUDE f${i + 1}\n`]))

  it.each([
    ['the file itself', '$INCLUDE example.com.zone', {}, '3:10: error[zonefile-include] example.com.zone includes itself'],
    ['a cycle through a link', '$INCLUDE a', { a: '\n$INCLUDE link\n' }, 'a:2:10: error[zonefile-include] a includes itself'],
    ['a long chain', '$INCLUDE f0', chain, 'f15:1:10: error[zonefile-include] files are included more than 16 deep'],
    ['ten files that include ten files each', '$INCLUDE f0', fan, 'such as more than 1000 files are included'],
    ['a device', '$INCLUDE /dev/zero', {}, '3:10: error[zonefile-include] the path is outside the config folder'],
    ['a link to a device', '$INCLUDE zero', {}, '3:10: error[zonefile-include] the path is outside the config folder'],
    ['a pipe', '$INCLUDE pipe', {}, '3:10: error[zonefile-include] pipe is not a file'],
    ['a folder', '$INCLUDE folder', {}, '3:10: error[zonefile-include] folder is not a file'],
    ['a file of /proc', '$INCLUDE /proc/self/environ', {}, '3:10: error[zonefile-include] the path is outside the config folder'],
    ['the parent folder', '$INCLUDE folder/../../x', { x: '' }, '3:10: error[zonefile-include] '],
    ['cyclic links', '$INCLUDE round', {}, '3:10: error[zonefile-include] round is a symbolic link in a cycle'],
    ['100 MB without a line end', '$INCLUDE huge', {}, '3:10: error[zonefile-include] huge has 100000000 octets; a definition has at most'],
    [
      '10 MB without a line end',
      '$INCLUDE a',
      { a: 'x'.repeat(10_000_000) },
      'a:1:1: error[name-invalid] the domain name is 10000000 characters long',
    ],
    ['an empty name', '$INCLUDE ""', {}, '3:10: error[zonefile-include] the file name is empty'],
    ['an octet 0', '$INCLUDE a\\000b', {}, '3:10: error[zonefile-include] the file name contains a NUL character'],
    ['too long a name', `$INCLUDE ${long}`, {}, '3:10: error[zonefile-include] the path has 5000 characters; at most 4096 are allowed'],
    ['an origin with an empty label', '$INCLUDE a ..', { a: '' }, '3:12: error[name-invalid] $INCLUDE: '],
    ['an origin outside the zone', '$INCLUDE a .', { a: 'x 60 A 192.0.2.1' }, 'outside the zone example.com.'],
    [
      'a parenthesis that another file closes',
      '$INCLUDE a\n)',
      { a: 'x 60 A ( 192.0.2.1\n' },
      'a:1:8: error[zonefile-syntax] the parenthesis is not closed',
    ],
    ['a directive in parentheses', 'x 60 A (\n$INCLUDE a )', { a: '192.0.2.1' }, '4:1: error[value-invalid] x.example.com. A: '],
  ] as [string, string, Record<string, string>, string][])('%s', async (_, directive, files, message) => {
    const cwd = folderOf({ 'example.com.zone': `${SOA}${directive}\n`, ...files })
    mkdirSync(join(cwd, 'folder'))
    symlinkSync('a', join(cwd, 'link'))
    symlinkSync('/dev/zero', join(cwd, 'zero'))
    symlinkSync('round', join(cwd, 'round'))
    execFileSync('mkfifo', [join(cwd, 'pipe')])
    writeFileSync(join(cwd, 'huge'), '')
    truncateSync(join(cwd, 'huge'), 100_000_000)
    for (const command of [['import', 'zonefile'], ['validate']]) {
      const value = await run(cwd, ...command, 'example.com.zone')
      expect(value.status).toBe(1)
      expect(value.stdout + value.stderr).toContain(message)
      expect((value.stdout + value.stderr).length).toBeLessThan(30_000)
    }
  })

  it('a file without read permission', async () => {
    const cwd = folderOf({ 'example.com.zone': `${SOA}$INCLUDE a\n`, a: '' })
    chmodSync(join(cwd, 'a'), 0)
    const { status, stderr } = await run(cwd, 'import', 'zonefile', 'example.com.zone')
    // Root can read every file.
    if (process.getuid?.() === 0) expect(status).toBe(0)
    else expect(stderr).toContain('3:10: error[zonefile-include] a cannot be read: permission denied')
  })

  it('recognises the same file under several paths', async () => {
    const cwd = folderOf({ 'example.com.zone': '', a: 'www 60 A 192.0.2.1\n', 'sub/b': '' })
    symlinkSync('a', join(cwd, 'link'))
    writeFileSync(
      join(cwd, 'example.com.zone'),
      `${SOA}${['a', './a', 'sub/../a', join(cwd, 'a'), 'link', '"a"', '\\097'].map((path) => `$INCLUDE ${path}\n`).join('')}`,
    )
    const { status, stderr } = await run(cwd, 'import', 'zonefile', 'example.com.zone')
    expect(status).toBe(0)
    expect(stderr).toContain('a:1:1: warning[record-duplicate] 5 more records are given twice')
  })
})
